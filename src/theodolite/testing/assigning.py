"""Assignment of applications and scenarios to the slots of people, in an order.

The cells of a slot depend on the study's seed, the level and the number alone: adding people
moves no other person, and the next holder of a slot gets the cells of its first holder. Numbers are assigned
block by block: after every full block each cell has occurred equally often at each position of the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import lcm
from typing import TYPE_CHECKING, TypeVar

from theodolite.domain.application import RecordedFile
from theodolite.domain.choices import Assignment
from theodolite.domain.dialogue import Level
from theodolite.domain.identity import keyed_draw
from theodolite.domain.plan import Cell, Slot
from theodolite.domain.shown_order import williams_rows
from theodolite.domain.study import Study

if TYPE_CHECKING:  # loaded by studies that have one
    from theodolite.domain.event import LevelPlan

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocationDesign:
    """The seeded design of one level.

    Attributes:
        level: The level.
        applications: Names of the applications, in order of the study.
        scenarios: Names of the scenarios for people of the level.
        sessions: Sessions of each seat; count.
        assignment: Whether each seat tests all applications or one.
        seed: Every draw depends on it.
        bound: Scenarios of applications that are tested in only some of them, by application.
    """

    level: Level
    applications: tuple[str, ...]
    scenarios: tuple[str, ...]
    sessions: int
    assignment: Assignment = Assignment.WITHIN_SUBJECTS
    seed: int = 1
    bound: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def block(self) -> int:
        """Return the number of slots until every cell has occurred equally often at each position; count."""
        numbers = [len(self._scenarios_of(name, self.scenarios)) for name in self.applications]
        if self.assignment is Assignment.WITHIN_SUBJECTS:
            return len(williams_rows(len(self.applications))) * lcm(*numbers)
        return lcm(*(len(williams_rows(n)) for n in numbers)) * len(self.applications)

    def _scenarios_of(self, application: str, scenarios: Sequence[str]) -> tuple[str, ...]:
        """Return the scenarios in which an application is tested, in their order."""
        own = self.bound.get(application)
        return tuple(name for name in scenarios if own is None or name in own)

    def cells(self, number: int, stratum: str = "") -> tuple[Cell, ...]:
        """Return the sessions of a seat, in order.

        Within subjects a seat tests all applications of one scenario before it
        continues with the next scenario; an application that is bound to scenarios is tested in
        its own, in turn. Orders are those of a Williams design: each
        application follows each other one equally often. Between subjects a slot
        tests one application in one scenario after the other.

        Args:
            number: Number of the slot, from 0.
            stratum: Part of the people that is balanced separately.

        Source:
            Williams, E. J. (1949), Experimental designs balanced for the estimation
            of residual effects of treatments, Australian Journal of Scientific
            Research A 2:149-168.
        """
        block, position = divmod(number, self.block())
        position = self._shuffled(range(self.block()), f"block {block}", stratum)[position]
        applications = self._shuffled(self.applications, "applications", stratum)
        scenarios = self._shuffled(self.scenarios, "scenarios", stratum)
        if self.assignment is Assignment.WITHIN_SUBJECTS:
            own = [self._scenarios_of(name, scenarios) for name in applications]
            pairs = _in_turn(applications, own, position, self.sessions)
            return tuple(Cell(scenario=scenario, application=application) for application, scenario in pairs)
        order, which = divmod(position, len(applications))
        met = self._scenarios_of(applications[which], scenarios)
        rows = williams_rows(len(met))
        return tuple(
            Cell(scenario=met[rows[order % len(rows)][at % len(met)]], application=applications[which])
            for at in range(self.sessions)
        )

    def _shuffled(self, items: Sequence[T], what: str, stratum: str) -> tuple[T, ...]:
        purpose = f"assign {self.level.value} {stratum} {what}"
        order = sorted(range(len(items)), key=lambda at: (keyed_draw(self.seed, purpose, str(at)), at))
        return tuple(items[at] for at in order)


def allocation_design(study: Study, plan: LevelPlan) -> AllocationDesign:
    """Return the design of a level of a study with human testers.

    People get the scenarios with instructions for their level; if none
    does, all of them. Recorded applications cannot be met.
    """
    instructed = tuple(scenario.name for scenario in study.scenarios if plan.level.value in scenario.instructions)
    scenarios = instructed or tuple(scenario.name for scenario in study.scenarios)
    live = [application for application in study.applications if not isinstance(application.connection, RecordedFile)]
    tested = [one for one in live if any(map(one.is_tested_in, scenarios))]
    return AllocationDesign(
        level=plan.level,
        applications=tuple(one.name for one in tested),
        scenarios=scenarios,
        bound={one.name: tuple(filter(one.is_tested_in, scenarios)) for one in tested if one.scenarios},
        sessions=plan.sessions,
        assignment=study.event.assign if study.event else Assignment.WITHIN_SUBJECTS,
        seed=study.sampling.seed,
    )


def people_levels(study: Study) -> tuple[LevelPlan, ...]:
    """Return the levels of a study with human testers, in file order."""
    return tuple(plan for plan in study.levels if plan.people)


def planned_slots(plan: LevelPlan) -> tuple[Slot, ...]:
    """Return the seats that a level plans: its quotas, and the rest without a stratum."""
    quotas = dict(plan.quotas)
    rest = plan.people - sum(quotas.values())
    parts = [*quotas.items(), ("", rest)]
    return tuple(
        Slot(level=plan.level, number=number, stratum=stratum) for stratum, n in parts for number in range(max(n, 0))
    )


def _in_turn(
    applications: Sequence[str], scenarios: Sequence[Sequence[str]], place: int, sessions: int
) -> list[tuple[str, str]]:
    """Return application and scenario of each session of a seat that tests all applications.

    Args:
        applications: The applications.
        scenarios: The scenarios that each of them is tested in.
        place: Position of the slot in its block.
        sessions: Sessions of the slot; count.
    """
    first, order = divmod(place, len(williams_rows(len(applications))))
    rows = williams_rows(len(applications))
    met = []
    for at in range(sessions):
        passed, column = divmod(at, len(applications))
        # Each scenario has a different order, so that no application always comes first.
        which = rows[(order + passed) % len(rows)][column]
        own = scenarios[which]
        met.append((applications[which], own[(first + passed) % len(own)]))
    return met
