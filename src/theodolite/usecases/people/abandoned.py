"""Abandoned: sessions that nobody will end, since their person is gone and their time is up."""

from __future__ import annotations

from datetime import timedelta

from theodolite.domain.dialogue import Ending
from theodolite.domain.people.session import Session, SessionState
from theodolite.usecases.people.sitting import end_session
from theodolite.usecases.people.talking import left_s
from theodolite.usecases.people.venue import Venue

GRACE = timedelta(minutes=10)
"""How long somebody whose time is up may take to end the session; from then on it is ended for the person."""


def is_abandoned(venue: Venue, session: Session) -> bool:
    """Tell whether a session goes on although its time was up a while ago; nobody could say anything in it.

    Args:
        venue: The event as it was when the session was made.
        session: The session.
    """
    is_going_on = session.state is SessionState.ACTIVE
    return is_going_on and left_s(venue, session, venue.clock.now() - GRACE) == 0


def end_abandoned(venue: Venue, session: Session) -> Session:
    """End a session together with its open dialogue, so that what was said in it counts."""
    return end_session(venue, session.key, ending=Ending.INTERRUPTED)
