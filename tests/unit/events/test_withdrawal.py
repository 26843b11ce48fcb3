from __future__ import annotations

from tests.fakes.event import RED, a_session, all_sessions, an_open_event, exchange

from theodolite.domain.people.session import SessionState
from theodolite.domain.people.withdrawal import Withdrawal
from theodolite.events.sessions import end_session, prepare_session
from theodolite.events.withdrawal import leave, withdraw


def test_who_leaves_keeps_what_was_said_and_frees_the_seat():
    event = an_open_event()
    all_sessions(event, "p1", RED)
    exchange(event, a_session(event))
    leave(event, "p1")

    states = [session.state for session in event.sessions.in_study("small")]
    assert states == [SessionState.INTERRUPTED, SessionState.INTERRUPTED]
    assert len(list(event.store.dialogues(event.run))) == 1
    assert prepare_session(event, "p2", RED, 0).seat == 0


def test_what_is_removed_is_left_as_a_count():
    event = an_open_event()
    session = a_session(event)
    exchange(event, session)
    end_session(event, session.key)

    left = withdraw(event, "p1", Withdrawal.REMOVE)

    assert (left.sessions, left.dialogues) == (1, 1)
    assert list(event.store.dialogues(event.run)) == []
    assert [held.session.state for held in event.dialogues.summaries("small")] == [SessionState.WITHDRAWN]
    assert event.sessions.of_participant("p1") == []


def test_what_is_anonymised_stays_and_leads_to_nobody():
    event = an_open_event()
    exchange(event, a_session(event), "I am ana@example.org. May I?")
    withdraw(event, "p1", Withdrawal.ANONYMISE)

    (dialogue,) = event.store.dialogues(event.run)
    assert dialogue.turns[0].prompt == f"I am {'•' * 15}. May I?"
    assert event.sessions.of_participant("p1") == []
