"""Topics in an event: which sessions somebody is not offered, which seat suits, and what comes after heavy ones.

Seats keep their cells whatever people would rather not meet: who avoids a topic gets
the free seat that has the fewest sessions on it, and the seat that was passed over
stays for whoever does not mind. So the design stays balanced as long as people enough
come, and where they do not, the empty sessions are counted and not filled by others.

After a session on a heavy topic one without comes next, where the seat has one left.
The rule looks at topics and never at applications or at what they did: all seats
that meet scenarios in the same order are turned alike, so that each application
still comes equally often at each place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from theodolite.domain.identity import digest
from theodolite.domain.plan import Cell, Slot
from theodolite.domain.session import Session
from theodolite.domain.study import Study
from theodolite.domain.study_parts import TopicTally, scenarios_of
from theodolite.testing.assigning import AllocationDesign, allocation_design, people_levels, planned_slots


def topics_version(study: Study) -> str:
    """Return the hash of what people are asked about topics; empty where a study has none.

    With other topics, or other words, they are asked again.
    """
    told = (f"{topic.name} {topic.weight.value} {topic.about} {' '.join(topic.scenarios)}" for topic in study.topics)
    return digest("topics", *told) if study.topics else ""


def n_avoided(design: AllocationDesign, number: int, stratum: str, avoided: Collection[str]) -> int:
    """Return how many sessions of a seat would not be offered to somebody; count.

    Args:
        design: Of the level.
        number: Number of the seat, from 0.
        stratum: Part of the people that is balanced by itself.
        avoided: Scenarios that the person would rather not meet.
    """
    return sum(cell.scenario in avoided for cell in design.cells(number, stratum))


def best_number(
    design: AllocationDesign, taken: Collection[int], most: int, stratum: str, avoided: Collection[str]
) -> int | None:
    """Return the free number that has the fewest sessions on what somebody avoids, the lowest of these.

    Args:
        design: Of the level.
        taken: Numbers that others have.
        most: Numbers that there are; count.
        stratum: Part of the people that is balanced by itself.
        avoided: Scenarios that the person would rather not meet.

    Returns:
        The number; None where every session of every free one is about something avoided, or none is free.
    """
    free = (number for number in range(most) if number not in taken)
    costs = {number: n_avoided(design, number, stratum, avoided) for number in free}
    suited = [number for number, cost in costs.items() if cost < design.sessions]
    return min(suited, key=lambda number: (costs[number], number), default=None)


def place_after(
    scenarios: Sequence[str], over: Sequence[int], avoided: Collection[str], heavy: Collection[str]
) -> int | None:
    """Return the place of the session that comes next, from 0; None where nothing is left.

    It is the first one of the seat that is not over, unless the session before it was
    heavy: then the first one that is not.

    Args:
        scenarios: The scenario at each place of the seat.
        over: Places of sessions that are over, in the order in which they were held.
        avoided: Scenarios that the person would rather not meet.
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
    """Return what it cost the balance of an event that people need not meet its topics, a topic each.

    Args:
        study: What is tested.
        seats: Those that somebody has.
        sessions: Those that were made.
        avoided: Everybody who was asked, to the names of the topics that they would rather not meet.
    """
    held = tuple(seats)
    spared, free = list(spared_cells(study, held, sessions, avoided)), list(_free_cells(study, held))
    return tuple(
        TopicTally(
            topic=topic.name,
            weight=topic.weight,
            n_asked=len(avoided),
            n_people=sum(topic.name in names for names in avoided.values()),
            n_spared=sum(
                cell.scenario in topic.scenarios and topic.name in avoided[seat.participant] for seat, cell in spared
            ),
            n_free=sum(cell.scenario in topic.scenarios for cell in free),
        )
        for topic in study.topics
    )


def spared_cells(
    study: Study, seats: Iterable[Slot], sessions: Iterable[Session], avoided: Mapping[str, AbstractSet[str]]
) -> Iterator[tuple[Slot, Cell]]:
    """Yield the cells that the holder of a seat is not offered, since they are about something avoided.

    Args:
        study: What is tested.
        seats: Those that somebody has.
        sessions: Those that were made; one that was begun before somebody chose was offered.
        avoided: Everybody who was asked, to the names of the topics that they would rather not meet.
    """
    begun = {
        (session.participant, session.level, session.place) for session in sessions if session.clock.started is not None
    }
    designs = {plan.level: allocation_design(study, plan) for plan in people_levels(study)}
    for seat in seats:
        names = avoided.get(seat.participant)
        if not names or seat.level not in designs:
            continue
        scenarios = scenarios_of(study.topics, names)
        for index, cell in enumerate(designs[seat.level].cells(seat.number, seat.stratum)):
            if cell.scenario in scenarios and (seat.participant, seat.level, index) not in begun:
                yield seat, cell


def _free_cells(study: Study, seats: Iterable[Slot]) -> Iterator[Cell]:
    held = {(seat.level, seat.stratum, seat.number) for seat in seats}
    for plan in people_levels(study):
        design = allocation_design(study, plan)
        for seat in planned_slots(plan):
            if (seat.level, seat.stratum, seat.number) not in held:
                yield from design.cells(seat.number, seat.stratum)
