"""Consent: what participants acknowledge, state about themselves and opt out of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from theodolite.domain.choices import TopicWeight
from theodolite.domain.dialogue import Ending
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.event import (
    INCLUDED,
    LATELY_H,
    LEFT_OUT,
    AcknowledgedText,
    Acknowledgement,
    BreakRule,
    Exposure,
    PersonProfile,
)
from theodolite.domain.session import Session, SessionState
from theodolite.domain.study import Study
from theodolite.domain.study_parts import SensitiveTopic, TopicTally, scenarios_of, topics_in
from theodolite.events.context import ContextOf, EventContext
from theodolite.events.sessions import end_open_dialogue
from theodolite.testing.assigning import people_levels
from theodolite.testing.topics import topic_tallies, topics_version

if TYPE_CHECKING:
    from theodolite.store.event_sessions import ParticipantRepository


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


def choose_release(event: EventContext, participant: str, *, included: bool) -> None:
    """Store whether a participant's dialogues may be part of public releases; the latest choice counts."""
    acknowledge(event, participant, AcknowledgedText.RELEASE, INCLUDED if included else LEFT_OUT)


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
    active = (session for session in event.sessions_of(participant) if session.state is SessionState.ACTIVE)
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


def exposure_of(event: EventContext, participant: str) -> Exposure:
    """Return what a participant has gone through in all levels of an event.

    The questionnaires after a session count as a break, and so does a pause while
    it lasts: the time since the last break is that of the active session.
    """
    now = event.clock.now()
    sessions = event.sessions_of(participant)
    turns = [
        turn for session in sessions for dialogue in event.dialogues.of_session(session.key) for turn in dialogue.turns
    ]
    active_s = [session.clock.elapsed_s(now) for session in sessions if session.state is SessionState.ACTIVE]
    return Exposure(
        minutes=sum(session.clock.elapsed_s(now) for session in sessions) / 60,
        turns=len(turns),
        severe=sum(turn.broke for turn in turns),
        since_break_min=max(active_s, default=0.0) / 60,
    )


def is_limit_reached(event: EventContext, participant: str) -> bool:
    """Tell whether a participant has reached the exposure limit of the study."""
    rule = event.study.event.breaks if event.study.event else BreakRule()
    return (bool(rule.most_min) or bool(rule.most_severe)) and rule.is_enough(exposure_of(event, participant))


def heavy_minutes(event: EventContext) -> Mapping[tuple[str, SensitiveTopic], float]:
    """Return how long participants tested each heavy topic in the last hours, by key and topic; minutes."""
    heavy = [topic for topic in event.study.topics if topic.weight is TopicWeight.HEAVY]
    now = event.clock.now()
    since, minutes = now - timedelta(hours=LATELY_H), defaultdict[tuple[str, SensitiveTopic], float](float)
    for session in event.sessions.in_study(event.study.name):
        started = session.clock.started
        if started is not None and started >= since:
            for topic in topics_in(heavy, session.scenario):
                minutes[session.participant, topic] += session.clock.elapsed_s(now) / 60
    return minutes


def opt_out_tallies(event: EventContext) -> tuple[TopicTally, ...]:
    """Return what content opt-outs cost the balance of an event, one entry for each topic."""
    name = event.study.name
    slots, sessions = event.sessions.allocations(name), event.sessions.in_study(name)
    return tuple(topic_tallies(event.study, slots, sessions, event.participants.avoided_topics_in(name)))
