from __future__ import annotations

from dataclasses import replace

from tests.fakes.event import a_session, an_event, an_open_event, exchange, failed
from theodolite.domain import plan
from theodolite.domain.dialogue import TesterType
from theodolite.domain.event import PersonProfile
from theodolite.domain.event_record import Withdrawal
from theodolite.domain.run import FailureKind, FailureSource
from theodolite.events.chat import finish_turn, send_prompt
from theodolite.events.sessions import end_session, withdraw
from theodolite.testing.people import counted, event_sessions, failures_of, pseudonym
from theodolite.testing.planning import draw_plan


def sessions_of(event, of=None):
    study = of or event.study
    return event_sessions(study, draw_plan(study)[1], event.dialogues.summaries(study.name))


def test_cells_without_messages_are_missing_sessions():
    sessions = sessions_of(an_open_event())

    assert [sessions.label(place) for place in range(len(sessions))] == ["p001", "p002", "p003", "p004"]
    assert {sessions.setting(place).held_by for place in range(len(sessions))} == {TesterType.PERSON}
    assert {sessions.setting(place).kind for place in range(len(sessions))} == {plan.TesterKind.SLOT}


def test_a_dialogue_fills_its_cell_and_a_second_one_is_another_session():
    event = an_open_event()
    session = a_session(event)
    exchange(event, session)
    end_session(event, session.key)

    sessions = sessions_of(event)
    assert len(sessions) == 4
    assert sessions.setting(0).cluster == pseudonym(event.study, "p1") != "p1"
    assert sessions.pair_key(0) == next(event.store.dialogues(event.run)).pair_key
    assert sessions.find("p001") == 0
    assert sessions[-1].label == "p004"


def test_dialogues_are_split_by_attributes_of_testers():
    event = an_open_event(an_event(groups=("age",)))
    event.participants.add_profile("p1", PersonProfile(groups={"age": "60-69"}), now=event.clock.now())
    exchange(event, a_session(event))

    assert sessions_of(event).setting(0).groups == {"age": "60-69"}


def test_dialogues_about_another_version_do_not_count():
    event = an_open_event()
    exchange(event, a_session(event))
    (scenario,) = event.study.scenarios
    told = replace(event.study, scenarios=(replace(scenario, instructions={"red teaming": "Mended words."}),))
    packet = replace(scenario.packet, prohibited=("endings",))
    other = replace(event.study, scenarios=(replace(scenario, packet=packet),))

    assert len(counted(told, event.dialogues.summaries("small"))) == 1
    assert counted(other, event.dialogues.summaries("small")) == ()


def test_an_application_without_replies_is_a_failure_and_a_withdrawal_is_named():
    event = an_open_event(an_event(people=3))
    for who in ("p1", "p2", "p3"):
        session = a_session(event, who)
        if who == "p1":
            finish_turn(event, send_prompt(event, session.key, "Hello?")[0].key, failed())
        else:
            exchange(event, session)
        end_session(event, session.key)
    withdraw(event, "p2", Withdrawal.REMOVE)

    found = failures_of(event.study, event.dialogues.summaries("small"))

    assert [(one.label, one.party, one.kind) for one in found] == [
        ("p001", FailureSource.APPLICATION, FailureKind.TIMED_OUT),
        ("p002", FailureSource.PERSON, FailureKind.WITHDRAWN),
    ]
    assert "10.0.0.7" not in found[0].message
