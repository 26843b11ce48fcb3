from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.venue import FIELD, RED, a_session, a_venue, all_sessions, an_event, answered, exchange, failed

from theodolite.domain.choices import UserType
from theodolite.domain.dialogue import Ending, HeldBy, TurnState
from theodolite.domain.errors import InputError
from theodolite.domain.people.event import LevelPlan
from theodolite.domain.people.participant import PersonProfile
from theodolite.domain.people.session import SessionState
from theodolite.domain.strategy import Attempt, AttemptOutcome, Strategy
from theodolite.usecases.people.ending import ERROR_TEXT, STOPPED_TEXT
from theodolite.usecases.people.recovery import recover
from theodolite.usecases.people.sitting import end_session, prepare_session, reset
from theodolite.usecases.people.talking import finish, left_s, say


def held_dialogues(venue):
    return list(venue.store.dialogues(venue.run))


def test_a_person_meets_each_application_once_under_different_names():
    venue = a_venue()
    first, second = all_sessions(venue, "p1", RED)

    assert {first.application, second.application} == {"blue", "green"}
    assert first.alias != second.alias
    assert not {"blue", "green"} & {first.alias.split()[-1].lower(), second.alias.split()[-1].lower()}


def test_a_session_is_made_once():
    venue = a_venue()

    assert prepare_session(venue, "p1", RED, 0) == prepare_session(venue, "p1", RED, 0)


@pytest.mark.parametrize(("level", "place"), [(FIELD, 0), (RED, 2), (RED, -1)])
def test_there_is_no_session_where_the_study_plans_none(level, place):
    with pytest.raises(InputError):
        prepare_session(a_venue(), "p1", level, place)


def test_types_of_users_with_a_quota_are_seated_by_themselves():
    plan = LevelPlan(level=RED, people=4, sessions=1, quotas={"domain expert": 2})
    venue = a_venue(an_event(levels=(plan,)))
    venue.store.keep_profile("p2", PersonProfile(user_type=UserType.DOMAIN_EXPERT), now=venue.clock.now())

    seats = [prepare_session(venue, who, RED, 0) for who in ("p1", "p2", "p3")]

    assert [(seat.stratum, seat.seat) for seat in seats] == [("", 0), ("domain expert", 0), ("", 1)]


def test_an_ended_dialogue_is_a_dialogue_of_the_run():
    venue = a_venue()
    session = a_session(venue)
    exchange(venue, session, "May I?", "You may.")
    ended = end_session(venue, session.key, task_done=True)

    (dialogue,) = held_dialogues(venue)
    assert (ended.state, ended.task_done) == (SessionState.COMPLETE, True)
    assert (dialogue.label, dialogue.held_by, dialogue.level) == ("p001", HeldBy.PERSON, RED)
    assert (dialogue.cluster, dialogue.ending) == ("p1", Ending.TESTER_LEFT)
    assert [(turn.prompt, turn.response, turn.latency_s) for turn in dialogue.turns] == [("May I?", "You may.", 0.5)]


def test_a_reset_begins_another_dialogue_in_the_same_session():
    venue = a_venue()
    session = a_session(venue)
    exchange(venue, session)
    reset(venue, session.key)
    exchange(venue, session)
    end_session(venue, session.key)

    assert [(one.label, one.repeat) for one in held_dialogues(venue)] == [("p001", 1), ("p002", 2)]
    assert not reset(venue, session.key)


def test_the_same_person_in_the_same_place_is_a_pair_across_applications():
    venue = a_venue()
    for place in (0, 1):
        session = a_session(venue, place=place)
        exchange(venue, session)
        end_session(venue, session.key)
    other = a_session(venue, "p2")
    exchange(venue, other)
    end_session(venue, other.key)

    first, second, third = held_dialogues(venue)
    assert first.pair_key == second.pair_key != third.pair_key
    assert first.application != second.application


def test_an_error_and_a_stop_stand_in_the_dialogue_in_words_of_ours():
    venue = a_venue()
    session = a_session(venue)
    exchange(venue, session)
    finish(venue, say(venue, session.key, "And now?")[0].key, failed())
    stopped = say(venue, session.key, "Hello?")[0]
    finish(venue, stopped.key, answered("", state=TurnState.INTERRUPTED))
    end_session(venue, session.key)

    (dialogue,) = held_dialogues(venue)
    assert [turn.response for turn in dialogue.turns] == ["You may.", ERROR_TEXT, STOPPED_TEXT]
    assert [turn.state for turn in dialogue.turns] == [TurnState.COMPLETE, TurnState.ERROR, TurnState.INTERRUPTED]


def test_a_session_in_which_the_application_never_answered_has_failed():
    venue = a_venue()
    session = a_session(venue)
    finish(venue, say(venue, session.key, "Hello?")[0].key, failed())

    assert end_session(venue, session.key).state is SessionState.FAILED
    assert held_dialogues(venue) == []


def test_a_session_in_which_nothing_was_said_is_complete_and_brings_nothing():
    venue = a_venue()
    session = a_session(venue)

    assert end_session(venue, session.key).state is SessionState.COMPLETE
    assert venue.store.held("small") == []


def test_strategies_of_a_red_teamer_come_along():
    venue = a_venue()
    session = a_session(venue)
    exchange(venue, session)
    (live,) = venue.store.live_dialogues(session.key)
    tried = Attempt(description="my gran", outcome=AttemptOutcome.RELEASED, turn=1)
    venue.store.keep_strategies(live.key, [Strategy(name="role_play", dialogue=live.key, attempts=(tried,))])
    end_session(venue, session.key)

    (dialogue,) = held_dialogues(venue)
    assert dialogue.strategies == (Strategy(name="role_play", dialogue=dialogue.key, attempts=(tried,)),)


def test_what_a_dead_server_left_under_way_ends_as_interrupted():
    venue = a_venue()
    session = a_session(venue)
    turn, _ = say(venue, session.key, "Hello?")
    venue.store.hold({turn.key: "Good mor"})

    assert recover(venue.store) == 1
    end_session(venue, session.key)

    (said,) = held_dialogues(venue)[0].turns
    assert (said.prompt, said.response, said.state) == ("Hello?", "Good mor", TurnState.INTERRUPTED)


def test_a_session_that_names_itself_is_recorded_as_it_does():
    venue = a_venue()
    session = a_session(venue)
    turn = exchange(venue, session, "Who are you?", "I am ChatGPT, made by OpenAI.")

    assert turn.claims == ("ChatGPT", "OpenAI")
    assert turn.response == "I am ChatGPT, made by OpenAI."


def test_time_is_up_after_the_minutes_of_the_level():
    venue = a_venue()
    session = a_session(venue)
    venue.clock.passed_s = 20 * 60

    assert left_s(venue, session) == 0.0
    assert left_s(venue, replace(session, clock=replace(session.clock, stood_s=60.0))) == 60.0
