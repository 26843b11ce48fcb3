"""Availability: opening hours of a level, and topics that people avoid."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum

from theodolite.domain.event import Event, LevelPlan
from theodolite.domain.identity import digest
from theodolite.domain.plan import Cell, Slot
from theodolite.domain.session import Session
from theodolite.domain.study import Study
from theodolite.domain.study_parts import TopicTally, scenarios_of
from theodolite.testing.assigning import AllocationDesign, allocation_design, people_levels, planned_slots


def topics_version(study: Study) -> str:
    """Return the hash of the questions about topics; empty if a study has none.

    If topics or their wording change, people are asked again.
    """
    topic_texts = (
        f"{topic.name} {topic.weight.value} {topic.about} {' '.join(topic.scenarios)}" for topic in study.topics
    )
    return digest("topics", *topic_texts) if study.topics else ""


def n_avoided(design: AllocationDesign, number: int, stratum: str, avoided: Collection[str]) -> int:
    """Return the sessions of a seat that would not be offered to a person; count.

    Args:
        design: Design of the level.
        number: Number of the slot, from 0.
        stratum: Part of the people that is balanced separately.
        avoided: Scenarios that the person prefers to avoid.
    """
    return sum(cell.scenario in avoided for cell in design.cells(number, stratum))


def best_number(
    design: AllocationDesign, taken: Collection[int], most: int, stratum: str, avoided: Collection[str]
) -> int | None:
    """Return the free number with the fewest sessions on avoided scenarios; the lowest of these.

    Args:
        design: Design of the level.
        taken: Numbers in use.
        most: Numbers that there are; count.
        stratum: Part of the people that is balanced separately.
        avoided: Scenarios that the person prefers to avoid.

    Returns:
        The number; None if every session of every free one is about something avoided, or none is free.
    """
    free = (number for number in range(most) if number not in taken)
    costs = {number: n_avoided(design, number, stratum, avoided) for number in free}
    suited = [number for number, cost in costs.items() if cost < design.sessions]
    return min(suited, key=lambda number: (costs[number], number), default=None)


def place_after(
    scenarios: Sequence[str], over: Sequence[int], avoided: Collection[str], heavy: Collection[str]
) -> int | None:
    """Return the index of the next session, from 0; None if none is left.

    It is the first unfinished one of the slot, unless the preceding session was
    heavy: then it is the first that is not heavy.

    Args:
        scenarios: The scenario at each position of the slot.
        over: Positions of finished sessions, in order of their completion.
        avoided: Scenarios that the person prefers to avoid.
        heavy: Scenarios that touch a heavy topic.

    Example:
        >>> place_after(["grim", "grim", "merry"], [0], (), {"grim"})
        2
        >>> place_after(["grim", "grim", "merry"], [0, 2], (), {"grim"})
        1
    """
    left = [at for at, scenario in enumerate(scenarios) if at not in over and scenario not in avoided]
    lighter = [at for at in left if scenarios[at] not in heavy] if over and scenarios[over[-1]] in heavy else []
    return next(iter(lighter or left), None)


def topic_tallies(
    study: Study, seats: Iterable[Slot], sessions: Iterable[Session], avoided: Mapping[str, AbstractSet[str]]
) -> tuple[TopicTally, ...]:
    """Return the effect of avoided topics on the balance of an event, for each topic.

    Args:
        study: The study.
        seats: Assigned seats.
        sessions: Existing sessions.
        avoided: Avoided topics of each person with an answer.
    """
    slots = tuple(seats)
    not_offered, free = list(cells_not_offered(study, slots, sessions, avoided)), list(_free_cells(study, slots))
    return tuple(
        TopicTally(
            topic=topic.name,
            weight=topic.weight,
            n_asked=len(avoided),
            n_people=sum(topic.name in names for names in avoided.values()),
            n_not_offered=sum(
                cell.scenario in topic.scenarios and topic.name in avoided[slot.participant]
                for slot, cell in not_offered
            ),
            n_free=sum(cell.scenario in topic.scenarios for cell in free),
        )
        for topic in study.topics
    )


def cells_not_offered(
    study: Study, seats: Iterable[Slot], sessions: Iterable[Session], avoided: Mapping[str, AbstractSet[str]]
) -> Iterator[tuple[Slot, Cell]]:
    """Yield the cells that the holder of a seat is not offered, since they are about something avoided.

    Args:
        study: The study.
        seats: Assigned seats.
        sessions: Existing sessions; one that started before the choice counts as offered.
        avoided: Avoided topics of each person with an answer.
    """
    started = {
        (session.participant, session.level, session.place) for session in sessions if session.clock.started is not None
    }
    designs = {plan.level: allocation_design(study, plan) for plan in people_levels(study)}
    for slot in seats:
        names = avoided.get(slot.participant)
        if not names or slot.level not in designs:
            continue
        scenarios = scenarios_of(study.topics, names)
        for index, cell in enumerate(designs[slot.level].cells(slot.number, slot.stratum)):
            if cell.scenario in scenarios and (slot.participant, slot.level, index) not in started:
                yield slot, cell


def _free_cells(study: Study, seats: Iterable[Slot]) -> Iterator[Cell]:
    occupied = {(slot.level, slot.stratum, slot.number) for slot in seats}
    for plan in people_levels(study):
        design = allocation_design(study, plan)
        for slot in planned_slots(plan):
            if (slot.level, slot.stratum, slot.number) not in occupied:
                yield from design.cells(slot.number, slot.stratum)


class Openness(StrEnum):
    """Position of a moment."""

    NOT_YET = "not yet open"
    OPEN = "open"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """When a level is open.

    Attributes:
        opens: From when; None for always.
        closes: Until when, this moment left out; None for no end.
    """

    opens: datetime | None = None
    closes: datetime | None = None

    def at(self, now: datetime) -> Openness:
        """Return the position of a moment."""
        if self.opens is not None and now < self.opens:
            return Openness.NOT_YET
        return Openness.OVER if self.closes is not None and now >= self.closes else Openness.OPEN

    def left_s(self, now: datetime) -> float | None:
        """Return the time until the end; seconds, 0 after it, None if there is none."""
        return None if self.closes is None else max((self.closes - now).total_seconds(), 0.0)


def hours_of(event: Event | None, plan: LevelPlan, zone: tzinfo) -> Hours:
    """Return when a level is open: its own times if it has some, else the event's.

    Args:
        event: The event of the study; None if it has none.
        plan: The level.
        zone: The event's time zone.
    """
    opens = plan.opens or (event.opens if event else "")
    closes = plan.closes or (event.closes if event else "")
    return Hours(opens=_moment(opens, zone), closes=_moment(closes, zone))


def _moment(text: str, zone: tzinfo) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=zone) if text else None
