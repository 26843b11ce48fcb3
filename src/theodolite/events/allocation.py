"""Allocation: which slot of the design a participant has, and which of its sessions comes next."""

from __future__ import annotations

from collections.abc import Callable, Collection

from theodolite.domain.dialogue import Level
from theodolite.domain.people.event import LevelPlan
from theodolite.domain.people.session import Session
from theodolite.domain.people.slot import Cell, Slot
from theodolite.domain.people.topic import heavy_scenarios, scenarios_of
from theodolite.events.context import EventContext
from theodolite.events.rules import started_order
from theodolite.testing.assigning import allocation_design, people_levels
from theodolite.testing.topics import best_number, place_after


def capacity_left(event: EventContext, level: Level, stratum: str | None) -> int:
    """Return how many more participants a level has room for; count.

    Args:
        event: The event.
        level: Level of testing.
        stratum: A user type with a quota, or "" for all others; None for all strata together.
    """
    plan = next((plan for plan in people_levels(event.study) if plan.level is level), None)
    if plan is None:
        return 0
    strata = [*plan.quotas, ""] if stratum is None else [stratum]
    occupied = [slot.stratum for slot in event.sessions.allocations(event.study.name) if slot.level is level]
    return sum(max(plan.places(name) - occupied.count(name), 0) for name in strata)


def stratum_of(event: EventContext, participant: str, plan: LevelPlan) -> str:
    """Return the stratum of a participant: the user type if the level has a quota for it, else ""."""
    profile = event.participants.profile(participant)
    user_type = profile.user_type.value if profile and profile.user_type else ""
    return user_type if user_type in plan.quotas else ""


def avoided_scenarios(event: EventContext, participant: str) -> frozenset[str]:
    """Return the scenarios that touch a topic which a participant opted out of."""
    topics = event.study.topics
    if not topics:
        return frozenset()
    return scenarios_of(topics, event.participants.avoided_topics(event.study.name, participant))


def slot_choice(event: EventContext, participant: str, level: Level) -> Callable[[Collection[int]], int | None]:
    """Return a function from the occupied slots to the free slot with the fewest avoided sessions."""
    plan = event.level_plan(level)
    design, stratum = allocation_design(event.study, plan), stratum_of(event, participant, plan)
    avoided = avoided_scenarios(event, participant)

    def best(occupied: Collection[int]) -> int | None:
        return best_number(design, occupied, plan.places(stratum), stratum, avoided)

    return best


def allocate(event: EventContext, participant: str, level: Level) -> Slot:
    """Allocate a slot of a level to a participant; one who has a slot keeps it.

    Of the free slots it is the one with the fewest sessions on topics that the participant
    opted out of, and the lowest of these.

    Raises:
        InputError: If no people take part in the level.
        Conflict: If all slots that the participant could take are occupied, or none is suitable.
    """
    plan = event.level_plan(level)
    stratum = stratum_of(event, participant, plan)
    choose = slot_choice(event, participant, level) if event.study.topics else None
    most = plan.places(stratum)
    return event.sessions.allocate(event.study.name, participant, level, stratum, most=most, choose=choose)


def planned_cells(event: EventContext, participant: str, level: Level) -> tuple[Cell, ...]:
    """Return the cells of a participant's slot, or of the slot that would be allocated now; empty if none suits.

    Sessions that exist keep their cell, even if the study has changed since.
    """
    plan = event.level_plan(level)
    design, slot = allocation_design(event.study, plan), _slot_of(event, participant, level)
    if slot is None:
        stratum = stratum_of(event, participant, plan)
        number = slot_choice(event, participant, level)(_occupied(event, level, stratum))
        return () if number is None else design.cells(number, stratum)
    made = {session.place: session for session in _sessions_in(event, participant, level)}
    return tuple(
        Cell(scenario=made[number].scenario, application=made[number].application) if number in made else cell
        for number, cell in enumerate(design.cells(slot.number, slot.stratum))
    )


def next_session_index(event: EventContext, participant: str, level: Level) -> int | None:
    """Return the index of a participant's next session, from 0; None if no session without an avoided topic is left."""
    cells, heavy = planned_cells(event, participant, level), heavy_scenarios(event.study.topics)
    ended = [session for session in _sessions_in(event, participant, level) if session.is_over]
    done = [session.place for session in sorted(ended, key=started_order)]
    return place_after([cell.scenario for cell in cells], done, avoided_scenarios(event, participant), heavy)


def expected_sessions(event: EventContext, participant: str, level: Level, sessions: Collection[Session]) -> int:
    """Return how many sessions a participant will have: all of the slot but those that avoided topics exclude; count.

    Args:
        event: The event.
        participant: Opaque key of the participant.
        level: Level of testing.
        sessions: The participant's sessions of the level.
    """
    started = {session.place for session in sessions if session.clock.started}
    avoided = avoided_scenarios(event, participant)
    cells = planned_cells(event, participant, level)
    return sum(number in started or cell.scenario not in avoided for number, cell in enumerate(cells))


def _slot_of(event: EventContext, participant: str, level: Level) -> Slot | None:
    slots = event.sessions.allocations(event.study.name)
    return next((slot for slot in slots if slot.participant == participant and slot.level is level), None)


def _occupied(event: EventContext, level: Level, stratum: str) -> set[int]:
    slots = event.sessions.allocations(event.study.name)
    return {slot.number for slot in slots if slot.level is level and slot.stratum == stratum}


def _sessions_in(event: EventContext, participant: str, level: Level) -> list[Session]:
    return [session for session in event.sessions_of(participant) if session.level is level]
