"""Seating: which seat a person has or would take, and which of its sessions comes next."""

from __future__ import annotations

from collections.abc import Callable, Collection

from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError
from theodolite.domain.people.event import LevelPlan
from theodolite.domain.people.seat import Cell, Seat
from theodolite.domain.people.session import Session
from theodolite.domain.people.topic import heavy_scenarios, scenarios_of
from theodolite.testing.assigning import people_levels, seat_design
from theodolite.testing.topics import best_number, place_after
from theodolite.usecases.people.venue import Venue


def level_plan(venue: Venue, level: Level) -> LevelPlan:
    """Return what a level is to hold.

    Raises:
        InputError: If no people take part in it.
    """
    for plan in people_levels(venue.study):
        if plan.level is level:
            return plan
    message = f"no people take part in {level.value}; give the level some in the study: `people: 20`"
    raise InputError(message)


def places_left(venue: Venue, level: Level, stratum: str | None) -> int:
    """Return how many further people a level has room for; count.

    Args:
        venue: Where.
        level: Level of testing.
        stratum: A type of user with a quota, or "" for the rest; None for all parts together.
    """
    plan = next((plan for plan in people_levels(venue.study) if plan.level is level), None)
    if plan is None:
        return 0
    parts = [*plan.quotas, ""] if stratum is None else [stratum]
    taken = [seat.stratum for seat in venue.store.seats(venue.study.name) if seat.level is level]
    return sum(max(plan.places(part) - taken.count(part), 0) for part in parts)


def stratum_of(venue: Venue, participant: str, plan: LevelPlan) -> str:
    """Return the part of the people that a person is balanced with: the type of user, where the level has a quota."""
    profile = venue.store.profile(participant)
    said = profile.user_type.value if profile and profile.user_type else ""
    return said if said in plan.quotas else ""


def avoided_scenarios(venue: Venue, participant: str) -> frozenset[str]:
    """Return the scenarios that touch what a person would rather not meet; none where there are no topics."""
    topics = venue.study.topics
    return scenarios_of(topics, venue.store.avoided_by(venue.study.name, participant)) if topics else frozenset()


def seat_choice(venue: Venue, participant: str, level: Level) -> Callable[[Collection[int]], int | None]:
    """Return what chooses the free seat that suits a person best, from the numbers that others have."""
    plan = level_plan(venue, level)
    design, stratum = seat_design(venue.study, plan), stratum_of(venue, participant, plan)
    avoided = avoided_scenarios(venue, participant)

    def best(taken: Collection[int]) -> int | None:
        return best_number(design, taken, plan.places(stratum), stratum, avoided)

    return best


def own_cells(venue: Venue, participant: str, level: Level) -> tuple[Cell, ...]:
    """Return the cells of the seat that a person has, or would take now; empty where none would suit.

    Sessions that were made stand as they were made, whatever the study says by now.
    """
    plan = level_plan(venue, level)
    design, seat = seat_design(venue.study, plan), _seat_of(venue, participant, level)
    if seat is None:
        stratum = stratum_of(venue, participant, plan)
        number = seat_choice(venue, participant, level)(_taken(venue, level, stratum))
        return () if number is None else design.cells(number, stratum)
    made = {one.place: one for one in venue.store.sessions_of(participant) if _is_in(one, venue, level)}
    return tuple(
        Cell(scenario=made[place].scenario, application=made[place].application) if place in made else cell
        for place, cell in enumerate(design.cells(seat.number, seat.stratum))
    )


def next_place(venue: Venue, participant: str, level: Level) -> int | None:
    """Return the place of the session that a person holds next, from 0; None where nothing is left for them."""
    cells, heavy = own_cells(venue, participant, level), heavy_scenarios(venue.study.topics)
    mine = [one for one in venue.store.sessions_of(participant) if _is_in(one, venue, level) and one.is_over]
    over = [one.place for one in sorted(mine, key=begun_at)]
    return place_after([cell.scenario for cell in cells], over, avoided_scenarios(venue, participant), heavy)


def begun_at(session: Session) -> tuple[float, int]:
    """Return what sessions are sorted by, the one that was begun first first; those never begun come before all."""
    return session.clock.started.timestamp() if session.clock.started else 0.0, session.place


def _seat_of(venue: Venue, participant: str, level: Level) -> Seat | None:
    seats = venue.store.seats(venue.study.name)
    return next((seat for seat in seats if seat.participant == participant and seat.level is level), None)


def _taken(venue: Venue, level: Level, stratum: str) -> set[int]:
    seats = venue.store.seats(venue.study.name)
    return {seat.number for seat in seats if seat.level is level and seat.stratum == stratum}


def _is_in(session: Session, venue: Venue, level: Level) -> bool:
    return session.study == venue.study.name and session.level is level
