"""Results: what participants of an event contributed, as evidence for measurement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from theodolite.domain.application import PromptedModel
from theodolite.domain.evidence import EventEvidence
from theodolite.domain.live import LiveDialogueSummary
from theodolite.domain.people.event_record import EventRecord
from theodolite.domain.people.leak import BlindingAssessment
from theodolite.domain.people.session import Session
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.domain.study import Study
from theodolite.events.coding import coding_project, notes_in
from theodolite.events.context import EventContext
from theodolite.testing.people import counted
from theodolite.testing.topics import topic_tallies

if TYPE_CHECKING:  # tables can be loaded only when Django knows the database
    from theodolite.store.django_store import DjangoStore


def event_evidence(store: DjangoStore, study: Study) -> EventEvidence:
    """Return what participants contributed to a study.

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


def sessions_about(study: Study, dialogues: Sequence[LiveDialogueSummary]) -> tuple[Session, ...]:
    """Return the sessions about the current study that took place here, each once."""
    here = (dialogue.session for dialogue in counted(study, dialogues) if not dialogue.session.brought)
    return tuple({session.key: session for session in here}.values())


def leaks(event: EventContext) -> tuple[BlindingAssessment, ...]:
    """Return how far testers saw through the blinding: in all, and by level."""
    from theodolite.measurement.probes import leaks_of  # numpy and scipy are loaded by this page alone

    name = event.study.name
    return leaks_of(event.responses.guesses(name), event.sessions.in_study(name))


def _paid_models(study: Study) -> frozenset[str]:
    """Return the applications that are models, except scripted ones."""
    connections = {application.name: application.connection for application in study.applications}
    models = {name: one.model for name, one in connections.items() if isinstance(one, PromptedModel)}
    return frozenset(name for name, model in models.items() if not study.model(model).is_scripted)
