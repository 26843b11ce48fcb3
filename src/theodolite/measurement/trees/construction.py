"""Construction of a tree from a study: dimensions, levels, items and their leaves.

Each question is its own node at each level of testing, shared by all
dimensions that it measures; transformations of its answers are in nodes
below it. Red teaming and field testing use only sessions of people; sessions of
simulated users and simulated red teamers are nodes beside them.
If annotators grade the magnitude of a defect, its score is likelihood times
magnitude. Positive impacts are nodes beside the dimensions and are never netted
against the risks (ADR-0050).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.choices import Impact, ImpactSide, Per, TransformForm
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.errors import Diagnostic, InputError, did_you_mean
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import Instrument, Operator, Orientation, Question, QuestionLevel, ScaleKind
from theodolite.domain.tree import (
    TESTER,
    AnswersNode,
    CollapseNode,
    Dimension,
    Edge,
    SummaryNode,
    TransformNode,
    TreeDesign,
    TreeNode,
    TreeOutline,
    ValueRange,
)
from theodolite.measurement.trees.methods import (
    AGGREGATION,
    MAX,
    MEAN,
    MEDIAN,
    PRODUCT,
    SCALE_NORMALISED_MEDIAN,
)

SIMULATED: Final = "simulated sessions"
"""Name of the node above all sessions without a person or a script."""

POSITIVE: Final = "positive impacts"
"""Name of the node of positive impacts, separate from the risks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCondition:
    """One column of a constructed tree: a level of testing and a tester type.

    Attributes:
        name: Name in nodes.
        level: Level of testing.
        held_by: Tester types; any of these.
        by_people: Whether people are the testers, who answer questionnaires.
    """

    name: str
    level: Level
    held_by: tuple[TesterType, ...]
    by_people: bool = False


CONDITIONS = (
    TestCondition(name="model testing", level=Level.MODEL_TESTING, held_by=(TesterType.SCRIPT, TesterType.RECORDED)),
    TestCondition(name="red teaming", level=Level.RED_TEAMING, held_by=(TesterType.PERSON,), by_people=True),
    TestCondition(name="field testing", level=Level.FIELD_TESTING, held_by=(TesterType.PERSON,), by_people=True),
)
"""ARIA's three levels of testing; the last two include only people."""

SIMULATED_CONDITIONS = (
    TestCondition(name="simulated users", level=Level.MODEL_TESTING, held_by=(TesterType.SIMULATED_USER,)),
    TestCondition(name="simulated red teaming", level=Level.RED_TEAMING, held_by=(TesterType.SIMULATED_USER,)),
    TestCondition(name="simulated field testing", level=Level.FIELD_TESTING, held_by=(TesterType.SIMULATED_USER,)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """How a tree is constructed.

    Attributes:
        name: Name in outlines.
        range: Range to which all answers are rescaled.
        perception: Summary of testers' answers to one question, by level of testing.
        testers: Summary of all their questions, by level of testing.
        has_root: Whether one node is above the dimensions.
    """

    name: str
    range: ValueRange
    perception: Mapping[Level, str]
    testers: Mapping[Level, str]
    has_root: bool


TOPOLOGIES: Mapping[str, Topology] = {
    topology.name: topology
    for topology in (
        Topology(
            name="six-levels",
            range=ValueRange(lowest=0, highest=1),
            perception=dict.fromkeys(Level, SCALE_NORMALISED_MEDIAN),
            testers=dict.fromkeys(Level, MEAN),
            has_root=True,
        ),
        Topology(
            name="five-levels",
            range=ValueRange(lowest=0, highest=10),
            perception={**dict.fromkeys(Level, MEAN), Level.FIELD_TESTING: MEDIAN},
            testers={**dict.fromkeys(Level, MEAN), Level.FIELD_TESTING: MEDIAN},
            has_root=False,
        ),
    )
}
"""The topology of ARIA's design document, and that of its pilot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Factor:
    """One factor of a product: answers as numbers from 0.

    Attributes:
        name: Name of its node.
        question: The question of the factor.
        recoded: Answer to number.
        range: Range of these numbers.
    """

    name: str
    question: Question
    recoded: Mapping[str, float]
    range: ValueRange


def build_design(outline: TreeOutline, sources: TreeSources) -> TreeDesign:
    """Return the design that an outline produces over a study's guidelines and questionnaires.

    A dimension's crosswalk names questions (`guideline.question`), defect rules
    (`guideline.rule`) or whole guidelines; entries that the study does not ask are
    omitted, and a dimension without entries has no data.

    Args:
        outline: Topology and dimensions; each guideline is a dimension if there are none.
        sources: Guidelines, questionnaires and levels of the study.

    Raises:
        InputError: If there is no such topology, or a question has no known bad end.
    """
    topology = TOPOLOGIES.get(outline.topology)
    if topology is None:
        near = did_you_mean(outline.topology, TOPOLOGIES) or f"; topologies are {', '.join(TOPOLOGIES)}"
        message = f"tree `{outline.name}` has an unknown topology `{outline.topology}`{near}"
        raise InputError(message, faults=[Diagnostic(path=("topology",), message=message)])
    items = sources.items() | sources.named_answers(outline.dimensions)
    builder = _DesignBuilder(topology=topology, items=items, sources=sources)
    dimensions = outline.dimensions or tuple(
        Dimension(node=guideline.name, definition=guideline.definition, crosswalk={guideline.name: 1.0})
        for guideline in sources.guidelines
    )
    nodes = {node.name: node for node in builder.nodes(outline.name, dimensions)}
    selected = tuple(
        replace(dimension, crosswalk=builder.weights(dimension), unasked=builder.unasked(dimension))
        for dimension in dimensions
    )
    return TreeDesign(
        name=outline.name,
        nodes=tuple(nodes.values()),
        dimensions=selected,
        edition=outline.edition,
        about=outline.about,
        views=outline.views,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _DesignBuilder:
    topology: Topology
    items: Mapping[str, RiskItem]
    sources: TreeSources

    def weights(self, dimension: Dimension) -> dict[str, float]:
        """Return the items of a dimension, with their weights."""
        result: dict[str, float] = {}
        for name, weight in dimension.crosswalk.items():
            for item in (name,) if name in self.items else self.sources.rules(name):
                result[item] = weight
        return result

    def unasked(self, dimension: Dimension) -> tuple[str, ...]:
        """Return the entries of a crosswalk without answers in the study."""
        return tuple(name for name in dimension.crosswalk if name not in self.items and not self.sources.rules(name))

    def nodes(self, tree: str, dimensions: Sequence[Dimension]) -> Iterator[TreeNode]:
        impacts = {one.node: result for one in dimensions if (result := self._impacts(one))}
        if self.topology.has_root:
            edges = tuple(Edge(child=dimension.node) for dimension in dimensions)
            evidence_kinds = (SIMULATED, POSITIVE) if impacts else (SIMULATED,)
            yield SummaryNode(name=tree, summary=AGGREGATION, edges=edges, beside=evidence_kinds)
        for dimension in dimensions:
            yield from self._branch(dimension, dimension.node, CONDITIONS)
        simulated = [f"{dimension.node}, {SIMULATED}" for dimension in dimensions]
        edges = tuple(Edge(child=name) for name in simulated)
        yield SummaryNode(name=SIMULATED, summary=AGGREGATION, edges=edges, title="Simulated sessions, no people")
        for dimension, name in zip(dimensions, simulated, strict=True):
            yield from self._branch(dimension, name, SIMULATED_CONDITIONS)
        if impacts:
            yield from self._positive(impacts)

    def _impacts(self, dimension: Dimension) -> tuple[RiskItem, ...]:
        return self.sources.impacts([self.items[name] for name in self.weights(dimension)])

    def _positive(self, impacts: Mapping[str, Sequence[RiskItem]]) -> Iterator[TreeNode]:
        """Yield the nodes of positive impacts: dimensions, levels of testing, questions."""
        names = {node: f"{node}, {POSITIVE}" for node in impacts}
        edges = tuple(Edge(child=name) for name in names.values())
        title = "Positive impacts, apart from the risks"
        yield SummaryNode(name=POSITIVE, summary=AGGREGATION, edges=edges, title=title)
        for node, items in impacts.items():
            levels = tuple(Edge(child=f"{names[node]}: {condition.name}") for condition in CONDITIONS)
            yield SummaryNode(name=names[node], summary=AGGREGATION, edges=levels)
            for condition, level in zip(CONDITIONS, levels, strict=True):
                edges = tuple(Edge(child=f"{item.name}: {condition.name}") for item in items)
                yield SummaryNode(name=level.child, summary=MEAN, edges=edges, side=ImpactSide.POSITIVE)
                for item in items:
                    yield from self._impact(item, condition)

    def _impact(self, item: RiskItem, condition: TestCondition) -> Iterator[TreeNode]:
        """Yield the share of the given answers that state a positive impact."""
        name = f"{item.name}: {condition.name}"
        answers = self._answers(item, f"{name}, answers", condition)
        coded = _recoding(item, f"{name}, coded", answers.name, self.topology.range)
        coded = replace(coded, orientation=Orientation.LOWER_IS_WORSE)
        title = f"{item.question.text} (positive or both)"
        yield from self._summed(name, item.question, coded, title=title)
        yield answers

    def _branch(self, dimension: Dimension, top: str, conditions: Sequence[TestCondition]) -> Iterator[TreeNode]:
        edges = tuple(Edge(child=f"{dimension.node}: {condition.name}") for condition in conditions)
        yield SummaryNode(name=top, summary=MAX, edges=edges)
        for condition in conditions:
            yield from self._level(dimension, condition)

    def _level(self, dimension: Dimension, condition: TestCondition) -> Iterator[TreeNode]:
        name = f"{dimension.node}: {condition.name}"
        sides = [("labelling", False)] + ([("perception", True)] if condition.by_people and self._has_testers() else [])
        yield SummaryNode(name=name, summary=MEAN, edges=tuple(Edge(child=f"{name}, {side}") for side, _ in sides))
        for side, by_testers in sides:
            weights = {
                n: w
                for n, w in self.weights(dimension).items()
                if self.items[n].by_testers is by_testers and self._is_called(self.items[n], condition)
            }
            edges = tuple(Edge(child=f"{item}: {condition.name}", weight=weight) for item, weight in weights.items())
            summary = self.topology.testers[condition.level] if by_testers else MEAN
            yield SummaryNode(name=f"{name}, {side}", summary=summary, edges=edges)
            for item in weights:
                yield from self._collation(self.items[item], condition)

    def _is_called(self, item: RiskItem, condition: TestCondition) -> bool:
        scenarios = self.sources.asked_at.get(item.source.rpartition(".")[0]) if item.by_testers else None
        return scenarios is None or condition.level in scenarios

    def _has_testers(self) -> bool:
        return any(item.by_testers for item in self.items.values())

    def _collation(self, item: RiskItem, condition: TestCondition) -> Iterator[TreeNode]:
        """Yield the node of one question at one level, and the transformation of its answers."""
        name = f"{item.name}: {condition.name}"
        if item.magnitude is not None or item.opened_by is not None:
            yield from self._multiplied(item, condition)
            return
        chain = list(self._chain(item, name))
        summary = self.topology.perception[condition.level] if item.by_testers else MEAN
        yield SummaryNode(name=name, summary=summary, edges=(Edge(child=chain[0].name),), title=_title(item))
        yield from chain
        yield self._answers(item, f"{name}, answers", condition)

    def _multiplied(self, item: RiskItem, condition: TestCondition) -> Iterator[TreeNode]:
        """Yield an item whose score is a product, e.g. of likelihood and magnitude, with its factors."""
        name, factors = f"{item.name}: {condition.name}", self._factors(item)
        edges = tuple(Edge(child=f"{name}, {factor.name}") for factor in factors)
        yield SummaryNode(name=name, summary=PRODUCT, edges=edges, title=f"{_title(item)}, {item.degree}")
        for factor, edge in zip(factors, edges, strict=True):
            source = f"{item.source.rpartition('.')[0]}.{factor.question.name}"
            below = self._answers(
                replace(item, source=source, question=factor.question), f"{edge.child}, answers", condition
            )
            coded = TransformNode(
                name=f"{edge.child}, coded",
                of=below.name,
                form=TransformForm.RECODE,
                range=factor.range,
                recoded=factor.recoded,
                orientation=Orientation.HIGHER_IS_WORSE,
            )
            yield from self._summed(edge.child, factor.question, coded)
            yield below

    def _factors(self, item: RiskItem) -> tuple[_Factor, ...]:
        """Return the product; only the last factor ranges to the top of the topology's range."""
        top, rule = self.topology.range.highest, item.rule
        if item.magnitude is not None:
            highest = item.magnitude.scale.highest or 1
            grades = {value: float(value) / highest * top for value in item.magnitude.scale.categories}
            far = _Factor(name="magnitude", question=item.magnitude, recoded=grades, range=self.topology.range)
            return (_share("likelihood", item.question, rule, 1), far)
        guideline = next(each for each in self.sources.guidelines if f"{each.name}.{item.question.name}" == item.source)
        if rule is None or item.opened_by is None:
            return ()
        opening = guideline.instrument.question(item.opened_by.question)
        return (_share("likelihood", opening, item.opened_by, 1), _share("share", item.question, rule, top))

    def _summed(self, name: str, question: Question, coded: TransformNode, *, title: str = "") -> Iterator[TreeNode]:
        """Yield the mean over dialogues of coded answers; an annotator's dialogue is as bad as its worst turn."""
        below = coded.name
        if question.level is QuestionLevel.TURN:
            below = f"{name}, of all turns"
            is_bad = coded.orientation is Orientation.HIGHER_IS_WORSE
            per, summary = (Per.ANNOTATOR, MAX) if is_bad else (Per.DIALOGUE, MEAN)
            yield CollapseNode(name=below, of=coded.name, per=per, summary=summary)
        yield SummaryNode(name=name, summary=MEAN, edges=(Edge(child=below),), title=title or question.text)
        yield coded

    def _answers(self, item: RiskItem, name: str, condition: TestCondition) -> AnswersNode:
        question = item.question
        return AnswersNode(
            name=name,
            question=item.source,
            levels=(condition.level.value,),
            held_by=tuple(holder.value for holder in condition.held_by),
            by=(TESTER,) if item.by_testers else item.by or tuple(kind.value for kind in AnnotatorKind),
            among=dict(item.rule.among) if item.rule else {},
            range=_range(question),
            labels=() if question.scale.is_numeric else question.scale.categories,
            orientation=_orientation(item),
        )

    def _chain(self, item: RiskItem, name: str) -> Iterator[TransformNode | CollapseNode]:
        """Yield the transformations of the answers, from the last to the first; turns are collapsed last."""
        steps = tuple(self._steps(item, name))
        if item.question.level is QuestionLevel.TURN:
            per, summary = (Per.DIALOGUE, MEAN) if item.rule is None else (Per.ANNOTATOR, MAX)
            yield CollapseNode(name=f"{name}, of all turns", of=steps[0].name, per=per, summary=summary)
        yield from steps

    def _steps(self, item: RiskItem, name: str) -> Iterator[TransformNode]:
        answers = f"{name}, answers"
        if item.rule is not None:
            yield _recoding(item, f"{name}, coded", answers, self.topology.range)
            return
        below = answers
        steps = []
        if _orientation(item) is Orientation.LOWER_IS_WORSE:
            steps.append(TransformNode(name=f"{name}, reversed", of=below, form=TransformForm.REVERSE))
            below = steps[-1].name
        target = self.topology.range
        if item.by_testers and self.topology.perception[Level.FIELD_TESTING] == SCALE_NORMALISED_MEDIAN:
            scale = _range(item.question)
            target = ValueRange(lowest=0, highest=scale.width) if scale else target
        steps.append(TransformNode(name=f"{name}, scaled", of=below, form=TransformForm.RESCALE, range=target))
        yield from reversed(steps)


def _recoding(item: RiskItem, name: str, answers: str, target: ValueRange) -> TransformNode:
    """Return the node that maps a defect to the top of the range and everything else to its bottom."""
    scale, rule = item.question.scale, item.rule
    broken = {value: rule is not None and rule.is_defect(value, scale) for value in scale.categories}
    recoded = {value: target.highest if is_defect else target.lowest for value, is_defect in broken.items()}
    return TransformNode(
        name=name,
        of=answers,
        form=TransformForm.RECODE,
        range=target,
        recoded=recoded,
        orientation=Orientation.HIGHER_IS_WORSE,
    )


def _share(name: str, question: Question, rule: DefectRule | None, top: float) -> _Factor:
    """Return the factor with the frequency of a rule's answers to a question."""
    scale = question.scale
    recoded = {value: top if rule and rule.is_defect(value, scale) else 0.0 for value in scale.categories}
    return _Factor(name=name, question=question, recoded=recoded, range=ValueRange(lowest=0, highest=top))


def _range(question: Question) -> ValueRange | None:
    scale = question.scale
    if not scale.is_numeric or scale.lowest is None or scale.highest is None:
        return None
    return ValueRange(lowest=scale.lowest, highest=scale.highest)


def _orientation(item: RiskItem) -> Orientation:
    stated = item.question.scale.orientation
    if item.rule is None and stated is Orientation.UNSTATED:
        message = (
            f"question `{item.source}` is to measure a risk, and nothing says which end of its scale is the bad one;"
            " state its `orientation`, or name a defect rule instead"
        )
        raise InputError(message, faults=[Diagnostic(path=("dimensions",), message=message)])
    return stated


def _title(item: RiskItem) -> str:
    return (item.rule.title if item.rule else "") or item.question.text


_GRADES = ("magnitude", "severity")
"""Suffix of a question's name that grades the magnitude of a defect."""

_GOOD = (Impact.POSITIVE.value, Impact.BOTH.value)
"""Answers that state a positive impact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskItem:
    """One question, or one defect rule on it, as a measure of risk.

    Attributes:
        name: `guideline.question` or `guideline.rule`.
        source: The question, as `instrument.question`.
        question: The question itself.
        rule: The rule that makes an answer a defect; None if the scale itself is rescaled.
        by: Annotators whose answers count; all if empty.
        by_testers: Whether testers answer it in a questionnaire.
        magnitude: Follow-up that grades the magnitude of a defect; None if there is none.
        opened_by: Answer that opens the question, if the share of all dialogues counts; None if those
            that were asked count.
    """

    name: str
    source: str
    question: Question
    rule: DefectRule | None = None
    magnitude: Question | None = None
    opened_by: DefectRule | None = None
    by: tuple[str, ...] = ()
    by_testers: bool = False

    @property
    def degree(self) -> str:
        """Components of the score in addition to frequency, as text."""
        return "by magnitude" if self.magnitude is not None else "of all dialogues"


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSources:
    """The parts of a study from which a tree is constructed.

    Attributes:
        guidelines: Guidelines that annotators answer.
        questionnaires: Questionnaires that testers answer.
        by: Guideline to annotators whose answers count; all if it is not named.
        asked_at: Questionnaire to the levels of testing after which it is answered; all where it is not named.
    """

    guidelines: Sequence[Guideline] = ()
    questionnaires: Sequence[Instrument] = ()
    by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    asked_at: Mapping[str, frozenset[Level]] = field(default_factory=dict)

    def items(self) -> dict[str, RiskItem]:
        """Return all items that a crosswalk may name, by name."""
        result: dict[str, RiskItem] = {}
        for guideline in self.guidelines:
            by = self.by.get(guideline.name, ())
            for question in guideline.instrument.questions:
                source = f"{guideline.name}.{question.name}"
                if question.scale.is_numeric:
                    result[source] = RiskItem(name=source, source=source, question=question, by=by)
            for rule in guideline.defect_rules:
                question = guideline.instrument.question(rule.question)
                source = f"{guideline.name}.{question.name}"
                name = f"{guideline.name}.{rule.name}"
                magnitude = magnitude_question(guideline, rule)
                item = RiskItem(name=name, source=source, question=question, rule=rule, by=by, magnitude=magnitude)
                result[name] = item
                result.setdefault(source, item)
        for instrument in self.questionnaires:
            for question in instrument.questions:
                source = f"{instrument.name}.{question.name}"
                if question.scale.is_numeric:
                    result[source] = RiskItem(name=source, source=source, question=question, by_testers=True)
        return result

    def named_answers(self, dimensions: Sequence[Dimension]) -> dict[str, RiskItem]:
        """Return the items of crosswalk entries that name an answer: `guideline.question == value`.

        If an earlier answer opens the question, the item is the share of all dialogues, not of those that
        were asked. Entries that match no question of a guideline are omitted.
        """
        questions = {
            f"{guideline.name}.{question.name}": (guideline, question)
            for guideline in self.guidelines
            for question in guideline.instrument.questions
        }
        result: dict[str, RiskItem] = {}
        for name in dict.fromkeys(name for dimension in dimensions for name in dimension.crosswalk):
            source, _, value = (part.strip() for part in name.partition("=="))
            if value and source in questions and value in questions[source][1].scale.categories:
                guideline, question = questions[source]
                result[name] = RiskItem(
                    name=name,
                    source=source,
                    question=question,
                    rule=_equals(question.name, value),
                    by=self.by.get(guideline.name, ()),
                    opened_by=_opening(question),
                )
        return result

    def impacts(self, items: Sequence[RiskItem]) -> tuple[RiskItem, ...]:
        """Return the follow-ups of some items that ask whether the effect was good or bad for people."""
        sources = {item.source for item in items}
        return tuple(
            RiskItem(
                name=f"{guideline.name}.{question.name}, positive",
                source=f"{guideline.name}.{question.name}",
                question=question,
                rule=_equals(question.name, *_GOOD),
                by=self.by.get(guideline.name, ()),
            )
            for guideline in self.guidelines
            for question in guideline.instrument.questions
            if question.when is not None
            and f"{guideline.name}.{question.when.question}" in sources
            and set(question.scale.categories) == {impact.value for impact in Impact}
        )

    def rules(self, guideline: str) -> tuple[str, ...]:
        """Return the names of the items for a whole guideline: its defect rules."""
        meant = [each for each in self.guidelines if each.name == guideline]
        return tuple(f"{each.name}.{rule.name}" for each in meant for rule in each.defect_rules)


def _equals(question: str, *values: str) -> DefectRule:
    return DefectRule(name="answer", question=question, operator=Operator.ONE_OF, values=values)


def _opening(question: Question) -> DefectRule | None:
    when = question.when
    if when is None:
        return None
    return DefectRule(name="opening", question=when.question, operator=when.operator, values=when.values)


def magnitude_question(guideline: Guideline, rule: DefectRule) -> Question | None:
    """Return the follow-up that grades the magnitude of a defect: asked for each defect, higher is worse."""
    scale = guideline.instrument.question(rule.question).scale
    broken = [value for value in scale.categories if rule.is_defect(value, scale)]
    for question in guideline.instrument.questions:
        if (
            question.when is not None
            and question.when.question == rule.question
            and question.name.endswith(_GRADES)
            and question.scale.kind is ScaleKind.NUMBERS
            and question.scale.orientation is Orientation.HIGHER_IS_WORSE
            and (question.scale.lowest or 0) >= 0
            and all(question.when.holds(value, scale) for value in broken)
        ):
            return question
    return None
