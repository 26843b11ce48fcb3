"""Leaving: a person goes, and what was said stays or is taken back."""

from __future__ import annotations

from collections.abc import Callable

from theodolite.assessment.capture.personal import mask_personal
from theodolite.domain.dialogue import Ending
from theodolite.domain.people.session import Session, SessionState
from theodolite.domain.people.withdrawal import Tombstone, Withdrawal
from theodolite.usecases.people.ending import end_open_dialogue
from theodolite.usecases.people.venue import Venue


def leave(venue: Venue, participant: str, *, seated: Callable[[Session], Venue] | None = None) -> None:
    """End everything that a person has begun in a study, and give the seats to whoever comes next.

    What was said stays. Sessions that had not begun are interrupted as well: nobody will hold them.

    Args:
        venue: Where.
        participant: Opaque key of the person.
        seated: From a session to the event as it was when the session was made; `venue` for all where left out.
    """
    for session in venue.store.sessions_of(participant):
        if session.study == venue.study.name and not session.is_over:
            end_open_dialogue(seated(session) if seated else venue, session, Ending.TESTER_LEFT)
            venue.store.revise_session(
                session.key, lambda known: known.over(SessionState.INTERRUPTED, venue.clock.now())
            )
    for level in {session.level for session in venue.store.sessions_of(participant)}:
        venue.store.free_seat(venue.study.name, participant, level)


def withdraw(
    venue: Venue, participant: str, kind: Withdrawal, *, seated: Callable[[Session], Venue] | None = None
) -> Tombstone:
    """Take everything back that a person said and answered in a study, and return what is left: a count.

    What is anonymised is ended first, so that it counts; whoever knows who the
    person is forgets the key afterwards.
    """
    if kind is Withdrawal.ANONYMISE:
        leave(venue, participant, seated=seated)
    return venue.store.withdraw(venue.study.name, participant, kind, now=venue.clock.now(), mask=mask_personal)
