"""Hours: when the people of a level may hold their sessions, by the event's own clock."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from theodolite.domain.dialogue import Level
from theodolite.testing.assigning import people_levels
from theodolite.testing.opening import Hours, hours_of
from theodolite.usecases.people.venue import Venue


def hours_at(venue: Venue, level: Level) -> Hours:
    """Return when a level is open; always where the study says nothing, or its times do not hold."""
    plan = next((plan for plan in people_levels(venue.study) if plan.level is level), None)
    if plan is None or not venue.keeps_hours:
        return Hours()
    event = venue.study.event
    return hours_of(event, plan, ZoneInfo(event.zone if event else "UTC"))
