"""What people say is stored first; what the application is asked follows from what is stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.contract.given import a_person_session, a_plan, a_study
from tests.fakes.clock import FakeClock
from tests.fakes.store import FakeStore
from tests.fakes.venue import a_session as begun
from tests.fakes.venue import a_venue

from theodolite.domain.dialogue import Ending, Level, TurnState
from theodolite.domain.errors import InputError
from theodolite.domain.flow import Exchange
from theodolite.domain.live import LiveEnding
from theodolite.domain.passage import FoundPassages, Passage, found_in
from theodolite.domain.people.event import LevelPlan
from theodolite.domain.people.session import Pauser, Session
from theodolite.domain.scenario import Scenario, SourceText
from theodolite.domain.scenario import TestPacket as Packet
from theodolite.usecases.people.ending import end_open_dialogue
from theodolite.usecases.people.talking import STANDS_STILL, TIME_IS_UP, finish, left_s, retry, say
from theodolite.usecases.people.venue import Venue

COMPLETE = LiveEnding(state=TurnState.COMPLETE, text="Two weeks.")
ERROR = LiveEnding(state=TurnState.ERROR, text="", cause="petrel.example fell over")


@pytest.fixture
def venue() -> Venue:
    packet = Packet(sources=(SourceText(name="policy.md", text="30 days"),))
    study = replace(
        a_study(),
        scenarios=(Scenario(name="returns", turns=2, packet=packet),),
        levels=(LevelPlan(level=Level.RED_TEAMING, minutes=30),),
    )
    store = FakeStore()
    run = store.open_run(study, a_plan())
    return Venue(study=study, plan=a_plan(), run=run, store=store, clock=FakeClock())


@pytest.fixture
def session(venue: Venue) -> Session:
    made = replace(a_person_session(venue.run), level=Level.RED_TEAMING, scenario="returns")
    venue.store.keep_session(made)
    return venue.store.revise_session(made.key, lambda one: one.begun(venue.clock.now()))


def test_the_application_is_told_the_dialogue_so_far_and_the_material(venue, session):
    first, _ = say(venue, session.key, "How long?")
    finish(venue, first.key, COMPLETE)

    turn, asked = say(venue, session.key, "Sure?")

    assert (asked.application, asked.prompt, asked.turn, asked.context) == (session.application, "Sure?", 2, "30 days")
    assert asked.history == (Exchange(prompt="How long?", response="Two weeks."),)
    assert turn.state is None


def test_what_a_person_says_is_searched_and_what_it_finds_reaches_application_and_dialogue():
    passage = Passage(name="faq, paragraph 1", text="Free.")
    venue = replace(a_venue(), searches={"shop": lambda query: (passage,) if query == "Fee?" else ()})
    session = begun(venue)

    first, asked = say(venue, session.key, "Fee?")
    finish(venue, first.key, COMPLETE)
    finish(venue, say(venue, session.key, "And?")[0].key, COMPLETE)
    end_open_dialogue(venue, session, Ending.TESTER_LEFT)

    assert asked.context == 'Passages found for "Fee?": 1\n\n[1] faq, paragraph 1\nFree.'
    [held] = venue.store.dialogues(venue.run)
    found = (FoundPassages(turn=1, passages=(passage,)), FoundPassages(turn=2, passages=()))
    assert found_in(held.context, ["Fee?", "And?"]) == ("", found)


def test_a_retry_asks_the_same_again(venue, session):
    first, asked = say(venue, session.key, "How long?")
    finish(venue, first.key, ERROR)

    again, asked_again = retry(venue, first.key)

    assert (again.key, again.tries, asked_again) == (first.key, 2, asked)


def test_nothing_is_tried_again_while_the_clock_stands_still(venue, session):
    first, _ = say(venue, session.key, "How long?")
    finish(venue, first.key, ERROR)
    venue.store.revise_session(session.key, lambda one: one.paused(Pauser.ORGANISER, venue.clock.now()))

    with pytest.raises(InputError, match=STANDS_STILL):
        retry(venue, first.key)


def test_no_more_turns_than_the_scenario_has(venue, session):
    for text in ("one", "two"):
        turn, _ = say(venue, session.key, text)
        finish(venue, turn.key, COMPLETE)

    with pytest.raises(InputError, match="has its 2 turns"):
        say(venue, session.key, "three")


def test_nothing_is_said_while_the_clock_stands_still(venue, session):
    venue.store.revise_session(session.key, lambda one: one.paused(Pauser.ORGANISER, venue.clock.now()))

    with pytest.raises(InputError, match=STANDS_STILL):
        say(venue, session.key, "How long?")


def test_nothing_is_said_when_the_time_is_up_and_pauses_do_not_count(venue, session):
    venue.clock.passed_s = 10 * 60
    venue.store.revise_session(session.key, lambda one: one.paused(Pauser.TESTER, venue.clock.now()))
    venue.clock.passed_s = 60 * 60
    resumed = venue.store.revise_session(session.key, lambda one: one.resumed(Pauser.TESTER, venue.clock.now()))
    assert left_s(venue, resumed) == timedelta(minutes=20).total_seconds()

    venue.clock.passed_s += 20 * 60
    with pytest.raises(InputError, match=TIME_IS_UP):
        say(venue, session.key, "How long?")
