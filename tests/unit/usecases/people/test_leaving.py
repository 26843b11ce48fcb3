from __future__ import annotations

from tests.fakes.venue import RED, a_session, a_venue, all_sessions, exchange

from theodolite.domain.people.session import SessionState
from theodolite.domain.people.withdrawal import Withdrawal
from theodolite.usecases.people.leaving import leave, withdraw
from theodolite.usecases.people.sitting import end_session, prepare_session


def test_who_leaves_keeps_what_was_said_and_frees_the_seat():
    venue = a_venue()
    all_sessions(venue, "p1", RED)
    exchange(venue, a_session(venue))
    leave(venue, "p1")

    states = [session.state for session in venue.store.sessions("small")]
    assert states == [SessionState.INTERRUPTED, SessionState.INTERRUPTED]
    assert len(list(venue.store.dialogues(venue.run))) == 1
    assert prepare_session(venue, "p2", RED, 0).seat == 0


def test_what_is_removed_is_left_as_a_count():
    venue = a_venue()
    session = a_session(venue)
    exchange(venue, session)
    end_session(venue, session.key)

    left = withdraw(venue, "p1", Withdrawal.REMOVE)

    assert (left.sessions, left.dialogues) == (1, 1)
    assert list(venue.store.dialogues(venue.run)) == []
    assert [held.session.state for held in venue.store.held("small")] == [SessionState.WITHDRAWN]
    assert venue.store.sessions_of("p1") == []


def test_what_is_anonymised_stays_and_leads_to_nobody():
    venue = a_venue()
    exchange(venue, a_session(venue), "I am ana@example.org. May I?")
    withdraw(venue, "p1", Withdrawal.ANONYMISE)

    (dialogue,) = venue.store.dialogues(venue.run)
    assert dialogue.turns[0].prompt == f"I am {'•' * 15}. May I?"
    assert venue.store.sessions_of("p1") == []
