"""Evidence: everything that a run holds, readable for measurement and reporting."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from theodolite.domain.annotating.label_sample import LabelSample
from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.answer_rules import pools_of
from theodolite.domain.answer_table_builder import answer_table
from theodolite.domain.answers import AnswerTable
from theodolite.domain.call import Call
from theodolite.domain.codings.coded import CodingWork
from theodolite.domain.criteria import StatedCriteria
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.failure import Failure
from theodolite.domain.findings.order_metrics import RunScores
from theodolite.domain.findings.realism import SpokenSide
from theodolite.domain.findings.risks import CombinedReview
from theodolite.domain.findings.role_break import RoleBreakCheck
from theodolite.domain.findings.schema_tally import SchemaTally
from theodolite.domain.live import LiveDialogueSummary
from theodolite.domain.people.event_record import EventRecord
from theodolite.domain.people.session import Session
from theodolite.domain.plan import ListedSessions, PlannedSession, Sessions
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.domain.run import Run, Spending
from theodolite.domain.study import Study
from theodolite.domain.validation_report import ValidationReport


class Archive(Protocol):
    """The records of one run, in order of the plan: read as often as wanted, and never all in memory.

    Everything can be read for some positions of the plan alone; None means all.
    """

    def dialogues(self, at: Collection[int] | None = None) -> Iterator[Dialogue]:
        """Yield what was said, under the labels that the present plan gives."""
        ...

    def annotations(self, at: Collection[int] | None = None) -> Iterator[Annotation]:
        """Yield what annotators answered, latest revisions."""
        ...

    def adjudications(self, at: Collection[int] | None = None) -> Iterator[Adjudication]:
        """Yield the final labels."""
        ...

    def failures(self, at: Collection[int] | None = None) -> Iterator[Failure]:
        """Yield the units that brought nothing."""
        ...

    def calls(
        self, dialogues: Collection[Dialogue], annotations: Collection[Annotation], failures: Collection[Failure] = ()
    ) -> Mapping[str, tuple[Call, ...]]:
        """Return the calls that led to some records, by unit; a few hundred records at a time.

        Args:
            dialogues: What was said; by their keys.
            annotations: What annotators answered about these dialogues.
            failures: Units that brought nothing.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EventEvidence:
    """What participants of an event contributed, read from the store.

    Attributes:
        dialogues: All dialogues of participants in the study, without texts, in the order in which they started.
        responses: Latest revisions of the responses to questionnaires about the current study, drafts included.
        notes: Notes of red teamers about the current study, as answers to open questions.
        coding: Codings of open answers; None if there is no open answer.
        record: Sessions, guesses, exposure and withdrawals.
        sessions: Sessions about the current study that took place here.
        spending: What the replies to participants have cost.
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
    """Everything that one run holds.

    Attributes:
        study: What was to be measured.
        run: The execution that this is the evidence of.
        sessions: Every planned session; the denominator of everything.
        archive: The records, for whoever wants to read words.
        answers: All answers in columns, and the outcome of each session; enough for all that is counted.
        samples: What was drawn for people to label.
        drawn: Key of each drawn dialogue of this run to its position in the plan.
        validation_reports: Latest validation report of each annotator, as it is now, that has one.
        spending: What it cost.
        role_breaks: What the checks of simulated users found while the records were read;
            None where nobody looked.
        spoken: What people and simulated users said where both met the same scenario, as
            numbers gathered while the records were read; None where nobody looked.
        schemas: How answers were asked for, of annotators whose requests had a schema.
        responses: Latest revisions of what testers answered after their sessions; annotators never see them.
        notes: What red teamers noted while they tested, as answers in own words.
        answered: Key of each dialogue that such a response is about to its position in the plan.
        reviews: What people found who read a session's dialogues and questionnaire together.
        annotator_attributes: Self-described groups: attribute to annotator to group.
        coding: What was done about answers in own words; None where nobody has begun.
        event: What people left beside dialogues and answers: guesses, exposure, withdrawals.
        criteria: How annotators were sought, chosen and given work, statement by statement.
        sittings: Sessions of people about the study as it is written now.
        earlier_scores: Scores of earlier finished runs by application, guideline and annotator; the first run first.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedArchive:
    """Records that stand in lists, as tests and scripts make them.

    Attributes:
        sessions: Every planned session.
        dialogue_list: What was said; a planned session has one at most, with equal label.
        annotation_list: What annotators answered, latest revisions.
        final_list: Final labels.
        failure_list: Units that brought nothing.
        call_lists: The calls of units.
    """

    sessions: Sessions
    dialogue_list: tuple[Dialogue, ...] = ()
    annotation_list: tuple[Annotation, ...] = ()
    final_list: tuple[Adjudication, ...] = ()
    failure_list: tuple[Failure, ...] = ()
    call_lists: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)

    def dialogues(self, at: Collection[int] | None = None) -> Iterator[Dialogue]:
        """Yield what was said."""
        return (one for one in self.dialogue_list if at is None or self.sessions.find(one.label) in at)

    def annotations(self, at: Collection[int] | None = None) -> Iterator[Annotation]:
        """Yield what annotators answered."""
        wanted = self._keys(at)
        return (one for one in self.annotation_list if wanted is None or one.dialogue in wanted)

    def adjudications(self, at: Collection[int] | None = None) -> Iterator[Adjudication]:
        """Yield the final labels."""
        wanted = self._keys(at)
        return (one for one in self.final_list if wanted is None or one.dialogue in wanted)

    def failures(self, at: Collection[int] | None = None) -> Iterator[Failure]:
        """Yield the units that brought nothing."""
        return (one for one in self.failure_list if at is None or self.sessions.find(one.label) in at)

    def calls(
        self, dialogues: Collection[Dialogue], annotations: Collection[Annotation], failures: Collection[Failure] = ()
    ) -> Mapping[str, tuple[Call, ...]]:
        """Return the calls that led to some records."""
        wanted = {d.key for d in dialogues} | {a.unit for a in annotations} | {f.unit for f in failures}
        return {unit: calls for unit, calls in self.call_lists.items() if unit in wanted}

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
    """Return evidence made of records that are at hand.

    Args:
        study: What was to be measured.
        run: The execution.
        sessions: Every planned session, in order of the plan.
        dialogues: What was said; a planned session has one at most, with equal label.
        annotations: What annotators answered, latest revisions.
        adjudications: Final labels.
        failures: Units that brought nothing.
        spending: What it cost; nothing where None.
        responses: What testers answered after their sessions.
        assignments: Annotator and key of a dialogue, of annotators who were assigned some dialogues only.
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
    heard = tuple(responses)
    about = {key for response in heard for key in response.dialogues}
    places = {one.key: listed.find(one.label) for one in archive.dialogues() if one.key in about}
    return Evidence(
        study=study,
        run=run,
        sessions=listed,
        archive=archive,
        answers=answers,
        spending=spending or Spending(),
        responses=heard,
        answered={key: place for key, place in places.items() if place is not None},
    )
