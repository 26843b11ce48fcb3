"""Consent: what participants acknowledge, state about themselves and opt out of."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING

from theodolite.domain.dialogue import Ending
from theodolite.domain.errors import InputError
from theodolite.domain.fault import did_you_mean
from theodolite.domain.people.consent import AcknowledgedText, Acknowledgement
from theodolite.domain.people.participant import PersonProfile
from theodolite.domain.people.session import Session, SessionState
from theodolite.domain.people.topic import scenarios_of
from theodolite.domain.study import Study
from theodolite.events.context import ContextOf, EventContext
from theodolite.events.sessions import end_open_dialogue
from theodolite.testing.assigning import people_levels
from theodolite.testing.topics import topics_version

if TYPE_CHECKING:  # tables can be loaded only when Django knows the database
    from theodolite.store.events.sessions import ParticipantRepository


def acknowledge(
    event: EventContext, participant: str, subject: AcknowledgedText, version: str, *, session: str = ""
) -> None:
    """Store that a participant agreed to a text.

    Args:
        event: The event.
        participant: Opaque key of the participant.
        subject: Which text.
        version: Content hash of the text.
        session: Key of the session that the text is about; empty if it is about the event.
    """
    event.participants.add_acknowledgement(
        Acknowledgement(
            participant=participant,
            study=event.study.name,
            subject=subject,
            version=version,
            at=event.clock.now(),
            session=session,
        )
    )


def save_profile(event: EventContext, participant: str, profile: PersonProfile) -> int:
    """Store another revision of a participant's profile and return its number, from 1."""
    return event.participants.add_profile(participant, profile, now=event.clock.now())


def opt_out(
    event: EventContext, participant: str, topics: Collection[str], *, closed: ContextOf | None = None
) -> tuple[Session, ...]:
    """Store the topics that a participant opts out of, and end what touches them.

    An active session on such a topic ends without a rationale and without questionnaires.
    A slot in which no session has started is released for one that suits.

    Args:
        event: The event.
        participant: Opaque key of the participant.
        topics: Names of the avoided topics; all others are accepted from now on.
        closed: From an active session to the event in its release, once no reply to it can
            arrive any more; `event` for all sessions by default.

    Returns:
        The sessions that were ended.

    Raises:
        InputError: If the study has no topic of a name.
    """
    save_avoided_topics(event.participants, event.study, participant, topics, now=event.clock.now())
    scenarios = scenarios_of(event.study.topics, topics)
    active = (one for one in event.sessions_of(participant) if one.state is SessionState.ACTIVE)
    ended = tuple(session for session in active if session.scenario in scenarios)
    for session in ended:
        end_open_dialogue(closed(session) if closed else event, session, Ending.TESTER_LEFT)
        event.sessions.update(session.key, lambda known: known.over(SessionState.INTERRUPTED, event.clock.now()))
    for plan in people_levels(event.study):
        event.sessions.release_unused(event.study.name, participant, plan.level)
    return ended


def save_avoided_topics(
    participants: ParticipantRepository, study: Study, participant: str, topics: Collection[str], *, now: datetime
) -> None:
    """Store the topics that a participant opts out of, and that the question was answered.

    Args:
        participants: Where it is stored.
        study: The study that names the topics.
        participant: Opaque key of the participant.
        topics: Names of the avoided topics; all others are accepted from now on.
        now: The present moment.

    Raises:
        InputError: If the study has no topic of a name.
    """
    known = [topic.name for topic in study.topics]
    for name in topics:
        if name not in known:
            message = f"the study names no topic `{name}`{did_you_mean(name, known)}"
            raise InputError(message)
    participants.set_avoided_topics(study.name, participant, topics)
    participants.add_acknowledgement(
        Acknowledgement(
            participant=participant,
            study=study.name,
            subject=AcknowledgedText.TOPICS,
            version=topics_version(study),
            at=now,
        )
    )
