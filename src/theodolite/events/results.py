"""Results: contributions of an event's participants, as evidence for measurement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from theodolite.domain.application import PromptedModel, RecordedFile
from theodolite.domain.event import INCLUDED, AcknowledgedText, PersonProfile
from theodolite.domain.event_record import BlindingAssessment, EventRecord, SessionTally
from theodolite.domain.evidence import EventEvidence
from theodolite.domain.live import FailedReply, LiveDialogue, LiveDialogueSummary, NamingCount, ReplyCounts
from theodolite.domain.run import Spending
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.domain.series_review import ReviewEntry
from theodolite.domain.session import Session
from theodolite.domain.study import Study
from theodolite.events.coding import coding_project, notes_in
from theodolite.events.context import ContextOf, EventContext
from theodolite.measurement.probes import leaks_of
from theodolite.testing.assigning import allocation_design, people_levels, planned_slots
from theodolite.testing.availability import topic_tallies
from theodolite.testing.people import counted, current_versions

if TYPE_CHECKING:
    from theodolite.store.django_store import DjangoStore


def event_evidence(store: DjangoStore, study: Study) -> EventEvidence:
    """Return participants' contributions to a study.

    Args:
        store: The database.
        study: The current study; contributions about other versions of it are counted, not measured.
    """
    events, name = store.events, study.name
    dialogues = events.dialogues.summaries(name)
    responses = responses_about(study, events.responses.in_study(name), dialogues)
    notes = notes_in(study, dialogues)
    return EventEvidence(
        dialogues=tuple(dialogues),
        responses=responses,
        notes=notes,
        coding=coding_project(store, study, (*responses, *notes)).work if responses or notes else None,
        record=event_record(store, study),
        sessions=sessions_about(study, dialogues),
        spending=events.dialogues.spending(name, _paid_models(study)),
    )


def spent_on_event(event: EventContext) -> Spending:
    """Return the cost of an event so far: its run's calls and the replies to participants."""
    events, study = event.store.events, event.study
    return event.store.spending(event.run) + events.dialogues.spending(study.name, _paid_models(study))


def spent_on_judges(event: EventContext) -> Spending:
    """Return the cost of the calls of judges in an event's run so far, failed calls included."""
    return event.store.annotation_spending(event.run)


def event_record(store: DjangoStore, study: Study) -> EventRecord:
    """Return sessions, guesses, exposure and withdrawals of a study; empty if nobody took part."""
    events, name = store.events, study.name
    sessions = tuple(events.sessions.in_study(name))
    topics = (
        topic_tallies(study, events.sessions.allocations(name), sessions, events.participants.avoided_topics_in(name))
        if study.topics
        else ()
    )
    return EventRecord(
        sessions=sessions,
        turns=events.dialogues.turn_counts(name) if sessions else {},
        dialogues=events.dialogues.dialogue_counts(name) if sessions else {},
        guesses=tuple(events.responses.guesses(name)) if sessions else (),
        tombstones=tuple(events.withdrawals.tombstones(name)),
        topics=topics,
    )


def responses_about(
    study: Study, responses: Sequence[QuestionnaireResponse], dialogues: Sequence[LiveDialogueSummary]
) -> tuple[QuestionnaireResponse, ...]:
    """Return the responses after sessions about the current study, drafts included.

    Args:
        study: The current study.
        responses: Responses to all sessions of the study.
        dialogues: All dialogues of participants in the study.
    """
    about = {dialogue.session.key for dialogue in counted(study, dialogues)} if responses else set[str]()
    return tuple(response for response in responses if response.session in about)


def current_responses(
    store: DjangoStore, study: Study, questionnaire: str = "", sessions: Sequence[str] | None = None
) -> list[QuestionnaireResponse]:
    """Return what `responses_about` returns, without reading the dialogues.

    Args:
        store: The database.
        study: The current study.
        questionnaire: Name of the questionnaire; empty for all.
        sessions: Keys of the sessions; None for all.
    """
    return store.events.responses.about(study.name, *current_versions(study), questionnaire, sessions)


def response_counts(store: DjangoStore, study: Study) -> dict[str, int]:
    """Return the number of responses to each questionnaire about the current study, drafts included; counts."""
    return store.events.responses.count_by_questionnaire(study.name, *current_versions(study))


def submitted_count(store: DjangoStore, study: Study) -> int:
    """Return the number of submitted responses about the current study; count."""
    return store.events.responses.count_submitted(study.name, *current_versions(study))


def sessions_about(study: Study, dialogues: Sequence[LiveDialogueSummary]) -> tuple[Session, ...]:
    """Return the sessions of the current study that took place on this server, each once."""
    own_sessions = (dialogue.session for dialogue in counted(study, dialogues) if not dialogue.session.brought)
    return tuple({session.key: session for session in own_sessions}.values())


def leaks(event: EventContext) -> tuple[BlindingAssessment, ...]:
    """Return the blinding assessment: overall and by level."""
    name = event.study.name
    return leaks_of(event.responses.guesses(name), event.sessions.guessed(name))


def _paid_models(study: Study) -> frozenset[str]:
    """Return the applications that are models, except scripted ones."""
    connections = {application.name: application.connection for application in study.applications}
    models = {
        name: connection.model for name, connection in connections.items() if isinstance(connection, PromptedModel)
    }
    return frozenset(name for name, model in models.items() if not study.model(model).is_scripted)


STUCK_S = 30
"""Time in progress from which a reply counts as stuck; seconds."""


RECENT_ERRORS = 5
"""Number of failed replies shown, latest first; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCount:
    """The sessions of one cell of the design: planned, started and ended; counts."""

    level: str
    scenario: str
    application: str
    planned: int
    begun: int
    over: int

    @property
    def extra(self) -> int:
        """Sessions that ended beyond the plan; count."""
        return max(0, self.over - self.planned)

    @property
    def left(self) -> int:
        """Planned sessions that have not ended; count."""
        return max(0, self.planned - self.over)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityCounts:
    """Activity of the participants of a study, without content of sessions.

    Attributes:
        guesses: Guesses about the blinding; count.
        submitted: Submitted questionnaire responses; count.
    """

    guesses: int
    submitted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStatus:
    """The state of an event at one moment.

    Attributes:
        active: The active sessions.
        waiting_since: Request time of each session's reply in progress, by session key.
        replies: Outcomes of the replies of each application.
        applications: Names of the applications: those that testers use in order of the study, then earlier ones.
        failures: The latest failed replies, the last one first.
        cells: The sessions of each cell of the design.
    """

    active: tuple[Session, ...]
    waiting_since: Mapping[str, datetime]
    replies: Mapping[str, ReplyCounts]
    applications: tuple[str, ...]
    failures: Sequence[FailedReply]
    cells: tuple[CellCount, ...]

    @property
    def cost_microusd(self) -> int | None:
        """Cost of the replies; millionths of a US dollar, None if no application reports a cost."""
        costs = [counts.cost_microusd for counts in self.replies.values() if counts.cost_microusd is not None]
        return sum(costs) if costs else None


def status_of(event: EventContext) -> EventStatus:
    """Return the state of an event at this moment."""
    name, replies = event.study.name, event.store.events.replies
    counts = replies.counts(name, now=event.clock.now(), stuck_s=STUCK_S)
    used = [
        application.name
        for application in event.study.applications
        if not isinstance(application.connection, RecordedFile)
    ]
    return EventStatus(
        active=tuple(event.sessions.active(name)),
        waiting_since=replies.waiting_since(name),
        replies=counts,
        applications=(*used, *sorted(set(counts) - set(used))),
        failures=replies.recent_failures(name, RECENT_ERRORS) if any(count.errors for count in counts.values()) else (),
        cells=cell_counts(event.study, event.sessions.tallies(name)),
    )


def activity_counts(event: EventContext) -> ActivityCounts:
    """Return the numbers of guesses and submitted responses of a study; counts."""
    guesses, submitted = event.responses.counts(event.study.name)
    return ActivityCounts(guesses=guesses, submitted=submitted)


def naming_counts(event: EventContext) -> list[NamingCount]:
    """Return how often each application identified itself, sorted by name."""
    return event.store.events.replies.naming_counts(event.study.name)


def cell_counts(study: Study, tallies: Sequence[SessionTally]) -> tuple[CellCount, ...]:
    """Return the sessions of each cell: planned by the design, started and ended.

    Args:
        study: The current study.
        tallies: All sessions that took place here, by cell and state.
    """
    planned: Counter[tuple[str, str, str]] = Counter()
    for plan in people_levels(study):
        design = allocation_design(study, plan)
        for slot in planned_slots(plan):
            cells = design.cells(slot.number, slot.stratum)
            planned.update((plan.level.value, cell.scenario, cell.application) for cell in cells)
    started, ended = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
    for tally in tallies:
        cell = tally.level.value, tally.scenario, tally.application
        started[cell] += tally.n if tally.is_started else 0
        ended[cell] += tally.n if tally.is_over else 0
    return tuple(
        CellCount(
            level=cell[0],
            scenario=cell[1],
            application=cell[2],
            planned=planned[cell],
            begun=started[cell],
            over=ended[cell],
        )
        for cell in sorted({*planned, *(cell for cell, n in started.items() if n)})
    )


NOT_ANSWERED = "no answer"


def stored_data(event: EventContext, participant: str, *, context_of: ContextOf) -> dict[str, Any]:
    """Return the stored data on a participant of a study as plain values; applications appear under their aliases.

    Args:
        event: The event.
        participant: Opaque key of the participant.
        context_of: From a session to the event in its release.
    """
    sessions = event.sessions_of(participant)
    return {
        "about_you": _profile(event.participants.profile(participant)),
        "rather_not": sorted(event.participants.avoided_topics(event.study.name, participant)),
        "agreed_to": [
            {
                "text": acknowledgement.subject.value,
                "version": acknowledgement.version,
                "at": time_text(acknowledgement.at),
            }
            for acknowledgement in event.participants.acknowledgements(participant)
            if acknowledgement.study == event.study.name and acknowledgement.subject is not AcknowledgedText.RELEASE
        ],
        "public_release": [
            {"included": acknowledgement.version == INCLUDED, "at": time_text(acknowledgement.at)}
            for acknowledgement in event.participants.acknowledgements(participant)
            if acknowledgement.study == event.study.name and acknowledgement.subject is AcknowledgedText.RELEASE
        ],
        "sessions": [_session(context_of(session), session) for session in sessions],
        "feedback": [
            {"about": entry.part.value, "text": entry.text, "at": time_text(entry.at)}
            for entry in event.store.filed(ReviewEntry, ReviewEntry.subject(event.study.name))
            if entry.by == participant
        ],
        "guesses": _guesses(event, {session.key: session for session in sessions}),
    }


def time_text(moment: datetime | None) -> str:
    """Return a moment as text for a file; empty for None."""
    return "" if moment is None else moment.isoformat(sep=" ", timespec="seconds")


def _profile(profile: PersonProfile | None) -> dict[str, str]:
    if profile is None or profile == PersonProfile():  # an empty profile states nothing
        return {}
    stated = {
        "kind of user": profile.user_type.value if profile.user_type else "",
        "expertise": profile.expertise,
        "languages": ", ".join(profile.languages),
        **profile.groups,
    }
    return {name: text for name, text in stated.items() if text}


def _session(event: EventContext, session: Session) -> dict[str, Any]:
    responses = event.responses.of_session(session.key)
    return {
        "with": session.alias,
        "state": session.state.value,
        "begun": time_text(session.clock.started),
        "ended": time_text(session.clock.ended),
        "dialogues": [_dialogue(dialogue) for dialogue in event.dialogues.of_session(session.key)],
        "answers": [line for response in responses for line in _answers(event.study, response)],
    }


def _dialogue(dialogue: LiveDialogue) -> dict[str, Any]:
    return {
        "number": dialogue.number,
        "turns": [
            {"you": turn.prompt, "reply": turn.response, "at": time_text(turn.asked), "marked": turn.broke}
            for turn in dialogue.turns
        ],
        "tried": [
            {"strategy": strategy.name, "what": attempt.description, "outcome": attempt.outcome.value}
            for strategy in dialogue.strategies
            for attempt in strategy.attempts
        ],
    }


def _answers(study: Study, response: QuestionnaireResponse) -> Iterator[dict[str, str]]:
    instruments = (
        questionnaire.instrument
        for questionnaire in study.questionnaires
        if questionnaire.name == response.questionnaire
    )
    instrument = next(instruments, None)
    texts = {question.name: question.text for question in instrument.questions} if instrument else {}
    for answer in response.answers:
        text = answer.value if answer.value is not None else NOT_ANSWERED
        yield {"question": texts.get(answer.question, answer.question), "answer": text}


def _guesses(event: EventContext, own: Mapping[str, Session]) -> list[dict[str, str]]:
    return [
        {"about": guess.about.value, "with": own[guess.session].alias, "guess": guess.guess or "I do not know"}
        for guess in event.responses.guesses(event.study.name)
        if guess.session in own
    ]
