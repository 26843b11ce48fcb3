"""Sessions whose person is gone and whose time is up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.venue import a_session, a_venue, an_event, exchange

from theodolite.domain.people.event import Event
from theodolite.domain.people.session import Pauser, SessionState
from theodolite.usecases.people.abandoned import end_abandoned, is_abandoned

MINUTE_S = 60


@pytest.mark.parametrize(("minutes", "expected"), [(19, False), (21, False), (29, False), (31, True)])
def test_a_session_is_abandoned_some_minutes_after_its_time_was_up(minutes: int, expected: bool) -> None:
    venue = a_venue()
    session = a_session(venue)
    venue.clock.passed_s += minutes * MINUTE_S

    assert is_abandoned(venue, venue.store.session(session.key)) is expected


def test_a_pause_does_not_count_until_the_level_has_closed() -> None:
    venue = a_venue(an_event(event=Event(closes="2999-01-01T00:00")))
    session = a_session(venue)
    now = venue.clock.now()
    paused = venue.store.revise_session(session.key, lambda known: known.paused(Pauser.TESTER, now))
    venue.clock.passed_s += 600 * MINUTE_S
    closed = replace(venue, study=replace(venue.study, event=Event(closes="2001-01-01T00:00")))

    assert not is_abandoned(venue, paused)
    assert is_abandoned(closed, paused)


def test_what_was_said_in_it_counts() -> None:
    venue = a_venue()
    session = a_session(venue)
    exchange(venue, session)

    assert end_abandoned(venue, session).state is SessionState.COMPLETE
    assert [bool(one.unit) for one in venue.store.held(venue.study.name)] == [True]
