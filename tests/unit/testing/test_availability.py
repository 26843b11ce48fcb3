"""What an event does with topics that somebody would rather not meet."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from tests.fakes.event import RED, a_session, an_event, an_open_event
from theodolite.domain.choices import TopicWeight
from theodolite.domain.dialogue import Level
from theodolite.domain.event import Event, LevelPlan
from theodolite.domain.plan import Slot
from theodolite.domain.scenario import Scenario
from theodolite.domain.study_parts import SensitiveTopic, TopicTally
from theodolite.testing.assigning import allocation_design, people_levels
from theodolite.testing.availability import (
    Hours,
    Openness,
    best_number,
    hours_of,
    n_avoided,
    place_after,
    topic_tallies,
    topics_version,
)

GRIM = SensitiveTopic(name="grim", about="It is grim.", weight=TopicWeight.HEAVY, scenarios=("forum",))


def a_study(people: int = 4, sessions: int = 2):
    return replace(
        an_event(people=people, sessions=sessions, scenarios=(Scenario(name="forum"), Scenario(name="shop"))),
        topics=(GRIM,),
    )


def test_the_free_slot_with_the_fewest_avoided_sessions_is_the_best() -> None:
    study = a_study()
    design = allocation_design(study, study.levels[0])
    costs = [n_avoided(design, number, "", {"forum"}) for number in range(4)]

    assert sorted(costs) == [0, 0, 2, 2]
    assert best_number(design, (), 4, "", {"forum"}) == costs.index(0)
    assert best_number(design, (), 4, "", ()) == 0
    assert best_number(design, {number for number, cost in enumerate(costs) if not cost}, 4, "", {"forum"}) is None


def test_sessions_not_offered_and_slots_without_participant_are_counted() -> None:
    study = a_study()
    design = allocation_design(study, study.levels[0])
    grim_seat = next(number for number in range(4) if n_avoided(design, number, "", {"forum"}))
    seat = Slot(level=RED, number=grim_seat, participant="p1")

    (tally,) = topic_tallies(study, [seat], [], {"p1": frozenset({"grim"}), "p2": frozenset()})

    assert tally == TopicTally(topic="grim", weight=TopicWeight.HEAVY, n_asked=2, n_people=1, n_not_offered=2, n_free=2)


def test_a_session_started_before_the_choice_counts_as_offered() -> None:
    study = replace(a_study(people=1), scenarios=(Scenario(name="forum"),))
    event = an_open_event(study)
    session = a_session(event)
    seat = Slot(level=RED, number=0, participant="p1")

    (tally,) = topic_tallies(study, [seat], [session], {"p1": frozenset({"grim"})})

    assert tally.n_not_offered == 1


def test_a_less_sensitive_session_follows_a_sensitive_one_and_avoided_ones_are_skipped() -> None:
    cells = ["forum", "forum", "shop", "shop"]

    assert place_after(cells, [], (), {"forum"}) == 0
    assert place_after(cells, [0], (), {"forum"}) == 2
    assert place_after(cells, [0, 2], (), {"forum"}) == 1
    assert place_after(cells, [], {"forum"}, {"forum"}) == 2
    assert place_after(cells, [2, 3], {"forum"}, {"forum"}) is None


def test_other_wording_is_another_version_and_no_topics_have_none() -> None:
    study = a_study()

    assert topics_version(study) != topics_version(replace(study, topics=(replace(GRIM, about="It is not."),)))
    assert topics_version(replace(study, topics=())) == ""


def test_topics_concern_participants_and_do_not_change_the_run() -> None:
    study = a_study()

    assert study.run_fingerprint == replace(study, topics=()).run_fingerprint
    assert people_levels(study) == (LevelPlan(level=RED, people=4, sessions=2, minutes=20),)


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
def test_times_are_in_the_time_zone_of_the_event(now: str, expected: Openness) -> None:
    assert hours_of(EVENT, plan(), BERLIN).at(at(now)) is expected


def test_a_level_may_have_separate_times() -> None:
    own = hours_of(EVENT, plan(closes="2026-03-03T12:00"), UTC)

    assert own == Hours(opens=at("2026-03-02T09:00"), closes=at("2026-03-03T12:00"))
    assert own.left_s(at("2026-03-03T11:00")) == 3600
    assert own.left_s(at("2026-03-04T11:00")) == 0


def test_without_times_a_level_is_always_open() -> None:
    assert hours_of(None, plan(), UTC).at(at("1999-01-01T00:00")) is Openness.OPEN
    assert Hours().left_s(at("1999-01-01T00:00")) is None
