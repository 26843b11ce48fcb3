"""What people send_prompt is stored first; what the application is asked follows from what is stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.contract.given import a_person_session, a_plan, a_study
from tests.fakes.clock import FakeClock
from tests.fakes.event import a_session as begun
from tests.fakes.event import an_open_event
from tests.fresh_stores import fresh_store

from theodolite.domain.dialogue import Ending, FoundPassages, Level, Passage, TurnState, found_in
from theodolite.domain.errors import InputError
from theodolite.domain.event import LevelPlan
from theodolite.domain.flow import Exchange
from theodolite.domain.live import LiveEnding
from theodolite.domain.scenario import Scenario, SourceText
from theodolite.domain.scenario import TestPacket as Packet
from theodolite.domain.session import Pauser, Session
from theodolite.events.chat import finish_turn, retry, send_prompt, session_time_left_s
from theodolite.events.context import EventContext
from theodolite.events.rules import STANDS_STILL, TIME_IS_UP
from theodolite.events.sessions import end_open_dialogue

COMPLETE = LiveEnding(state=TurnState.COMPLETE, text="Two weeks.")
ERROR = LiveEnding(state=TurnState.ERROR, text="", cause="petrel.example fell over")


@pytest.fixture
def event() -> EventContext:
    packet = Packet(sources=(SourceText(name="policy.md", text="30 days"),))
    study = replace(
        a_study(),
        scenarios=(Scenario(name="returns", turns=2, packet=packet),),
        levels=(LevelPlan(level=Level.RED_TEAMING, minutes=30),),
    )
    store = fresh_store()
    run = store.open_run(study, a_plan())
    return EventContext(study=study, plan=a_plan(), run=run, store=store, clock=FakeClock())


@pytest.fixture
def session(event: EventContext) -> Session:
    made = replace(a_person_session(event.run), level=Level.RED_TEAMING, scenario="returns")
    event.sessions.add(made)
    return event.sessions.update(made.key, lambda one: one.begun(event.clock.now()))


def test_the_application_receives_the_dialogue_so_far_and_the_material(event, session):
    first, _ = send_prompt(event, session.key, "How long?")
    finish_turn(event, first.key, COMPLETE)

    turn, asked = send_prompt(event, session.key, "Sure?")

    assert (asked.application, asked.prompt, asked.turn, asked.context) == (session.application, "Sure?", 2, "30 days")
    assert asked.history == (Exchange(prompt="How long?", response="Two weeks."),)
    assert turn.state is None


def test_a_prompt_is_searched_and_the_passages_reach_application_and_dialogue():
    passage = Passage(name="faq, paragraph 1", text="Free.")
    event = replace(an_open_event(), searches={"shop": lambda query: (passage,) if query == "Fee?" else ()})
    session = begun(event)

    first, asked = send_prompt(event, session.key, "Fee?")
    finish_turn(event, first.key, COMPLETE)
    finish_turn(event, send_prompt(event, session.key, "And?")[0].key, COMPLETE)
    end_open_dialogue(event, session, Ending.TESTER_LEFT)

    assert asked.context == 'Passages found for "Fee?": 1\n\n[1] faq, paragraph 1\nFree.'
    [held] = event.store.dialogues(event.run)
    found = (FoundPassages(turn=1, passages=(passage,)), FoundPassages(turn=2, passages=()))
    assert found_in(held.context, ["Fee?", "And?"]) == ("", found)


def test_a_retry_sends_the_same_request_again(event, session):
    first, asked = send_prompt(event, session.key, "How long?")
    finish_turn(event, first.key, ERROR)

    again, asked_again = retry(event, first.key)

    assert (again.key, again.tries, asked_again) == (first.key, 2, asked)


def test_there_is_no_retry_while_the_clock_is_stopped(event, session):
    first, _ = send_prompt(event, session.key, "How long?")
    finish_turn(event, first.key, ERROR)
    event.sessions.update(session.key, lambda one: one.paused(Pauser.ORGANISER, event.clock.now()))

    with pytest.raises(InputError, match=STANDS_STILL):
        retry(event, first.key)


def test_the_number_of_turns_is_limited_by_the_scenario(event, session):
    for text in ("one", "two"):
        turn, _ = send_prompt(event, session.key, text)
        finish_turn(event, turn.key, COMPLETE)

    with pytest.raises(InputError, match="limit of 2 turns"):
        send_prompt(event, session.key, "three")


def test_no_message_is_accepted_while_the_clock_is_stopped(event, session):
    event.sessions.update(session.key, lambda one: one.paused(Pauser.ORGANISER, event.clock.now()))

    with pytest.raises(InputError, match=STANDS_STILL):
        send_prompt(event, session.key, "How long?")


def test_no_message_is_accepted_after_the_time_limit_and_pauses_do_not_count(event, session):
    event.clock.passed_s = 10 * 60
    event.sessions.update(session.key, lambda one: one.paused(Pauser.TESTER, event.clock.now()))
    event.clock.passed_s = 60 * 60
    resumed = event.sessions.update(session.key, lambda one: one.resumed(Pauser.TESTER, event.clock.now()))
    assert session_time_left_s(event, resumed) == timedelta(minutes=20).total_seconds()

    event.clock.passed_s += 20 * 60
    with pytest.raises(InputError, match=TIME_IS_UP):
        send_prompt(event, session.key, "How long?")
