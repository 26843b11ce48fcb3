"""When the people of a level may hold their sessions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from theodolite.domain.dialogue import Level
from theodolite.domain.event import Event, LevelPlan
from theodolite.testing.opening import Hours, Openness, hours_of

BERLIN = timezone(timedelta(hours=1))
EVENT = Event(opens="2026-03-02T09:00", closes="2026-03-06T17:00")


def plan(**more: str) -> LevelPlan:
    return LevelPlan(level=Level.RED_TEAMING, people=4, **more)  # type: ignore[arg-type]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-03-02T07:59", Openness.NOT_YET),
        ("2026-03-02T08:00", Openness.OPEN),
        ("2026-03-06T15:59", Openness.OPEN),
        ("2026-03-06T16:00", Openness.OVER),
    ],
)
def test_times_are_those_of_the_events_own_clock(now: str, expected: Openness) -> None:
    assert hours_of(EVENT, plan(), BERLIN).at(at(now)) is expected


def test_a_level_may_have_times_of_its_own() -> None:
    own = hours_of(EVENT, plan(closes="2026-03-03T12:00"), UTC)

    assert own == Hours(opens=at("2026-03-02T09:00"), closes=at("2026-03-03T12:00"))
    assert own.left_s(at("2026-03-03T11:00")) == 3600
    assert own.left_s(at("2026-03-04T11:00")) == 0


def test_without_times_it_is_always_open() -> None:
    assert hours_of(None, plan(), UTC).at(at("1999-01-01T00:00")) is Openness.OPEN
    assert Hours().left_s(at("1999-01-01T00:00")) is None
