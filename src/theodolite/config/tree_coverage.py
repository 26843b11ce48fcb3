"""Tree coverage: nodes of measurement trees that no planned answer can reach, and what to change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.specs.study import StudySpec
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.application import RecordedFile
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.fault import Severity, did_you_mean
from theodolite.domain.study import Study
from theodolite.domain.trees.leaf import TESTER
from theodolite.domain.trees.tree import AnswersNode, Dimension, TreeDesign
from theodolite.measurement.trees.construction import SIMULATED
from theodolite.testing.cells import tester_blocks

if TYPE_CHECKING:  # loaded by studies that have a tree
    from collections.abc import Callable

_MOST = 5
"""Nodes and dimensions that a note names; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlannedAnswers:
    """Which answers a study plans.

    Attributes:
        settings: Level of testing and who holds the tester's side, of every planned dialogue.
        annotators: Question of annotators to the names and kinds of those who answer it.
        testers: Question of testers to the levels after which it is answered.
    """

    settings: frozenset[tuple[str, str]]
    annotators: Mapping[str, frozenset[str]] = field(default_factory=dict)
    testers: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def is_asked(self, question: str) -> bool:
        """Tell whether anybody answers a question at all."""
        return bool(self.annotators.get(question) or self.testers.get(question))

    def reaches(self, node: AnswersNode) -> bool:
        """Tell whether some planned answer is a leaf of a node."""
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
    """Note the nodes of a study's trees that will have no data, whatever a run brings."""
    if not study.trees:
        return
    planned = _planned(study)
    for design in study.trees:
        for message in _messages(design, planned):
            fault = entry.fault("tree", message=f"tree `{design.name}`: {message}", severity=Severity.NOTE, at_key=True)
            context.diagnostics.add(fault)


def _planned(study: Study) -> _PlannedAnswers:
    people = {plan.level for plan in study.levels if plan.people}
    return _PlannedAnswers(
        settings=frozenset(_settings(study)) | {(level.value, TesterType.PERSON.value) for level in people},
        annotators=_annotators(study),
        testers=_testers(study, frozenset(people)),
    )


def _settings(study: Study) -> Iterator[tuple[str, str]]:
    """Yield level and holder of the dialogues that a run holds or reads."""
    recorded = [one for one in study.applications if isinstance(one.connection, RecordedFile)]
    if recorded:
        yield Level.MODEL_TESTING.value, TesterType.RECORDED.value
    if len(recorded) == len(study.applications):
        return
    for block in tester_blocks(study):
        if len(block.testers):
            yield block.level.value, block.held_by.value


def _annotators(study: Study) -> dict[str, frozenset[str]]:
    """Return for each question of a guideline who answers it, by name and by kind."""
    schema = study.schema() if study.annotation is not None else None
    by_people = {category.name for category in schema.categories} if schema else set()
    found: dict[str, frozenset[str]] = {}
    for guideline in study.guidelines:
        own = [one for one in study.annotators if one.guideline == guideline.name]
        who = {one.name for one in own} | {one.kind.value for one in own}
        who |= {AnnotatorKind.PERSON.value} if guideline.name in by_people else set()
        is_asked = any(study.asks(guideline.name, one.name) for one in study.scenarios)
        for question in guideline.instrument.questions:
            found[f"{guideline.name}.{question.name}"] = frozenset(who if is_asked else ())
    return found


def _testers(study: Study, people: frozenset[Level]) -> dict[str, frozenset[str]]:
    """Return for each question of a questionnaire the levels after which testers answer it."""
    return {
        f"{one.instrument.name}.{question.name}": frozenset(
            level.value
            for level in people
            if any(one.name in scenario.questionnaires.get(level.value, ()) for scenario in study.scenarios)
        )
        for one in study.questionnaires
        for question in one.instrument.questions
    }


def _messages(design: TreeDesign, planned: _PlannedAnswers) -> Iterator[str]:
    """Yield one message a cause: dimensions without answers, questions nobody answers, levels nobody plans."""
    reached = {node.name for node in design.nodes if isinstance(node, AnswersNode) and planned.reaches(node)}

    def is_dead(name: str) -> bool:
        simulated = f"{name}, {SIMULATED}"
        twin = design.leaves_below(simulated) if simulated in design.by_name else ()
        return not any(leaf in reached for leaf in (*design.leaves_below(name), *twin))

    dead = [one for one in design.dimensions if is_dead(one.node)]
    if dead:
        yield _dimensions_message(design, dead)
    waste = {leaf for one in dead for leaf in design.leaves_below(one.node)}
    # A tree with a crosswalk asks every questionnaire of the packs; a study of models alone has nobody to answer them.
    has_crosswalk = any(one.crosswalk for one in design.dimensions)
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
    names = _named([one.node for one in dead])
    wanted = _named(list(dict.fromkeys(name for one in dead for name in (*one.crosswalk, *one.unasked))))
    some = (
        "the only dimension" if len(design.dimensions) == 1 else f"{len(dead)} of {len(design.dimensions)} dimensions"
    )
    begin = f"no planned answer reaches {some} ({names}), so {'it shows' if len(dead) == 1 else 'they show'} no data"
    if not wanted:
        return f"{begin}: name questions of the study in their `crosswalk`"
    return (
        f"{begin}: let judges or annotators answer {wanted}, or copy the tree to `trees/` and name questions of the"
        " study in its `crosswalk`"
    )


def _questions_message(nodes: Sequence[AnswersNode], planned: _PlannedAnswers) -> str:
    questions = list(dict.fromkeys(node.question for node in nodes))
    asked = [name for name in (*planned.annotators, *planned.testers) if planned.is_asked(name)]
    near = did_you_mean(questions[0], asked)
    are = "question" if len(questions) == 1 else "questions"
    return (
        f"nobody answers the {are} {_named(questions)}, so {len(nodes)} of its nodes show no data{near or ''}: let"
        " judges, annotators or testers answer them, or name other questions"
    )


def _level_messages(design: TreeDesign, planned: _PlannedAnswers, is_dead: Callable[[str], bool]) -> Iterator[str]:
    """Yield the levels of testing that people were to hold and nobody plans."""
    if TesterType.PERSON.value not in {holder for _, holder in planned.settings}:
        return  # a study of models alone holds one level, and its author knows it
    for level in Level:
        leaves = [
            node.name
            for node in design.nodes
            if isinstance(node, AnswersNode) and node.levels == (level.value,) and not _is_simulated(node)
        ]
        if leaves and all(is_dead(name) for name in leaves) and level.value not in {one for one, _ in planned.settings}:
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
