"""What one person has been through, and when it is time for a break."""

from __future__ import annotations

from dataclasses import replace

from tests.contract.given import a_person_session, a_plan, a_study
from tests.fakes.clock import FakeClock
from tests.fakes.store import FakeStore
from tests.fakes.venue import a_session, a_venue, an_event, exchange

from theodolite.domain.dialogue import TurnState
from theodolite.domain.identity import digest
from theodolite.domain.live import LiveEnding
from theodolite.domain.people.event import Event
from theodolite.domain.people.exposure import BreakRule, Exposure
from theodolite.domain.people.session import SessionState
from theodolite.usecases.people.exposure import exposure_of, has_had_enough
from theodolite.usecases.people.venue import Venue


def test_time_turns_and_marks_of_all_sessions_count_and_a_new_session_is_a_break():
    study, store, clock = a_study(), FakeStore(), FakeClock()
    venue = Venue(study=study, plan=a_plan(), run=store.open_run(study, a_plan()), store=store, clock=clock)
    for place in (0, 1):
        session = a_person_session(venue.run, key=digest("session", str(place)), place=place)
        store.keep_session(session)
        store.revise_session(session.key, lambda one: one.begun(clock.now()))
        turn = store.say(session.key, "And?", now=clock.now())
        store.end_turn(turn.key, LiveEnding(state=TurnState.COMPLETE, text="So."))
        store.mark_turn(turn.key, broke=place == 0)
        clock.passed_s += 600
        if place == 0:
            store.revise_session(session.key, lambda one: one.over(SessionState.COMPLETE, clock.now()))

    exposure = exposure_of(venue, "p1")

    assert exposure == Exposure(minutes=20, turns=2, severe=1, since_break_min=10)
    assert exposure_of(venue, "somebody else") == Exposure()
    assert not BreakRule(every_min=15).is_due(exposure)
    assert BreakRule(every_min=10).is_due(replace(exposure))


def test_enough_is_what_the_study_says_and_without_a_rule_it_never_is():
    limited = a_venue(an_event(event=Event(breaks=BreakRule(most_severe=1))))
    free = a_venue()
    for venue in (limited, free):
        turn = exchange(venue, a_session(venue))
        venue.store.mark_turn(turn.key, broke=True)

    assert has_had_enough(limited, "p1")
    assert not has_had_enough(limited, "p2")
    assert not has_had_enough(free, "p1")
