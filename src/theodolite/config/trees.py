"""Trees of a study: built over its guidelines, checked against them, and nodes that no answer can reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from theodolite.config.load_context import SHIPPED, Entry, LoadContext
from theodolite.config.study import StudySpec, TreeSpec
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator, RecordedLabels
from theodolite.domain.application import RecordedFile
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.errors import Diagnostic, InputError, Severity, did_you_mean
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Orientation, Question, ScaleKind
from theodolite.domain.scenario import Scenario
from theodolite.domain.schema import Questionnaire
from theodolite.domain.study import Study
from theodolite.domain.tree import TESTER, AnswersNode, Dimension, TreeDesign, TreeNode, ValueRange
from theodolite.domain.tree_form import design_of, outline_of
from theodolite.measurement.trees.checks import design_faults
from theodolite.measurement.trees.construction import SIMULATED, TreeSources, build_design
from theodolite.measurement.trees.methods import methods_with
from theodolite.testing.design import tester_blocks

FOLDER = "trees"
"""Folder of a study, and of resources, with trees."""


def tree_sources(
    guidelines: Sequence[Guideline],
    questionnaires: Sequence[Questionnaire],
    annotators: Iterable[Annotator],
    scenarios: Sequence[Scenario],
) -> TreeSources:
    """Return the parts of a study from which its trees are constructed.

    Args:
        guidelines: The study's guidelines.
        questionnaires: Questions to its testers.
        annotators: Annotators with the guidelines.
        scenarios: Scenarios, which determine after which levels of testing a questionnaire is asked.
    """
    scenarios_of = {
        item.instrument.name: frozenset(
            level
            for level in Level
            for scenario in scenarios
            if item.name in scenario.questionnaires.get(level.value, ())
        )
        for item in questionnaires
    }
    return TreeSources(
        guidelines=guidelines,
        questionnaires=[questionnaire.instrument for questionnaire in questionnaires],
        by=_by(guidelines, annotators),
        asked_at={name: levels for name, levels in scenarios_of.items() if levels},
    )


def trees_to_domain(entry: Entry[StudySpec], sources: TreeSources, context: LoadContext) -> tuple[TreeDesign, ...]:
    """Return the trees that a study names; errors are added to the diagnostics.

    Args:
        entry: The study file.
        sources: Parts of the study from which trees are constructed.
        context: Context of the load; collects the diagnostics.
    """
    form = entry.spec.tree
    if form is None:
        return ()
    if isinstance(form, TreeSpec):
        written = Entry(name=form.tree or entry.spec.study, spec=form, source=entry.source, path=("tree",))
        entries = [written]
    else:
        names = [form] if isinstance(form, str) else form
        entries = [result for name in names if (result := _found(entry, name, context)) is not None]
    designs = [_design(item, sources, context) for item in entries]
    return tuple(design for design in designs if design is not None)


def _found(entry: Entry[StudySpec], name: str, context: LoadContext) -> Entry[TreeSpec] | None:
    before = len(context.diagnostics.placed)
    result = context.read_spec(FOLDER, name, TreeSpec, "tree")
    if result is None and len(context.diagnostics.placed) == before:
        known = context.names_in(FOLDER, ".yaml")
        near = did_you_mean(name, known) or f"; trees are {', '.join(known)}"
        message = f"there is no tree `{name}` in the study's folder or among the shipped ones{near}"
        context.diagnostics.add(entry.diagnostic("tree", message=message, words=name))
    return result


def _by(guidelines: Sequence[Guideline], annotators: Iterable[Annotator]) -> Mapping[str, tuple[str, ...]]:
    """Return the guidelines that people label in a recorded file; for these, only the people's answers count."""
    recorded = (annotator for annotator in annotators if isinstance(annotator.labelling, RecordedLabels))
    people = {annotator.guideline for annotator in recorded if annotator.kind is AnnotatorKind.PERSON}
    return {guideline.name: (AnnotatorKind.PERSON.value,) for guideline in guidelines if guideline.name in people}


def _design(entry: Entry[TreeSpec], sources: TreeSources, context: LoadContext) -> TreeDesign | None:
    plain = _plain(entry)
    try:
        design = build_design(outline_of(plain), sources) if entry.spec.topology else design_of(plain)
    except InputError as error:
        _complain(entry, error.faults or (Diagnostic(path=(), message=str(error)),), context)
        return None
    _note_left_out(entry, sources, context)
    bound = _bound(entry, design, sources, context)
    diagnostics = design_faults(bound, methods_with(context.resolver.summaries))
    _complain(entry, diagnostics, context)
    return None if diagnostics else bound


def _note_left_out(entry: Entry[TreeSpec], sources: TreeSources, context: LoadContext) -> None:
    """Note the nodes of a custom tree's crosswalk without a question in the study; shipped trees name many."""
    if any(result.where == SHIPPED and result.name == entry.name for result in context.found):
        return
    dimensions = outline_of(_plain(entry)).dimensions if entry.spec.topology else ()
    items = sources.items() | sources.named_answers(dimensions)
    known = [*items, *(guideline.name for guideline in sources.guidelines)]
    for dimension in dimensions:
        for name in dimension.crosswalk:
            if name not in items and not sources.rules(name):
                near = did_you_mean(name, known)
                message = (
                    f"the crosswalk of `{dimension.node}` names `{name}`, of which this study has no scores and no"
                    f" defect rule; it is left out{near}"
                )
                keys = ("dimensions", dimension.node, "crosswalk")
                context.diagnostics.add(entry.diagnostic(*keys, message=message, words=name, severity=Severity.NOTE))


def _plain(entry: Entry[TreeSpec]) -> dict[str, Any]:
    plain = entry.spec.model_dump(mode="json", exclude_unset=True)
    plain["tree"] = entry.spec.tree or entry.name
    if entry.spec.topology:
        plain.pop("nodes", None)
    else:
        plain.pop("topology", None)
    return plain


def _complain(entry: Entry[TreeSpec], diagnostics: Iterable[Diagnostic], context: LoadContext) -> None:
    for diagnostic in diagnostics:
        path = diagnostic.path if not entry.spec.topology else diagnostic.path[:1]
        placed = entry.diagnostic(*path, message=diagnostic.message, words=diagnostic.words, at_key=diagnostic.at_key)
        context.diagnostics.add(placed)


def _bound(entry: Entry[TreeSpec], design: TreeDesign, sources: TreeSources, context: LoadContext) -> TreeDesign:
    """Return a design with the scales of the study's instruments for answers without a stated scale."""
    instruments = [*(guideline.instrument for guideline in sources.guidelines), *sources.questionnaires]
    questions = {
        f"{instrument.name}.{question.name}": question
        for instrument in instruments
        for question in instrument.questions
    }
    nodes: list[TreeNode] = []
    for node in design.nodes:
        if isinstance(node, AnswersNode) and not node.has_scale:
            question = questions.get(node.question)
            if question is None:
                known = did_you_mean(node.question, questions) or f"; questions are {', '.join(questions) or 'none'}"
                message = f"node `{node.name}` is about a question `{node.question}` that the study does not ask{known}"
                context.diagnostics.add(entry.diagnostic("nodes", node.name, "answers", message=message))
            nodes.append(replace(node, free_text=True) if question is None else _scaled(node, question))
        else:
            nodes.append(node)
    return replace(design, nodes=tuple(nodes))


def _scaled(node: AnswersNode, question: Question) -> AnswersNode:
    scale = question.scale
    stated = scale.orientation if node.orientation is Orientation.UNSTATED else node.orientation
    if scale.kind is ScaleKind.TEXT:
        return replace(node, free_text=True)
    if scale.is_numeric and scale.lowest is not None and scale.highest is not None:
        return replace(node, range=ValueRange(lowest=scale.lowest, highest=scale.highest), orientation=stated)
    return replace(node, labels=scale.categories, orientation=stated)


_MOST = 5
"""Number of nodes and dimensions that a note names; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlannedAnswers:
    """The answers that a study plans.

    Attributes:
        settings: Level of testing and tester type of every planned dialogue.
        annotators: Names and kinds of annotators, by annotators' question.
        testers: Levels after which it is answered, by testers' question.
    """

    settings: frozenset[tuple[str, str]]
    annotators: Mapping[str, frozenset[str]] = field(default_factory=dict)
    testers: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def is_asked(self, question: str) -> bool:
        """Return whether a question has any annotator."""
        return bool(self.annotators.get(question) or self.testers.get(question))

    def reaches(self, node: AnswersNode) -> bool:
        """Return whether a planned answer is a leaf of a node."""
        by = set(node.by)
        settings = [
            level
            for level, holder in self.settings
            if (not node.levels or level in node.levels) and (not node.held_by or holder in node.held_by)
        ]
        if node.question in self.testers:
            levels = self.testers[node.question]
            return (not by or TESTER in by) and any(level in levels for level in settings)
        answering = self.annotators.get(node.question, frozenset())
        return bool(settings and (answering & by if by else answering))


def note_unreached(study: Study, entry: Entry[StudySpec], context: LoadContext) -> None:
    """Note the nodes of a study's trees that can never have data."""
    if not study.trees:
        return
    planned = _planned(study)
    for design in study.trees:
        for message in _messages(design, planned):
            diagnostic = entry.diagnostic(
                "tree", message=f"tree `{design.name}`: {message}", severity=Severity.NOTE, at_key=True
            )
            context.diagnostics.add(diagnostic)


def _planned(study: Study) -> _PlannedAnswers:
    people = {plan.level for plan in study.levels if plan.people}
    return _PlannedAnswers(
        settings=frozenset(_settings(study)) | {(level.value, TesterType.PERSON.value) for level in people},
        annotators=_annotators(study),
        testers=_testers(study, frozenset(people)),
    )


def _settings(study: Study) -> Iterator[tuple[str, str]]:
    """Yield level and tester type of the dialogues that a run conducts or reads."""
    recorded = [application for application in study.applications if isinstance(application.connection, RecordedFile)]
    if recorded:
        yield Level.MODEL_TESTING.value, TesterType.RECORDED.value
    if len(recorded) == len(study.applications):
        return
    for block in tester_blocks(study):
        if len(block.testers):
            yield block.level.value, block.held_by.value


def _annotators(study: Study) -> dict[str, frozenset[str]]:
    """Return the annotators of each question of a guideline, by name and kind."""
    schema = study.schema() if study.annotation is not None else None
    by_people = {category.name for category in schema.categories} if schema else set()
    result: dict[str, frozenset[str]] = {}
    for guideline in study.guidelines:
        own = [annotator for annotator in study.annotators if annotator.guideline == guideline.name]
        who = {annotator.name for annotator in own} | {annotator.kind.value for annotator in own}
        who |= {AnnotatorKind.PERSON.value} if guideline.name in by_people else set()
        is_called = any(study.asks(guideline.name, annotator.name) for annotator in study.scenarios)
        for question in guideline.instrument.questions:
            result[f"{guideline.name}.{question.name}"] = frozenset(who if is_called else ())
    return result


def _testers(study: Study, people: frozenset[Level]) -> dict[str, frozenset[str]]:
    """Return for each question of a questionnaire the levels after which testers answer it."""
    return {
        f"{questionnaire.instrument.name}.{question.name}": frozenset(
            level.value
            for level in people
            if any(questionnaire.name in scenario.questionnaires.get(level.value, ()) for scenario in study.scenarios)
        )
        for questionnaire in study.questionnaires
        for question in questionnaire.instrument.questions
    }


def _messages(design: TreeDesign, planned: _PlannedAnswers) -> Iterator[str]:
    """Yield one message per cause: dimensions without answers, questions without annotators, unplanned levels."""
    reached = {node.name for node in design.nodes if isinstance(node, AnswersNode) and planned.reaches(node)}

    def is_dead(name: str) -> bool:
        simulated = f"{name}, {SIMULATED}"
        twin = design.leaves_below(simulated) if simulated in design.by_name else ()
        return not any(leaf in reached for leaf in (*design.leaves_below(name), *twin))

    dead = [dimension for dimension in design.dimensions if is_dead(dimension.node)]
    if dead:
        yield _dimensions_message(design, dead)
    waste = {leaf for dimension in dead for leaf in design.leaves_below(dimension.node)}
    # A tree with a crosswalk uses every questionnaire of the packs; a study with only models has no respondents.
    has_crosswalk = any(dimension.crosswalk for dimension in design.dimensions)
    skips_testers = has_crosswalk and TesterType.PERSON.value not in {holder for _, holder in planned.settings}
    unanswered = [
        node
        for node in design.nodes
        if isinstance(node, AnswersNode)
        and node.name not in waste
        and not planned.is_asked(node.question)
        and not (skips_testers and node.by == (TESTER,))
    ]
    if unanswered:
        yield _questions_message(unanswered, planned)
    yield from _level_messages(design, planned, is_dead)


def _dimensions_message(design: TreeDesign, dead: Sequence[Dimension]) -> str:
    names = _named([item.node for item in dead])
    requested = _named(list(dict.fromkeys(name for item in dead for name in (*item.crosswalk, *item.unasked))))
    some = (
        "the only dimension" if len(design.dimensions) == 1 else f"{len(dead)} of {len(design.dimensions)} dimensions"
    )
    begin = f"no planned answer reaches {some} ({names}), so {'it shows' if len(dead) == 1 else 'they show'} no data"
    if not requested:
        return f"{begin}: name questions of the study in their `crosswalk`"
    return (
        f"{begin}: let judges or annotators answer {requested}, or copy the tree to `trees/` and name questions of the"
        " study in its `crosswalk`"
    )


def _questions_message(nodes: Sequence[AnswersNode], planned: _PlannedAnswers) -> str:
    questions = list(dict.fromkeys(node.question for node in nodes))
    question = [name for name in (*planned.annotators, *planned.testers) if planned.is_asked(name)]
    near = did_you_mean(questions[0], question)
    are = "question" if len(questions) == 1 else "questions"
    return (
        f"nobody answers the {are} {_named(questions)}, so {len(nodes)} of its nodes show no data{near or ''}: let"
        " judges, annotators or testers answer them, or name other questions"
    )


def _level_messages(design: TreeDesign, planned: _PlannedAnswers, is_dead: Callable[[str], bool]) -> Iterator[str]:
    """Yield the levels of testing with people that are not planned."""
    if TesterType.PERSON.value not in {holder for _, holder in planned.settings}:
        return  # a study of models only has a single level
    for level in Level:
        leaves = [
            node.name
            for node in design.nodes
            if isinstance(node, AnswersNode) and node.levels == (level.value,) and not _is_simulated(node)
        ]
        if (
            leaves
            and all(is_dead(name) for name in leaves)
            and level.value not in {item for item, _ in planned.settings}
        ):
            key = level.value.replace(" ", "_")
            fix = (
                "give a scenario `scripts`"
                if level is Level.MODEL_TESTING
                else f"plan `people` for `{key}` under `levels`"
            )
            yield f"nobody holds {level.value}, so {len(leaves)} of its nodes show no data: {fix}"


def _is_simulated(node: AnswersNode) -> bool:
    return node.held_by == (TesterType.SIMULATED_USER.value,)


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOST])
    return shown + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")
