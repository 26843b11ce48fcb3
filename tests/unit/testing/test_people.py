from __future__ import annotations

from dataclasses import replace

from tests.fakes.venue import a_session, a_venue, an_event, exchange, failed

from theodolite.domain import plan
from theodolite.domain.dialogue import HeldBy
from theodolite.domain.failure import FailureKind, Party
from theodolite.domain.people.participant import PersonProfile
from theodolite.domain.people.withdrawal import Withdrawal
from theodolite.testing.people import counted, event_sessions, failures_of, pseudonym
from theodolite.testing.planning import draw_plan
from theodolite.usecases.people.leaving import withdraw
from theodolite.usecases.people.sitting import end_session
from theodolite.usecases.people.talking import finish, say


def sessions_of(venue, of=None):
    study = of or venue.study
    return event_sessions(study, draw_plan(study)[1], venue.store.held(study.name))


def test_cells_in_which_nothing_was_said_are_sessions_that_are_missing():
    sessions = sessions_of(a_venue())

    assert [sessions.label(place) for place in range(len(sessions))] == ["p001", "p002", "p003", "p004"]
    assert {sessions.setting(place).held_by for place in range(len(sessions))} == {HeldBy.PERSON}
    assert {sessions.setting(place).kind for place in range(len(sessions))} == {plan.TesterKind.SEAT}


def test_a_dialogue_fills_its_cell_and_a_second_one_is_another_session():
    venue = a_venue()
    session = a_session(venue)
    exchange(venue, session)
    end_session(venue, session.key)

    sessions = sessions_of(venue)
    assert len(sessions) == 4
    assert sessions.setting(0).cluster == pseudonym(venue.study, "p1") != "p1"
    assert sessions.pair_key(0) == next(venue.store.dialogues(venue.run)).pair_key
    assert sessions.find("p001") == 0
    assert sessions[-1].label == "p004"


def test_dialogues_are_split_by_what_people_say_of_themselves():
    venue = a_venue(an_event(groups=("age",)))
    venue.store.keep_profile("p1", PersonProfile(groups={"age": "60-69"}), now=venue.clock.now())
    exchange(venue, a_session(venue))

    assert sessions_of(venue).setting(0).groups == {"age": "60-69"}


def test_dialogues_about_another_version_do_not_count():
    venue = a_venue()
    exchange(venue, a_session(venue))
    (scenario,) = venue.study.scenarios
    told = replace(venue.study, scenarios=(replace(scenario, instructions={"red teaming": "Mended words."}),))
    packet = replace(scenario.packet, prohibited=("endings",))
    other = replace(venue.study, scenarios=(replace(scenario, packet=packet),))

    assert len(counted(told, venue.store.held("small"))) == 1
    assert counted(other, venue.store.held("small")) == ()


def test_an_application_that_never_answered_is_a_failure_and_a_withdrawal_is_named():
    venue = a_venue(an_event(people=3))
    for who in ("p1", "p2", "p3"):
        session = a_session(venue, who)
        if who == "p1":
            finish(venue, say(venue, session.key, "Hello?")[0].key, failed())
        else:
            exchange(venue, session)
        end_session(venue, session.key)
    withdraw(venue, "p2", Withdrawal.REMOVE)

    found = failures_of(venue.study, venue.store.held("small"))

    assert [(one.label, one.party, one.kind) for one in found] == [
        ("p001", Party.APPLICATION, FailureKind.TIMED_OUT),
        ("p002", Party.PERSON, FailureKind.WITHDRAWN),
    ]
    assert "10.0.0.7" not in found[0].message
