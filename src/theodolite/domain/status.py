"""Status: where a run stands and how fast it goes, as somebody sees who does not take part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.failure import Party
from theodolite.domain.run import Run, Spending, UnitState

PACE_S = 60.0
"""Length of the stretch that a pace is taken from; seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPace:
    """What a run did lately.

    Attributes:
        calls: Replies stored in the stretch; count.
        units: Dialogues and annotations stored in it; count.
        over_s: Length of the stretch; seconds. Shorter than asked for where the run began within it.
    """

    calls: int = 0
    units: int = 0
    over_s: float = PACE_S

    @property
    def calls_per_s(self) -> float:
        """Calls a second."""
        return self.calls / self.over_s if self.over_s > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Where a run stands at one moment.

    Attributes:
        run: The run.
        sessions: Session units by state; counts.
        annotations: Annotation units by state; counts.
        failed: Failures by whose fault they are; counts.
        spent: What it has cost so far.
        pace: How fast it went lately.
    """

    run: Run
    sessions: Mapping[str, int]
    annotations: Mapping[str, int]
    failed: Mapping[Party, int] = field(default_factory=dict)
    spent: Spending = field(default_factory=Spending)
    pace: RunPace = field(default_factory=RunPace)

    @property
    def open_units(self) -> int:
        """Units that have brought neither a result nor a failure; count."""
        kinds = (self.sessions, self.annotations)
        return sum(kind.get(state, 0) for kind in kinds for state in (UnitState.WAITING, UnitState.LEASED))

    @property
    def is_going_on(self) -> bool:
        """Whether somebody works on it: whoever stops gives back all units, and what the dead hold is not counted."""
        return any(kind.get(UnitState.LEASED, 0) for kind in (self.sessions, self.annotations))

    @property
    def is_moving(self) -> bool:
        """Whether something was stored lately."""
        return bool(self.pace.calls or self.pace.units)

    @property
    def left_s(self) -> float | None:
        """Time left at the present pace; seconds, None while nothing moves."""
        if not self.open_units:
            return 0.0
        if not self.is_going_on:
            return None
        return self.open_units * self.pace.over_s / self.pace.units if self.pace.units else None
