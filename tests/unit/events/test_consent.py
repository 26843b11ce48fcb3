"""A person says what is not to be met."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.contract.given import a_person_session, a_plan, a_study
from tests.fakes.clock import FakeClock
from tests.fakes.event import RED, a_session, all_sessions, an_event, an_open_event, exchange
from tests.fresh_stores import fresh_store

from theodolite.domain.choices import TopicWeight
from theodolite.domain.dialogue import TurnState
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import AcknowledgedText, BreakRule, Event, Exposure
from theodolite.domain.identity import digest
from theodolite.domain.live import LiveEnding
from theodolite.domain.scenario import Scenario
from theodolite.domain.session import SessionState
from theodolite.domain.study_parts import SensitiveTopic
from theodolite.events.consent import exposure_of, is_limit_reached, opt_out
from theodolite.events.context import EventContext
from theodolite.events.sessions import next_session_index, planned_cells, prepare_session

GRIM = SensitiveTopic(name="grim", weight=TopicWeight.HEAVY, scenarios=("forum",))

SHOP, FORUM = Scenario(name="shop", turns=4), Scenario(name="forum", turns=4)


def venue_with(*scenarios: Scenario, people: int = 4):
    return an_open_event(replace(an_event(people=people, scenarios=scenarios or (FORUM, SHOP)), topics=(GRIM,)))


def test_who_avoids_a_topic_gets_a_seat_without_it_and_leaves_the_other_free() -> None:
    event = venue_with()
    opt_out(event, "p1", ["grim"])
    mine = all_sessions(event, "p1", RED)
    others = [prepare_session(event, who, RED, 0).seat for who in ("p2", "p3", "p4")]

    assert {session.scenario for session in mine} == {"shop"}
    assert sorted([mine[0].seat, *others]) == [0, 1, 2, 3]


def test_a_seat_on_which_nothing_was_begun_is_given_up_for_one_that_suits() -> None:
    event = venue_with()
    grim = next(who for who in ("p1", "p2", "p3", "p4") if prepare_session(event, who, RED, 0).scenario == "forum")
    event = venue_with()
    for who in ("p1", "p2", "p3", "p4"):
        if who == grim:
            break
        prepare_session(event, who, RED, 0)
    assert prepare_session(event, grim, RED, 0).scenario == "forum"

    opt_out(event, grim, ["grim"])

    assert {cell.scenario for cell in planned_cells(event, grim, RED)} in ({"shop"}, set())
    assert not event.sessions.of_participant(grim)


def test_what_goes_on_ends_without_questions_and_its_words_count() -> None:
    event = venue_with(FORUM)
    session = a_session(event)
    exchange(event, session)

    (ended,) = opt_out(event, "p1", ["grim"])

    assert event.sessions.get(ended.key).state is SessionState.INTERRUPTED
    assert [one.unit != "" for one in event.dialogues.summaries(event.study.name)] == [True]
    assert next_session_index(event, "p1", RED) is None


def test_who_avoids_everything_finds_no_seat_until_they_choose_otherwise() -> None:
    event = venue_with(FORUM)
    opt_out(event, "p1", ["grim"])
    assert next_session_index(event, "p1", RED) is None
    with pytest.raises(Conflict):
        prepare_session(event, "p1", RED, 0)

    opt_out(event, "p1", [])

    assert next_session_index(event, "p1", RED) == 0
    assert prepare_session(event, "p1", RED, 0).seat == 0


def test_that_somebody_was_asked_is_kept_whatever_they_chose() -> None:
    event = venue_with()
    opt_out(event, "p1", [])

    (given,) = event.participants.acknowledgements("p1")
    assert given.subject is AcknowledgedText.TOPICS
    assert event.participants.avoided_topics_in(event.study.name) == {"p1": frozenset()}


def test_a_topic_that_the_study_does_not_name_is_refused() -> None:
    with pytest.raises(InputError, match="grim"):
        opt_out(venue_with(), "p1", ["grime"])


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
