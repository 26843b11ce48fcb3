"""Exposure: what one person has been through in an event so far."""

from __future__ import annotations

from theodolite.domain.people.exposure import BreakRule, Exposure
from theodolite.domain.people.session import SessionState
from theodolite.usecases.people.venue import Venue


def exposure_of(venue: Venue, participant: str) -> Exposure:
    """Return what a person has been through in all levels of an event.

    The questions after a session count as a break, and so does a pause as long as
    it lasts: the time since the last break is that of the session that goes on.
    """
    now = venue.clock.now()
    mine = [one for one in venue.store.sessions_of(participant) if one.study == venue.study.name]
    turns = [turn for one in mine for dialogue in venue.store.live_dialogues(one.key) for turn in dialogue.turns]
    going_on = [one.clock.elapsed_s(now) for one in mine if one.state is SessionState.ACTIVE]
    return Exposure(
        minutes=sum(one.clock.elapsed_s(now) for one in mine) / 60,
        turns=len(turns),
        severe=sum(turn.broke for turn in turns),
        since_break_min=max(going_on, default=0.0) / 60,
    )


def has_had_enough(venue: Venue, participant: str) -> bool:
    """Tell whether a person has been through as much as the study asks of anybody."""
    rule = venue.study.event.breaks if venue.study.event else BreakRule()
    return (bool(rule.most_min) or bool(rule.most_severe)) and rule.is_enough(exposure_of(venue, participant))
