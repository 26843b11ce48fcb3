"""Evidence: all records of a run, readable for measurement and reporting."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from theodolite.domain.annotating.label_sample import LabelSample
from theodolite.domain.annotation import Adjudication, Annotation, Answer, Control, Outcome
from theodolite.domain.annotator import REFERENCE
from theodolite.domain.answer_rules import pools_of
from theodolite.domain.answers import (
    NO_VALUE,
    OUTCOME_CODES,
    WHOLE_DIALOGUE,
    AnnotationMark,
    AnswerColumns,
    AnswerKey,
    AnswerTable,
    DialogueSummary,
    StrategySummary,
    UnitFailure,
    merge_rows,
    without_suggestions,
)
from theodolite.domain.coding import CodingWork
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.estimate import ValidationReport
from theodolite.domain.event_record import EventRecord
from theodolite.domain.findings.number import SchemaTally
from theodolite.domain.findings.order import RunScores
from theodolite.domain.findings.realism import RoleBreakCheck, SpokenSide
from theodolite.domain.findings.risks import CombinedReview
from theodolite.domain.flow import FILTERED_TEXT
from theodolite.domain.live import LiveDialogueSummary
from theodolite.domain.plan import ListedSessions, PlannedSession, Sessions
from theodolite.domain.run import Failure, Run, Spending, SpendingPart
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.domain.session import Session
from theodolite.domain.status import Call
from theodolite.domain.study import Study
from theodolite.domain.study_parts import StatedCriteria

T = TypeVar("T")


def answer_table(
    sessions: Sessions,
    dialogues: Iterable[Dialogue] = (),
    annotations: Iterable[Annotation] = (),
    adjudications: Iterable[Adjudication] = (),
    failures: Iterable[Failure] = (),
    *,
    pools: Mapping[str, tuple[str, ...]] | None = None,
    assignments: Iterable[tuple[str, str]] = (),
) -> AnswerTable:
    """Return the answer table of records; each kind is read once, in any order.

    Args:
        sessions: The planned sessions.
        dialogues: Completed dialogues, under the labels of the plan.
        annotations: Annotations, latest revisions.
        adjudications: Final labels.
        failures: Failed units, under the labels of the plan.
        pools: Guideline to the people who share its dialogues; see `pools_of`.
        assignments: Annotator and key of a dialogue, for annotators who were assigned only some dialogues.
    """
    builder = AnswerTableBuilder(sessions)
    for dialogue in dialogues:
        builder.add_dialogue(dialogue)
    for annotation in annotations:
        builder.add_annotation(annotation)
    for final in adjudications:
        builder.add_final_label(final)
    for failure in failures:
        builder.add_failure(failure)
    for annotator, key in assignments:
        builder.add_assignment(annotator, key)
    return builder.table(pools)


class AnswerTableBuilder:
    """Builds an answer table in one pass. Dialogues are added before the records about them."""

    def __init__(self, sessions: Sessions) -> None:
        """Start without records."""
        self._sessions = sessions
        n = self._n = len(sessions)  # the factories capture `n` and not `self`, so that the builder is freed at once
        texts = self._texts = list[str]()
        self._codes: dict[str, int] = {}
        self._interned: dict[object, object] = {}
        self._positions: dict[str, int] = {}
        self._dialogues: list[DialogueSummary | None] = [None] * n
        self._answers: dict[AnswerKey, AnswerColumns] = defaultdict(lambda: AnswerColumns(texts=texts))
        self._votes: dict[AnswerKey, AnswerColumns] = defaultdict(lambda: AnswerColumns(texts=texts))
        self._failures: dict[int, tuple[UnitFailure, ...]] = {}
        self._marks: dict[str, bytearray] = defaultdict(lambda: bytearray(n))
        self._support = bytearray(n)
        self._characters = array("L", bytes(array("L").itemsize * n))
        self._unreadable: dict[AnswerKey, tuple[int, str]] = {}
        self._stubbed_endpoints: dict[str, None] = {}
        self._stubbed_annotators: dict[str, None] = {}
        self._model_names: dict[str, dict[str, None]] = defaultdict(dict)
        self._shown_orders: dict[str, dict[int, tuple[str, int]]] = defaultdict(dict)
        self._assigned: dict[str, set[int]] = defaultdict(set)
        self._revisions = 0

    def add_dialogue(self, dialogue: Dialogue, position: int | None = None) -> None:
        """Add a dialogue; dialogues outside this plan are ignored.

        Args:
            dialogue: The dialogue.
            position: Its position in the plan, if known.
        """
        at = self._sessions.find(dialogue.label) if position is None else position
        if at is None:
            return
        self._positions[dialogue.key] = at
        self._dialogues[at] = self._intern(_summary(dialogue))
        self._characters[at] += sum(len(turn.prompt) + len(turn.response) for turn in dialogue.turns)
        self._characters[at] += len(dialogue.persona.text) if dialogue.persona else 0
        self._stubbed_endpoints.update(dict.fromkeys(dialogue.scripted))

    def add_annotation(self, annotation: Annotation) -> None:
        """Add an annotation; annotations of unknown dialogues are ignored."""
        position = self._positions.get(annotation.dialogue)
        if position is None:
            return
        self._revisions += annotation.revision
        name, guideline = annotation.annotator, annotation.guideline
        self._add_rows(self._answers, (name, guideline), position, annotation.answers)
        votes = [answer for vote in annotation.votes for answer in vote.answers]
        self._add_rows(self._votes, (name, guideline), position, votes)
        for answer in annotation.answers:
            self._add_texts(position, annotation, answer)
        self._marks[name][position] = _marks(annotation)
        self._model_names[name].update(dict.fromkeys(annotation.answered_as.splitlines()))
        if annotation.scripted:
            self._stubbed_annotators[name] = None
        if annotation.sitting:
            self._shown_orders[name][position] = self._intern((annotation.shown.text, annotation.sitting))

    def _add_rows(
        self,
        partitions: dict[AnswerKey, AnswerColumns],
        owner: tuple[str, str],
        position: int,
        answers: Iterable[Answer],
    ) -> None:
        """Add the answers of an annotation to their partitions; they replace the preceding rows of the same session."""
        started: set[str] = set()
        for answer in answers:
            columns = partitions[*owner, answer.question]
            if answer.question not in started:
                started.add(answer.question)
                _drop_last(columns, position)
            columns.position.append(position)
            columns.turn.append(WHOLE_DIALOGUE if answer.turn is None else answer.turn)
            columns.replicate.append(answer.replicate)
            columns.outcome.append(OUTCOME_CODES[answer.outcome])
            columns.value.append(self._code(answer.value))

    def _code(self, value: str | None) -> int:
        if value is None:
            return NO_VALUE
        if value not in self._codes:
            self._codes[value] = len(self._texts)
            self._texts.append(value)
        return self._codes[value]

    def _add_texts(self, position: int, annotation: Annotation, answer: Answer) -> None:
        """Count the characters of an answer's texts, and record its evidence."""
        self._support[position] |= 2 * any(quote.verified for quote in answer.evidence) + bool(answer.reasoning)
        quoted = sum(len(quote.text) for quote in answer.evidence)
        self._characters[position] += len(answer.reasoning) + len(answer.raw) + quoted
        if answer.outcome is Outcome.UNPARSEABLE:
            key = (annotation.annotator, annotation.guideline, answer.question)
            if key not in self._unreadable or position < self._unreadable[key][0]:
                self._unreadable[key] = position, answer.raw

    def add_final_label(self, final: Adjudication) -> None:
        """Add a final label; labels of unknown dialogues are ignored."""
        position = self._positions.get(final.dialogue)
        if position is not None:
            answer = Answer(question=final.question, outcome=final.outcome, value=final.value)
            self._add_rows(self._answers, (REFERENCE, final.guideline), position, [answer])

    def add_failure(self, failure: Failure) -> None:
        """Add a failed unit; units outside this plan are ignored."""
        position = self._sessions.find(failure.label)
        if position is not None:
            failed = UnitFailure(party=failure.party, kind=failure.kind, annotator=failure.annotator)
            self._failures[position] = self._intern((*self._failures.get(position, ()), failed))

    def add_assignment(self, annotator: str, dialogue: str) -> None:
        """Add a dialogue, by key, to those assigned to an annotator; unknown dialogues are ignored."""
        position = self._positions.get(dialogue)
        if position is not None:
            self._assigned[annotator].add(position)

    def table(self, pools: Mapping[str, tuple[str, ...]] | None = None) -> AnswerTable:
        """Return the table of all records that were added.

        Args:
            pools: Guideline to the people who share its dialogues; see `pools_of`.
        """
        return AnswerTable(
            sessions=self._sessions,
            settings=[self._sessions.setting(position) for position in range(self._n)],
            dialogues=self._dialogues,
            answers={key: merge_rows(columns) for key, columns in self._answers.items()},
            votes={key: merge_rows(columns) for key, columns in self._votes.items()},
            failures=dict(sorted(self._failures.items())),
            marks=dict(self._marks),
            support=self._support,
            characters=self._characters,
            unreadable_replies={key: raw for key, (_, raw) in self._unreadable.items()},
            stubbed_endpoints=tuple(self._stubbed_endpoints),
            stubbed_annotators=tuple(self._stubbed_annotators),
            model_names={annotator: tuple(names) for annotator, names in self._model_names.items()},
            shown_orders=dict(self._shown_orders),
            pools=dict(pools or {}),
            revisions=self._revisions,
            assigned={annotator: sorted(positions) for annotator, positions in self._assigned.items()},
        )

    def _intern(self, entry: T) -> T:
        """Return one shared object for all equal entries."""
        return self._interned.setdefault(entry, entry)  # type: ignore[return-value]  # the key is of the value's type


def _drop_last(columns: AnswerColumns, position: int) -> None:
    """Remove the last rows of a partition if they concern a session."""
    while columns.position and columns.position[-1] == position:
        for column in (columns.position, columns.turn, columns.replicate, columns.value):
            column.pop()
        columns.outcome.pop()


def _summary(dialogue: Dialogue) -> DialogueSummary:
    return DialogueSummary(
        ending=dialogue.ending,
        turns=len(dialogue.turns),
        filtered=sum(turn.response == FILTERED_TEXT for turn in dialogue.turns),
        withheld=dialogue.withheld,
        strategies=tuple(
            StrategySummary(
                name=strategy.name,
                attempts=len(strategy.attempts),
                refinements=strategy.n_refinements,
                succeeded=strategy.succeeded,
            )
            for strategy in dialogue.strategies
        ),
    )


def _marks(annotation: Annotation) -> AnnotationMark:
    marks = AnnotationMark.PRESENT
    if any(answer.evidence for answer in annotation.answers):
        marks |= AnnotationMark.QUOTING
    if annotation.is_ungrounded:
        marks |= AnnotationMark.UNGROUNDED
    return marks | _CONTROLS.get(annotation.control, AnnotationMark(0))


_CONTROLS = {
    Control.PASSED: AnnotationMark.PASSED,
    Control.FAILED: AnnotationMark.FAILED,
    Control.UNANSWERED: AnnotationMark.UNANSWERED,
}


class Archive(Protocol):
    """The records of a run, in order of the plan: readable repeatedly, and never all in memory.

    Each kind can be read for selected positions of the plan; None means all.
    """

    def dialogues(self, at: Collection[int] | None = None) -> Iterator[Dialogue]:
        """Yield the dialogues under their labels in the current plan."""
        ...

    def annotations(self, at: Collection[int] | None = None) -> Iterator[Annotation]:
        """Yield annotators' answers, latest revisions."""
        ...

    def adjudications(self, at: Collection[int] | None = None) -> Iterator[Adjudication]:
        """Yield the final labels."""
        ...

    def failures(self, at: Collection[int] | None = None) -> Iterator[Failure]:
        """Yield the units without a result."""
        ...

    def calls(
        self, dialogues: Collection[Dialogue], annotations: Collection[Annotation], failures: Collection[Failure] = ()
    ) -> Mapping[str, tuple[Call, ...]]:
        """Return the calls that led to some records, by unit; for a few hundred records at a time.

        Args:
            dialogues: The dialogues by key.
            annotations: Annotations of these dialogues.
            failures: Units without a result.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EventEvidence:
    """Participants' contributions to an event, from the store.

    Attributes:
        dialogues: All dialogues of participants in the study, without texts, in order of start.
        responses: Latest revisions of the responses to questionnaires about the current study, drafts included.
        notes: Notes of red teamers about the current study, as answers to open questions.
        coding: Codings of open answers; None if there is no open answer.
        record: Sessions, guesses, exposure and withdrawals.
        sessions: Sessions of the current study that took place on this server.
        spending: Cost of replies to participants.
    """

    dialogues: tuple[LiveDialogueSummary, ...] = ()
    responses: tuple[QuestionnaireResponse, ...] = ()
    notes: tuple[QuestionnaireResponse, ...] = ()
    coding: CodingWork | None = None
    record: EventRecord = field(default_factory=EventRecord)
    sessions: tuple[Session, ...] = ()
    spending: Spending = field(default_factory=Spending)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The complete evidence of a run.

    Attributes:
        study: The study to measure.
        run: The run.
        sessions: Every planned session; the denominator of all numbers.
        archive: The records, for reading texts.
        answers: All answers in columns, and the outcome of each session; sufficient for all counts.
        samples: Dialogues sampled for labelling by people.
        drawn: Key of each sampled dialogue of this run to its position in the plan.
        validation_reports: Latest validation report of each annotator in its current version, if any.
        spending: Its cost.
        spending_parts: The cost by application, stage and model, without replies to participants.
        role_breaks: Findings of the checks of simulated users during the pass; None without checks.
        spoken: Style of people's and simulated users' texts in the same scenarios, as
            numbers from one pass over the records; None if not computed.
        schemas: Use of answer schemas, for annotators whose requests had one.
        responses: Latest revisions of testers' answers after their sessions; annotators never see them.
        notes: Notes of red teamers during testing, as answers in their own words.
        answered: Position in the plan of each dialogue with such a response, by key.
        reviews: Findings of people who read a session's dialogues and questionnaire together.
        annotator_attributes: Self-described groups: attribute to annotator to group.
        coding: Coding of free-text answers; None if it has not started.
        event: Participants' records other than dialogues and answers: guesses, exposure, withdrawals.
        criteria: Statements on how annotators were recruited, selected and assigned.
        sittings: People's sessions for the current version of the study.
        earlier_scores: Scores of earlier finished runs by application, guideline and annotator; oldest run first.
    """

    study: Study
    run: Run
    sessions: Sessions
    archive: Archive
    answers: AnswerTable
    samples: tuple[LabelSample, ...] = ()
    drawn: Mapping[str, int] = field(default_factory=dict)
    validation_reports: tuple[ValidationReport, ...] = ()
    spending: Spending = field(default_factory=Spending)
    spending_parts: tuple[SpendingPart, ...] = ()
    role_breaks: tuple[RoleBreakCheck, ...] | None = None
    spoken: tuple[SpokenSide, ...] | None = None
    schemas: tuple[SchemaTally, ...] = ()
    responses: tuple[QuestionnaireResponse, ...] = ()
    notes: tuple[QuestionnaireResponse, ...] = ()
    answered: Mapping[str, int] = field(default_factory=dict)
    reviews: tuple[CombinedReview, ...] = ()
    annotator_attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    coding: CodingWork | None = None
    event: EventRecord = field(default_factory=EventRecord)
    criteria: tuple[StatedCriteria, ...] = ()
    sittings: tuple[Session, ...] = ()
    earlier_scores: tuple[RunScores, ...] = ()


def blind_evidence(evidence: Evidence) -> Evidence:
    """Return evidence without labels of people who saw a judge's suggestions; the same evidence if nobody did.

    Agreement, the validation of judges and corrections of their rates use it: labels with suggestions
    follow the judge and cannot show how good it is.
    """
    answers = without_suggestions(evidence.answers, REFERENCE)
    return evidence if answers is evidence.answers else replace(evidence, answers=answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedArchive:
    """Records in lists, as created by tests and scripts.

    Attributes:
        sessions: Every planned session.
        dialogue_list: The dialogues; a planned session has at most one, with the same label.
        annotation_list: Annotators' answers, latest revisions.
        final_list: Final labels.
        failure_list: Units without a result.
        call_lists: The calls of units.
    """

    sessions: Sessions
    dialogue_list: tuple[Dialogue, ...] = ()
    annotation_list: tuple[Annotation, ...] = ()
    final_list: tuple[Adjudication, ...] = ()
    failure_list: tuple[Failure, ...] = ()
    call_lists: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)

    def dialogues(self, at: Collection[int] | None = None) -> Iterator[Dialogue]:
        """Yield the dialogues."""
        return (dialogue for dialogue in self.dialogue_list if at is None or self.sessions.find(dialogue.label) in at)

    def annotations(self, at: Collection[int] | None = None) -> Iterator[Annotation]:
        """Yield annotators' answers."""
        keys = self._keys(at)
        return (annotation for annotation in self.annotation_list if keys is None or annotation.dialogue in keys)

    def adjudications(self, at: Collection[int] | None = None) -> Iterator[Adjudication]:
        """Yield the final labels."""
        keys = self._keys(at)
        return (final for final in self.final_list if keys is None or final.dialogue in keys)

    def failures(self, at: Collection[int] | None = None) -> Iterator[Failure]:
        """Yield the units without a result."""
        return (failure for failure in self.failure_list if at is None or self.sessions.find(failure.label) in at)

    def calls(
        self, dialogues: Collection[Dialogue], annotations: Collection[Annotation], failures: Collection[Failure] = ()
    ) -> Mapping[str, tuple[Call, ...]]:
        """Return the calls that led to some records."""
        keys = {d.key for d in dialogues} | {a.unit for a in annotations} | {f.unit for f in failures}
        return {unit: calls for unit, calls in self.call_lists.items() if unit in keys}

    def _keys(self, at: Collection[int] | None) -> set[str] | None:
        return None if at is None else {dialogue.key for dialogue in self.dialogues(at)}


def listed_evidence(
    study: Study,
    run: Run,
    sessions: Iterable[PlannedSession],
    *,
    dialogues: Iterable[Dialogue] = (),
    annotations: Iterable[Annotation] = (),
    adjudications: Iterable[Adjudication] = (),
    failures: Iterable[Failure] = (),
    spending: Spending | None = None,
    responses: Iterable[QuestionnaireResponse] = (),
    assignments: Iterable[tuple[str, str]] = (),
) -> Evidence:
    """Return evidence from records in memory.

    Args:
        study: The study to measure.
        run: The run.
        sessions: Every planned session, in order of the plan.
        dialogues: The dialogues; a planned session has at most one, with the same label.
        annotations: Annotators' answers, latest revisions.
        adjudications: Final labels.
        failures: Units without a result.
        spending: Its cost; zero if None.
        responses: Testers' answers after their sessions.
        assignments: Annotator and key of a dialogue, for annotators who were assigned only some dialogues.
    """
    listed = ListedSessions(sessions)
    archive = ListedArchive(
        sessions=listed,
        dialogue_list=tuple(dialogues),
        annotation_list=tuple(annotations),
        final_list=tuple(adjudications),
        failure_list=tuple(failures),
    )
    answers = answer_table(
        listed,
        archive.dialogues(),
        archive.annotations(),
        archive.adjudications(),
        archive.failures(),
        pools=pools_of(study),
        assignments=assignments,
    )
    all_responses = tuple(responses)
    keys = {key for response in all_responses for key in response.dialogues}
    positions = {dialogue.key: listed.find(dialogue.label) for dialogue in archive.dialogues() if dialogue.key in keys}
    return Evidence(
        study=study,
        run=run,
        sessions=listed,
        archive=archive,
        answers=answers,
        spending=spending or Spending(),
        responses=all_responses,
        answered={key: position for key, position in positions.items() if position is not None},
    )
