"""Exposure: what participants have gone through in an event so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta

from theodolite.domain.choices import TopicWeight
from theodolite.domain.people.exposure import LATELY_H, BreakRule, Exposure
from theodolite.domain.people.session import SessionState
from theodolite.domain.people.topic import SensitiveTopic, TopicTally, topics_in
from theodolite.events.context import EventContext
from theodolite.testing.topics import topic_tallies


def exposure_of(event: EventContext, participant: str) -> Exposure:
    """Return what a participant has gone through in all levels of an event.

    The questionnaires after a session count as a break, and so does a pause while
    it lasts: the time since the last break is that of the active session.
    """
    now = event.clock.now()
    sessions = event.sessions_of(participant)
    turns = [turn for one in sessions for dialogue in event.dialogues.of_session(one.key) for turn in dialogue.turns]
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
