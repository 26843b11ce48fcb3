"""Cases: each planned session with its results, for counts and lists.

For its texts, request a `CaseRecord` of the session from the archive.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.annotator import REFERENCE, Annotator, ModelJudge
from theodolite.domain.answer_rules import labels_of, unresolved_failures
from theodolite.domain.answers import AnswerTable, DialogueLabel, DialogueSummary, UnitFailure
from theodolite.domain.application import PromptedModel
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.identity import digest
from theodolite.domain.persona import PersonaGroup
from theodolite.domain.plan import PlannedSession, Setting
from theodolite.domain.run import Failure, Run
from theodolite.domain.status import Call
from theodolite.domain.study import Study

_AT_ONCE = 200

"""Number of sessions whose records are read together; count."""


@dataclass(frozen=True, slots=True)
class Case:
    """One planned session and its records, without their texts.

    Attributes:
        index: Position in the plan, from 0.
        table: The answers of the run.
    """

    index: int
    table: AnswerTable

    @property
    def setting(self) -> Setting:
        """The planned properties, common to its repeats."""
        return self.table.settings[self.index]

    @property
    def label(self) -> str:
        """The displayed name of the dialogue."""
        return self.table.sessions.label(self.index)

    @property
    def pair_key(self) -> str:
        """Hash of the tester's side and the repeat number."""
        return self.table.sessions.pair_key(self.index)

    @property
    def dialogue(self) -> DialogueSummary | None:
        """The completed dialogue; None if the session failed or is still open."""
        return self.table.dialogues[self.index]

    @property
    def failures(self) -> tuple[UnitFailure, ...]:
        """The failures without a successful later attempt."""
        return unresolved_failures(self.table, self.index)

    def is_assigned(self, annotator: str) -> bool:
        """Return whether an annotator was to label the dialogue."""
        assigned = self.table.assigned.get(annotator)
        return assigned is None or self.index in assigned

    def has_annotation(self, annotator: str) -> bool:
        """Return whether an annotator gave an annotation."""
        return self.table.has_annotation(self.index, annotator)

    def dialogue_label(self, annotator: str, guideline: Guideline, question: str = "") -> DialogueLabel:
        """Return the label of an annotator, or of the reference, on a question.

        Args:
            annotator: Name of the annotator.
            guideline: The guideline.
            question: Name of the question; empty for the question of the first defect rule.
        """
        selected_question = guideline.instrument.question(question) if question else guideline.question
        return labels_of(self.table, annotator, guideline, selected_question)[self.index]

    def failure_of(self, annotators: Iterable[str]) -> UnitFailure | None:
        """Return the failure of the session, or else the first failure of these annotators."""
        names = {"", *annotators}
        return next((failure for failure in self.failures if failure.annotator in names), None)


def cases_of(table: AnswerTable) -> tuple[Case, ...]:
    """Return every planned session, in order of the plan."""
    return tuple(Case(index, table) for index in range(len(table)))


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """One planned session with its results and texts.

    Attributes:
        index: Position in the plan, from 0.
        session: The planned session.
        dialogue: The dialogue; None if the session failed or is still open.
        annotations: Annotator to annotation.
        adjudications: Guideline and question to final label.
        failures: Its failures.
        calls: Calls behind the record, by unit; empty unless requested.
    """

    index: int
    session: PlannedSession
    dialogue: Dialogue | None
    annotations: Mapping[str, Annotation]
    adjudications: Mapping[tuple[str, str], Adjudication]
    failures: tuple[Failure, ...]
    calls: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)


def records_at(evidence: Evidence, places: Collection[int], *, with_calls: bool = False) -> Iterator[CaseRecord]:
    """Yield the records at some positions of the plan, in its order; a few hundred at a time are in memory.

    Args:
        evidence: The evidence of the run.
        places: Positions in the plan, from 0.
        with_calls: Whether to include the calls behind them.
    """
    rest = iter(sorted(places))
    while part := list(islice(rest, _AT_ONCE)):
        yield from _records(evidence, part, with_calls=with_calls)


def _session_of(dialogue: Dialogue | None) -> PlannedSession | None:
    """Return the planned session of a complete dialogue without expanding its tester again."""
    if dialogue is None or dialogue.persona is None:
        return None
    return PlannedSession(
        label=dialogue.label,
        application=dialogue.application,
        scenario=dialogue.scenario,
        tester=dialogue.persona,
        level=dialogue.level,
        held_by=dialogue.held_by,
        pair_key=dialogue.pair_key,
        cluster=dialogue.cluster,
        repeat=dialogue.repeat,
        groups=dialogue.groups,
    )


def _records(evidence: Evidence, places: Sequence[int], *, with_calls: bool) -> Iterator[CaseRecord]:
    archive, sessions = evidence.archive, evidence.sessions
    dialogues = {dialogue.label: dialogue for dialogue in archive.dialogues(places)}
    annotations: dict[str, dict[str, Annotation]] = defaultdict(dict)
    for annotation in archive.annotations(places):
        annotations[annotation.dialogue][annotation.annotator] = annotation
    finals: dict[str, dict[tuple[str, str], Adjudication]] = defaultdict(dict)
    for final in archive.adjudications(places):
        finals[final.dialogue][final.guideline, final.question] = final
    failures: dict[str, list[Failure]] = defaultdict(list)
    for failure in archive.failures(places):
        failures[failure.label].append(failure)
    calls: Mapping[str, tuple[Call, ...]] = {}
    if with_calls:
        annotated = [annotation for group in annotations.values() for annotation in group.values()]
        failed = [failure for group in failures.values() for failure in group]
        calls = archive.calls(tuple(dialogues.values()), annotated, failed)
    for index in places:
        dialogue = dialogues.get(sessions.label(index))
        session = _session_of(dialogue) or sessions[index]
        yield CaseRecord(
            index=index,
            session=session,
            dialogue=dialogue,
            annotations=annotations.get(dialogue.key, {}) if dialogue else {},
            adjudications=finals.get(dialogue.key, {}) if dialogue else {},
            failures=tuple(failures.get(session.label, ())),
            calls=calls,
        )


def title_of(study: Study, annotator: str) -> str:
    """Return the displayed name of an annotator."""
    if annotator == REFERENCE:
        return "final labels"
    return next((known.title or known.name for known in study.annotators if known.name == annotator), annotator)


def rules_of(study: Study) -> tuple[tuple[Guideline, DefectRule], ...]:
    """Return all defect rules with their guidelines, in order of the study file."""
    return tuple((guideline, rule) for guideline in study.guidelines for rule in guideline.defect_rules)


def pseudonyms(evidence: Evidence) -> Mapping[str, str]:
    """Return a number for each human annotator."""
    return person_numbers(evidence.study, evidence.run)


def person_numbers(study: Study, run: Run) -> Mapping[str, str]:
    """Return a number for each person among the annotators of a study."""
    return _numbered(run, (annotator.name for annotator in study.annotators if annotator.by_hand), "P")


def numbered(evidence: Evidence, people: Iterable[str], letter: str) -> Mapping[str, str]:
    """Return a number for each person, in an order that depends on the run's opaque key.

    Args:
        evidence: All records of one run.
        people: Their names; repeated names are allowed.
        letter: Text before the numbers.
    """
    return _numbered(evidence.run, people, letter)


def _numbered(run: Run, people: Iterable[str], letter: str) -> Mapping[str, str]:
    order = sorted(set(people), key=lambda name: digest("pseudonym", run.key, name))
    return {name: f"{letter}{number:03}" for number, name in enumerate(order, 1)}


def scripted_names(evidence: Evidence) -> tuple[str, ...]:
    """Return the scripted endpoints of a run, in order of first appearance.

    Attributes of the study and of dialogues and annotations both count,
    so nothing scripted counts as measured.
    """
    names = list(_declared(evidence.study))
    endpoints, annotators = evidence.answers.stubbed_endpoints, evidence.answers.stubbed_annotators
    judges = {judge.name: _model_of(judge) for judge in evidence.study.annotators}
    names += [*endpoints, *(judges.get(annotator) or annotator for annotator in annotators)]
    return tuple(dict.fromkeys(names))


def _declared(study: Study) -> tuple[str, ...]:
    scripted = {model.name for model in study.models if model.is_scripted}
    used = [app.connection.model for app in study.applications if isinstance(app.connection, PromptedModel)]
    used += [group.model for group in study.personas if _speaks(study, group)]
    used += [scenario.attacker for scenario in study.scenarios]
    used += [judge.labelling.model for judge in study.annotators if isinstance(judge.labelling, ModelJudge)]
    return tuple(name for name in used if name in scripted)


def _speaks(study: Study, group: PersonaGroup) -> bool:
    """Return whether a group's model writes a prompt in any scenario; a single fixed prompt needs no model."""
    met = (scenario for scenario in study.scenarios if not scenario.personas or group.name in scenario.personas)
    return any(not scenario.starter or scenario.turns > 1 for scenario in met)


def _model_of(annotator: Annotator) -> str:
    return annotator.labelling.model if isinstance(annotator.labelling, ModelJudge) else ""
