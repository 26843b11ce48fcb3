"""What one person has been through, and when it is time for a break."""

from __future__ import annotations

from dataclasses import replace

from tests.contract.given import a_person_session, a_plan, a_study
from tests.fakes.clock import FakeClock
from tests.fakes.event import a_session, an_event, an_open_event, exchange
from tests.fresh_stores import fresh_store

from theodolite.domain.dialogue import TurnState
from theodolite.domain.identity import digest
from theodolite.domain.live import LiveEnding
from theodolite.domain.people.event import Event
from theodolite.domain.people.exposure import BreakRule, Exposure
from theodolite.domain.people.session import SessionState
from theodolite.events.context import EventContext
from theodolite.events.exposure import exposure_of, is_limit_reached


def test_time_turns_and_marks_of_all_sessions_count_and_a_new_session_is_a_break():
    study, store, clock = a_study(), fresh_store(), FakeClock()
    event = EventContext(study=study, plan=a_plan(), run=store.open_run(study, a_plan()), store=store, clock=clock)
    for place in (0, 1):
        session = a_person_session(event.run, key=digest("session", str(place)), place=place)
        store.events.sessions.add(session)
        store.events.sessions.update(session.key, lambda one: one.begun(clock.now()))
        turn = store.events.dialogues.add_turn(session.key, "And?", now=clock.now())
        store.events.dialogues.end_turn(turn.key, LiveEnding(state=TurnState.COMPLETE, text="So."))
        store.events.dialogues.mark_turn(turn.key, broke=place == 0)
        clock.passed_s += 600
        if place == 0:
            store.events.sessions.update(session.key, lambda one: one.over(SessionState.COMPLETE, clock.now()))

    exposure = exposure_of(event, "p1")

    assert exposure == Exposure(minutes=20, turns=2, severe=1, since_break_min=10)
    assert exposure_of(event, "somebody else") == Exposure()
    assert not BreakRule(every_min=15).is_due(exposure)
    assert BreakRule(every_min=10).is_due(replace(exposure))


def test_enough_is_what_the_study_says_and_without_a_rule_it_never_is():
    limited = an_open_event(an_event(event=Event(breaks=BreakRule(most_severe=1))))
    free = an_open_event()
    for event in (limited, free):
        turn = exchange(event, a_session(event))
        event.dialogues.mark_turn(turn.key, broke=True)

    assert is_limit_reached(limited, "p1")
    assert not is_limit_reached(limited, "p2")
    assert not is_limit_reached(free, "p1")
