from __future__ import annotations

from dataclasses import replace

import pytest
from tests.contract.given import a_person_session, a_plan, a_study
from tests.fakes.clock import FakeClock
from tests.fakes.event import FIELD, RED, a_session, all_sessions, an_event, an_open_event, answered, exchange, failed
from tests.fresh_stores import fresh_store

from theodolite.domain.choices import TopicWeight, UserType
from theodolite.domain.dialogue import Ending, TesterType, TurnState
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import AcknowledgedText, BreakRule, Event, Exposure, LevelPlan, PersonProfile
from theodolite.domain.event_record import Withdrawal
from theodolite.domain.identity import digest
from theodolite.domain.live import LiveEnding
from theodolite.domain.persona import Attempt, AttemptOutcome, Strategy
from theodolite.domain.scenario import Scenario
from theodolite.domain.session import Pauser, SessionState
from theodolite.domain.study_parts import SensitiveTopic
from theodolite.events.chat import finish_turn, send_prompt, session_time_left_s
from theodolite.events.context import EventContext
from theodolite.events.sessions import (
    ERROR_TEXT,
    STOPPED_TEXT,
    capacity_left,
    end_abandoned_session,
    end_session,
    expected_sessions,
    exposure_of,
    is_limit_reached,
    is_session_abandoned,
    leave,
    next_session_index,
    opt_out,
    planned_cells,
    prepare_session,
    reset,
    withdraw,
)


def held_dialogues(event):
    return list(event.store.dialogues(event.run))


def test_a_participant_tests_each_application_once_under_different_pseudonyms():
    event = an_open_event()
    first, second = all_sessions(event, "p1", RED)

    assert {first.application, second.application} == {"blue", "green"}
    assert first.alias != second.alias
    assert not {"blue", "green"} & {first.alias.split()[-1].lower(), second.alias.split()[-1].lower()}


def test_a_session_is_created_once():
    event = an_open_event()

    assert prepare_session(event, "p1", RED, 0) == prepare_session(event, "p1", RED, 0)


@pytest.mark.parametrize(("level", "place"), [(FIELD, 0), (RED, 2), (RED, -1)])
def test_no_session_is_created_where_the_study_plans_none(level, place):
    with pytest.raises(InputError):
        prepare_session(an_open_event(), "p1", level, place)


def test_types_of_users_with_a_quota_have_separate_slots():
    plan = LevelPlan(level=RED, people=4, sessions=1, quotas={"domain expert": 2})
    event = an_open_event(an_event(levels=(plan,)))
    event.participants.add_profile("p2", PersonProfile(user_type=UserType.DOMAIN_EXPERT), now=event.clock.now())

    seats = [prepare_session(event, who, RED, 0) for who in ("p1", "p2", "p3")]

    assert [(session.stratum, session.slot) for session in seats] == [("", 0), ("domain expert", 0), ("", 1)]


def test_a_completed_dialogue_is_part_of_the_run():
    event = an_open_event()
    session = a_session(event)
    exchange(event, session, "May I?", "You may.")
    ended = end_session(event, session.key, task_done=True)

    (dialogue,) = held_dialogues(event)
    assert (ended.state, ended.task_done) == (SessionState.COMPLETE, True)
    assert (dialogue.label, dialogue.held_by, dialogue.level) == ("p001", TesterType.PERSON, RED)
    assert (dialogue.cluster, dialogue.ending) == ("p1", Ending.TESTER_LEFT)
    assert [(turn.prompt, turn.response, turn.latency_s) for turn in dialogue.turns] == [("May I?", "You may.", 0.5)]


def test_a_reset_starts_another_dialogue_in_the_same_session():
    event = an_open_event()
    session = a_session(event)
    exchange(event, session)
    reset(event, session.key)
    exchange(event, session)
    end_session(event, session.key)

    assert [(one.label, one.repeat) for one in held_dialogues(event)] == [("p001", 1), ("p002", 2)]
    assert not reset(event, session.key)


def test_the_same_participant_at_the_same_position_is_a_pair_across_applications():
    event = an_open_event()
    for place in (0, 1):
        session = a_session(event, place=place)
        exchange(event, session)
        end_session(event, session.key)
    other = a_session(event, "p2")
    exchange(event, other)
    end_session(event, other.key)

    first, second, third = held_dialogues(event)
    assert first.pair_key == second.pair_key != third.pair_key
    assert first.application != second.application


def test_errors_and_stops_are_recorded_in_the_dialogue_in_neutral_words():
    event = an_open_event()
    session = a_session(event)
    exchange(event, session)
    finish_turn(event, send_prompt(event, session.key, "And now?")[0].key, failed())
    stopped = send_prompt(event, session.key, "Hello?")[0]
    finish_turn(event, stopped.key, answered("", state=TurnState.INTERRUPTED))
    end_session(event, session.key)

    (dialogue,) = held_dialogues(event)
    assert [turn.response for turn in dialogue.turns] == ["You may.", ERROR_TEXT, STOPPED_TEXT]
    assert [turn.state for turn in dialogue.turns] == [TurnState.COMPLETE, TurnState.ERROR, TurnState.INTERRUPTED]


def test_a_session_in_which_the_application_never_answered_has_failed():
    event = an_open_event()
    session = a_session(event)
    finish_turn(event, send_prompt(event, session.key, "Hello?")[0].key, failed())

    assert end_session(event, session.key).state is SessionState.FAILED
    assert held_dialogues(event) == []


def test_a_session_without_messages_is_complete_and_has_no_dialogue():
    event = an_open_event()
    session = a_session(event)

    assert end_session(event, session.key).state is SessionState.COMPLETE
    assert event.dialogues.summaries("small") == []


def test_strategies_of_a_red_teamer_are_stored_with_the_dialogue():
    event = an_open_event()
    session = a_session(event)
    exchange(event, session)
    (live,) = event.dialogues.of_session(session.key)
    tried = Attempt(description="my gran", outcome=AttemptOutcome.RELEASED, turn=1)
    event.dialogues.set_strategies(live.key, [Strategy(name="role_play", dialogue=live.key, attempts=(tried,))])
    end_session(event, session.key)

    (dialogue,) = held_dialogues(event)
    assert dialogue.strategies == (Strategy(name="role_play", dialogue=dialogue.key, attempts=(tried,)),)


def test_replies_interrupted_by_a_dead_server_end_as_interrupted():
    event = an_open_event()
    session = a_session(event)
    turn, _ = send_prompt(event, session.key, "Hello?")
    event.dialogues.save_partials({turn.key: "Good mor"})

    assert event.dialogues.interrupt_all() == 1
    end_session(event, session.key)

    (said,) = held_dialogues(event)[0].turns
    assert (said.prompt, said.response, said.state) == ("Hello?", "Good mor", TurnState.INTERRUPTED)


def test_a_session_with_its_own_name_is_recorded_under_it():
    event = an_open_event()
    session = a_session(event)
    turn = exchange(event, session, "Who are you?", "I am ChatGPT, made by OpenAI.")

    assert turn.claims == ("ChatGPT", "OpenAI")
    assert turn.response == "I am ChatGPT, made by OpenAI."


def test_time_is_up_after_the_limit_of_the_level():
    event = an_open_event()
    session = a_session(event)
    event.clock.passed_s = 20 * 60

    assert session_time_left_s(event, session) == 0.0
    assert session_time_left_s(event, replace(session, clock=replace(session.clock, stood_s=60.0))) == 60.0


MINUTE_S = 60


@pytest.mark.parametrize(("minutes", "expected"), [(19, False), (21, False), (29, False), (31, True)])
def test_a_session_is_abandoned_some_minutes_after_its_time_limit(minutes: int, expected: bool) -> None:
    event = an_open_event()
    session = a_session(event)
    event.clock.passed_s += minutes * MINUTE_S

    assert is_session_abandoned(event, event.sessions.get(session.key)) is expected


def test_a_pause_counts_only_until_the_level_has_closed() -> None:
    event = an_open_event(an_event(event=Event(closes="2999-01-01T00:00")))
    session = a_session(event)
    now = event.clock.now()
    paused = event.sessions.update(session.key, lambda known: known.paused(Pauser.TESTER, now))
    event.clock.passed_s += 600 * MINUTE_S
    closed = replace(event, study=replace(event.study, event=Event(closes="2001-01-01T00:00")))

    assert not is_session_abandoned(event, paused)
    assert is_session_abandoned(closed, paused)


def test_messages_of_a_closed_level_count() -> None:
    event = an_open_event()
    session = a_session(event)
    exchange(event, session)

    assert end_abandoned_session(event, session).state is SessionState.COMPLETE
    assert [bool(one.unit) for one in event.dialogues.summaries(event.study.name)] == [True]


TOPIC = SensitiveTopic(name="grief", scenarios=("funeral",))


def test_a_level_has_as_many_slots_as_the_study_plans():
    event = an_open_event()
    free = capacity_left(event, RED, None)
    a_session(event, "p1")

    assert (free, capacity_left(event, RED, None), capacity_left(event, FIELD, None)) == (2, 1, 0)


def test_a_slot_preview_shows_the_cells_of_its_participant():
    event = an_open_event()
    promised = planned_cells(event, "p1", RED)

    made = all_sessions(event, "p1")

    assert [(cell.scenario, cell.application) for cell in promised] == [(one.scenario, one.application) for one in made]
    assert planned_cells(event, "p1", RED) == promised


def test_the_next_session_is_the_first_unfinished_one():
    event = an_open_event()
    before = next_session_index(event, "p1", RED)
    end_session(event, a_session(event, "p1").key)
    after = next_session_index(event, "p1", RED)
    end_session(event, a_session(event, "p1", 1).key)

    assert (before, after, next_session_index(event, "p1", RED)) == (0, 1, None)


def test_sessions_on_avoided_topics_are_not_expected_unless_they_have_started():
    study = an_event(sessions=4, topics=(TOPIC,), scenarios=(Scenario(name="shop"), Scenario(name="funeral")))
    event = an_open_event(study)
    opt_out(event, "p1", ["grief"])

    assert expected_sessions(event, "p1", RED, ()) == 2
    assert expected_sessions(event, "p2", RED, ()) == 4


def test_a_participant_who_withdraws_keeps_their_data_and_frees_the_slot():
    event = an_open_event()
    all_sessions(event, "p1", RED)
    exchange(event, a_session(event))
    leave(event, "p1")

    states = [session.state for session in event.sessions.in_study("small")]
    assert states == [SessionState.INTERRUPTED, SessionState.INTERRUPTED]
    assert len(list(event.store.dialogues(event.run))) == 1
    assert prepare_session(event, "p2", RED, 0).slot == 0


def test_removed_data_leaves_a_count():
    event = an_open_event()
    session = a_session(event)
    exchange(event, session)
    end_session(event, session.key)

    left = withdraw(event, "p1", Withdrawal.REMOVE)

    assert (left.sessions, left.dialogues) == (1, 1)
    assert list(event.store.dialogues(event.run)) == []
    assert [held.session.state for held in event.dialogues.summaries("small")] == [SessionState.WITHDRAWN]
    assert event.sessions.of_participant("p1") == []


def test_anonymised_data_is_kept_and_cannot_be_linked():
    event = an_open_event()
    exchange(event, a_session(event), "I am ana@example.org. May I?")
    withdraw(event, "p1", Withdrawal.ANONYMISE)

    (dialogue,) = event.store.dialogues(event.run)
    assert dialogue.turns[0].prompt == f"I am {'•' * 15}. May I?"
    assert event.sessions.of_participant("p1") == []


GRIM = SensitiveTopic(name="grim", weight=TopicWeight.HEAVY, scenarios=("forum",))


SHOP, FORUM = Scenario(name="shop", turns=4), Scenario(name="forum", turns=4)


def venue_with(*scenarios: Scenario, people: int = 4):
    return an_open_event(replace(an_event(people=people, scenarios=scenarios or (FORUM, SHOP)), topics=(GRIM,)))


def test_a_participant_with_opt_outs_gets_a_suitable_slot_and_leaves_the_other_free() -> None:
    event = venue_with()
    opt_out(event, "p1", ["grim"])
    mine = all_sessions(event, "p1", RED)
    others = [prepare_session(event, who, RED, 0).slot for who in ("p2", "p3", "p4")]

    assert {session.scenario for session in mine} == {"shop"}
    assert sorted([mine[0].slot, *others]) == [0, 1, 2, 3]


def test_an_unused_slot_is_exchanged_for_a_suitable_one() -> None:
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


def test_an_active_session_ends_without_questions_and_its_dialogue_counts() -> None:
    event = venue_with(FORUM)
    session = a_session(event)
    exchange(event, session)

    (ended,) = opt_out(event, "p1", ["grim"])

    assert event.sessions.get(ended.key).state is SessionState.INTERRUPTED
    assert [one.unit != "" for one in event.dialogues.summaries(event.study.name)] == [True]
    assert next_session_index(event, "p1", RED) is None


def test_a_participant_who_avoids_everything_has_no_slot_until_they_change_it() -> None:
    event = venue_with(FORUM)
    opt_out(event, "p1", ["grim"])
    assert next_session_index(event, "p1", RED) is None
    with pytest.raises(Conflict):
        prepare_session(event, "p1", RED, 0)

    opt_out(event, "p1", [])

    assert next_session_index(event, "p1", RED) == 0
    assert prepare_session(event, "p1", RED, 0).slot == 0


def test_the_request_for_opt_outs_is_recorded_regardless_of_the_choice() -> None:
    event = venue_with()
    opt_out(event, "p1", [])

    (given,) = event.participants.acknowledgements("p1")
    assert given.subject is AcknowledgedText.TOPICS
    assert event.participants.avoided_topics_in(event.study.name) == {"p1": frozenset()}


def test_an_unknown_topic_is_refused() -> None:
    with pytest.raises(InputError, match="grim"):
        opt_out(venue_with(), "p1", ["grime"])


def test_exposure_sums_all_sessions_and_a_new_session_is_a_break():
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


def test_the_exposure_limit_is_that_of_the_study_and_absent_by_default():
    limited = an_open_event(an_event(event=Event(breaks=BreakRule(most_severe=1))))
    free = an_open_event()
    for event in (limited, free):
        turn = exchange(event, a_session(event))
        event.dialogues.mark_turn(turn.key, broke=True)

    assert is_limit_reached(limited, "p1")
    assert not is_limit_reached(limited, "p2")
    assert not is_limit_reached(free, "p1")
