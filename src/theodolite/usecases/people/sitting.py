"""Sitting: a person's sessions from the seat to the last word."""

from __future__ import annotations

import secrets

from theodolite.domain.dialogue import Ending, Level
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.identity import keyed_draw, version_of
from theodolite.domain.people.seat import Cell, Seat
from theodolite.domain.people.session import Session, SessionState
from theodolite.testing.assigning import seat_design
from theodolite.testing.people import scenario_sight
from theodolite.usecases.people.ending import end_open_dialogue
from theodolite.usecases.people.seating import level_plan, seat_choice, stratum_of
from theodolite.usecases.people.venue import Venue

LETTERS = "BCDGHJKLMNPQRSTVWXZ"
"""Letters that applications are told apart by in one person's sessions."""


def prepare_session(venue: Venue, participant: str, level: Level, place: int) -> Session:
    """Return the session of a person at a place of a level; it is made, and waits, where there is none yet.

    The person takes the free seat of the level that has the fewest sessions on what the
    person would rather not meet, the lowest of these, and keeps it.

    Args:
        venue: Where.
        participant: Opaque key of the person.
        level: Level of testing.
        place: Place among the person's sessions, from 0.

    Raises:
        InputError: If no people take part in the level, or it has no such place.
        Conflict: If all places that the person could take are taken, or none suits.
    """
    known = _session_at(venue, participant, level, place)
    if known is not None:
        return known
    plan = level_plan(venue, level)
    if not 0 <= place < plan.sessions:
        message = f"people hold {plan.sessions} sessions of {level.value} each; there is no session {place + 1}"
        raise InputError(message)
    stratum = stratum_of(venue, participant, plan)
    choose = seat_choice(venue, participant, level) if venue.study.topics else None
    most = plan.places(stratum)
    seat = venue.store.take_seat(venue.study.name, participant, level, stratum, most=most, choose=choose)
    cell = seat_design(venue.study, plan).cells(seat.number, seat.stratum)[place]
    session = _session(venue, seat, place, cell)
    try:
        venue.store.keep_session(session)
    except Conflict:  # made by another request in the meantime
        return _session_at(venue, participant, level, place) or session
    return session


def begin_session(venue: Venue, key: str, *, language: str = "") -> Session:
    """Let the clock of a session run; one that runs goes on.

    Args:
        venue: Where.
        key: Key of the session.
        language: In which the person reads the study, as a tag; empty where that is not known.

    Raises:
        InputError: If the session is over.
        NotFound: If there is none of that key.
    """
    return venue.store.revise_session(key, lambda known: known.begun(venue.clock.now(), language))


def reset(venue: Venue, key: str, ending: Ending = Ending.TESTER_LEFT) -> None:
    """End the open dialogue of a session, if there is one: what is said next begins another one.

    What was said stays, and is a dialogue like any other from now on.

    Raises:
        NotFound: If there is no session of that key.
    """
    end_open_dialogue(venue, venue.store.session(key), ending)


def end_session(
    venue: Venue, key: str, *, task_done: bool | None = None, ending: Ending = Ending.TESTER_LEFT
) -> Session:
    """End a session together with its open dialogue.

    It has failed when something was said in it and the application answered nothing.

    Args:
        venue: Where.
        key: Key of the session.
        task_done: Whether the person says that the task was completed; None while not said.
        ending: Why the dialogue ended: the person's wish, or a limit.

    Raises:
        NotFound: If there is no session of that key.
    """
    reset(venue, key, ending)
    dialogues = venue.store.live_dialogues(key)
    failed = bool(dialogues) and not any(one.unit for one in dialogues)
    state = SessionState.FAILED if failed else SessionState.COMPLETE

    def ended(known: Session) -> Session:
        return known.over(state, venue.clock.now()).told(task_done)

    return venue.store.revise_session(key, ended)


def _session_at(venue: Venue, participant: str, level: Level, place: int) -> Session | None:
    mine = venue.store.sessions_of(participant)
    at = (one for one in mine if (one.study, one.level, one.place) == (venue.study.name, level, place))
    return next(at, None)


def _session(venue: Venue, seat: Seat, place: int, cell: Cell) -> Session:
    study = venue.study
    return Session(
        key=secrets.token_hex(32),
        study=study.name,
        edition=version_of(study),
        run=venue.run.key,
        participant=seat.participant,
        level=seat.level,
        scenario=cell.scenario,
        scenario_version=scenario_sight(study.scenario(cell.scenario)),
        application=cell.application,
        application_version=study.application_version(cell.application),
        seat=seat.number,
        place=place,
        stratum=seat.stratum,
        alias=f"Application {_letter(seat.participant, seat.level, place)}",
    )


def _letter(participant: str, level: Level, place: int) -> str:
    """Return a letter that differs between the first sessions of a person and tells nothing of the application."""
    order = sorted(LETTERS, key=lambda letter: keyed_draw(0, f"alias {participant} {level.value}", letter))
    return order[place % len(order)]
