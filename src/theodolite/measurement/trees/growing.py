"""Growing trees: a topology over guidelines and questionnaires, by a crosswalk from questions to dimensions.

Each question is a node of its own at each level of testing, shared by all
dimensions that it tells about; what is done to its answers stands in nodes
below it. Red teaming and field testing take sessions of people alone; what
simulated users and simulated red teamers held are nodes beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.choices import TransformForm
from theodolite.domain.dialogue import HeldBy, Level
from theodolite.domain.errors import InputError
from theodolite.domain.fault import Fault, did_you_mean
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import Instrument, Orientation, Question, QuestionLevel
from theodolite.domain.trees.leaf import TESTER
from theodolite.domain.trees.tree import (
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
from theodolite.measurement.trees.methods import AGGREGATION, MAX, MEAN, MEDIAN, SCALE_NORMALISED_MEDIAN

SIMULATED: Final = "simulated sessions"
"""Name of the node under which everything stands that no person and no script held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """One column of a grown tree: a level of testing and who held the tester's side.

    Attributes:
        name: What nodes call it.
        level: Level of testing.
        held_by: Who held the tester's side; any of these.
        by_people: Whether people held it, so that testers answer questionnaires.
    """

    name: str
    level: Level
    held_by: tuple[HeldBy, ...]
    by_people: bool = False


STATIONS = (
    Station(name="model testing", level=Level.MODEL_TESTING, held_by=(HeldBy.SCRIPT, HeldBy.RECORDED)),
    Station(name="red teaming", level=Level.RED_TEAMING, held_by=(HeldBy.PERSON,), by_people=True),
    Station(name="field testing", level=Level.FIELD_TESTING, held_by=(HeldBy.PERSON,), by_people=True),
)
"""ARIA's three levels of testing; the last two take people only."""

SIMULATED_STATIONS = (
    Station(name="simulated users", level=Level.MODEL_TESTING, held_by=(HeldBy.SIMULATED_USER,)),
    Station(name="simulated red teaming", level=Level.RED_TEAMING, held_by=(HeldBy.SIMULATED_USER,)),
    Station(name="simulated field testing", level=Level.FIELD_TESTING, held_by=(HeldBy.SIMULATED_USER,)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """How a tree is grown.

    Attributes:
        name: What outlines call it.
        range: Range that all answers are moved to.
        perception: Summary of testers' answers to one question, by level of testing.
        testers: Summary of all their questions, likewise.
        has_root: Whether the dimensions stand side by side under one node.
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
class Item:
    """One question, or one defect rule on it, as a measure of risk.

    Attributes:
        name: `guideline.question` or `guideline.rule`.
        source: The question, as `instrument.question`.
        question: The question itself.
        rule: The rule that makes an answer a defect; None where the scale itself is moved.
        by: Whose answers count; everybody's where empty.
        by_testers: Whether testers answer it in a questionnaire.
    """

    name: str
    source: str
    question: Question
    rule: DefectRule | None = None
    by: tuple[str, ...] = ()
    by_testers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Soil:
    """What a tree is grown over.

    Attributes:
        guidelines: Guidelines that annotators answer.
        questionnaires: Questionnaires that testers answer.
        by: Guideline to whose answers count; everybody's where it is not named.
    """

    guidelines: Sequence[Guideline] = ()
    questionnaires: Sequence[Instrument] = ()
    by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def items(self) -> dict[str, Item]:
        """Return everything that a crosswalk may name, by its name."""
        found: dict[str, Item] = {}
        for guideline in self.guidelines:
            by = self.by.get(guideline.name, ())
            for question in guideline.instrument.questions:
                source = f"{guideline.name}.{question.name}"
                if question.scale.is_numeric:
                    found[source] = Item(name=source, source=source, question=question, by=by)
            for rule in guideline.defect_rules:
                question = guideline.instrument.question(rule.question)
                source = f"{guideline.name}.{question.name}"
                name = f"{guideline.name}.{rule.name}"
                item = Item(name=name, source=source, question=question, rule=rule, by=by)
                found[name] = item
                found.setdefault(source, item)
        for instrument in self.questionnaires:
            for question in instrument.questions:
                source = f"{instrument.name}.{question.name}"
                if question.scale.is_numeric:
                    found[source] = Item(name=source, source=source, question=question, by_testers=True)
        return found

    def rules(self, guideline: str) -> tuple[str, ...]:
        """Return the names of the items that stand for a whole guideline: its defect rules."""
        meant = [each for each in self.guidelines if each.name == guideline]
        return tuple(f"{each.name}.{rule.name}" for each in meant for rule in each.defect_rules)


def grown(outline: TreeOutline, soil: Soil) -> TreeDesign:
    """Return the design that an outline becomes over a study's guidelines and questionnaires.

    A dimension's crosswalk names questions (`guideline.question`), defect rules
    (`guideline.rule`) or whole guidelines; what the study does not ask is left
    out, and a dimension of which nothing is left has no data.

    Args:
        outline: Topology and dimensions; each guideline is a dimension where there are none.
        soil: What it is grown over.

    Raises:
        InputError: If there is no such topology, or a question cannot tell which end is the bad one.
    """
    topology = TOPOLOGIES.get(outline.topology)
    if topology is None:
        near = did_you_mean(outline.topology, TOPOLOGIES) or f"; topologies are {', '.join(TOPOLOGIES)}"
        message = f"tree `{outline.name}` has an unknown topology `{outline.topology}`{near}"
        raise InputError(message, faults=[Fault(path=("topology",), message=message)])
    gardener = _Gardener(topology=topology, items=soil.items(), soil=soil)
    dimensions = outline.dimensions or tuple(
        Dimension(node=guideline.name, definition=guideline.definition, crosswalk={guideline.name: 1.0})
        for guideline in soil.guidelines
    )
    nodes = {node.name: node for node in gardener.nodes(outline.name, dimensions)}
    kept = tuple(replace(dimension, crosswalk=gardener.weights(dimension)) for dimension in dimensions)
    return TreeDesign(
        name=outline.name, nodes=tuple(nodes.values()), dimensions=kept, edition=outline.edition, about=outline.about
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gardener:
    topology: Topology
    items: Mapping[str, Item]
    soil: Soil

    def weights(self, dimension: Dimension) -> dict[str, float]:
        """Return the items that tell about a dimension, with their weights."""
        found: dict[str, float] = {}
        for name, weight in dimension.crosswalk.items():
            for item in (name,) if name in self.items else self.soil.rules(name):
                found[item] = weight
        return found

    def nodes(self, tree: str, dimensions: Sequence[Dimension]) -> Iterator[TreeNode]:
        if self.topology.has_root:
            edges = tuple(Edge(child=dimension.node) for dimension in dimensions)
            yield SummaryNode(name=tree, summary=AGGREGATION, edges=edges, beside=(SIMULATED,))
        for dimension in dimensions:
            yield from self._branch(dimension, dimension.node, STATIONS)
        simulated = [f"{dimension.node}, {SIMULATED}" for dimension in dimensions]
        edges = tuple(Edge(child=name) for name in simulated)
        yield SummaryNode(name=SIMULATED, summary=AGGREGATION, edges=edges, title="Simulated sessions, no people")
        for dimension, name in zip(dimensions, simulated, strict=True):
            yield from self._branch(dimension, name, SIMULATED_STATIONS)

    def _branch(self, dimension: Dimension, top: str, stations: Sequence[Station]) -> Iterator[TreeNode]:
        edges = tuple(Edge(child=f"{dimension.node}: {station.name}") for station in stations)
        yield SummaryNode(name=top, summary=MAX, edges=edges)
        for station in stations:
            yield from self._level(dimension, station)

    def _level(self, dimension: Dimension, station: Station) -> Iterator[TreeNode]:
        name = f"{dimension.node}: {station.name}"
        sides = [("labelling", False)] + ([("perception", True)] if station.by_people and self._has_testers() else [])
        yield SummaryNode(name=name, summary=MEAN, edges=tuple(Edge(child=f"{name}, {side}") for side, _ in sides))
        for side, by_testers in sides:
            weights = {n: w for n, w in self.weights(dimension).items() if self.items[n].by_testers is by_testers}
            edges = tuple(Edge(child=f"{item}: {station.name}", weight=weight) for item, weight in weights.items())
            summary = self.topology.testers[station.level] if by_testers else MEAN
            yield SummaryNode(name=f"{name}, {side}", summary=summary, edges=edges)
            for item in weights:
                yield from self._collation(self.items[item], station)

    def _has_testers(self) -> bool:
        return any(item.by_testers for item in self.items.values())

    def _collation(self, item: Item, station: Station) -> Iterator[TreeNode]:
        """Yield the node of one question at one level, and what is done to its answers."""
        name = f"{item.name}: {station.name}"
        chain = list(self._chain(item, name))
        summary = self.topology.perception[station.level] if item.by_testers else MEAN
        yield SummaryNode(name=name, summary=summary, edges=(Edge(child=chain[0].name),), title=_title(item))
        yield from chain
        question = item.question
        yield AnswersNode(
            name=f"{name}, answers",
            question=item.source,
            levels=(station.level.value,),
            held_by=tuple(holder.value for holder in station.held_by),
            by=(TESTER,) if item.by_testers else item.by or tuple(kind.value for kind in AnnotatorKind),
            among=dict(item.rule.among) if item.rule else {},
            range=_range(question),
            labels=() if question.scale.is_numeric else question.scale.categories,
            orientation=_orientation(item),
        )

    def _chain(self, item: Item, name: str) -> Iterator[TransformNode | CollapseNode]:
        """Yield what is done to the answers, from the last step down to the first; turns are collapsed last."""
        steps = tuple(self._steps(item, name))
        if item.question.level is QuestionLevel.TURN:
            summary = MEAN if item.rule is None else MAX
            yield CollapseNode(name=f"{name}, of all turns", of=steps[0].name, summary=summary)
        yield from steps

    def _steps(self, item: Item, name: str) -> Iterator[TransformNode]:
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


def _recoding(item: Item, name: str, answers: str, target: ValueRange) -> TransformNode:
    """Return the node that makes a defect the top of the range and everything else its bottom."""
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


def _range(question: Question) -> ValueRange | None:
    scale = question.scale
    if not scale.is_numeric or scale.lowest is None or scale.highest is None:
        return None
    return ValueRange(lowest=scale.lowest, highest=scale.highest)


def _orientation(item: Item) -> Orientation:
    stated = item.question.scale.orientation
    if item.rule is None and stated is Orientation.UNSTATED:
        message = (
            f"question `{item.source}` is to measure a risk, and nothing says which end of its scale is the bad one;"
            " state its `orientation`, or name a defect rule instead"
        )
        raise InputError(message, faults=[Fault(path=("dimensions",), message=message)])
    return stated


def _title(item: Item) -> str:
    return (item.rule.title if item.rule else "") or item.question.text
