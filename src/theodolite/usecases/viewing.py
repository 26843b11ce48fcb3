"""Runs as a person follows them: state, progress, cost and time left of each run of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from theodolite.domain.run import RunState, UnitState
from theodolite.domain.status import Status
from theodolite.ports.store import Store
from theodolite.usecases.running import status_of


class RunActivity(StrEnum):
    """What a run is doing now."""

    RUNNING = "running"
    SILENT = "running, no reply for a minute"
    STOPPED = "stopped"
    PARTIAL = "first dialogues done"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitProgress:
    """Progress of the dialogues or of the annotations of a run; counts.

    Attributes:
        done: Units with a result.
        failed: Units that failed.
        total: Units of the run so far.
    """

    done: int
    failed: int
    total: int

    @property
    def over(self) -> int:
        """Units with a result or a failure; count."""
        return self.done + self.failed

    @property
    def percent(self) -> int:
        """Share of units that are over, rounded down; 0 to 100."""
        return 100 * self.over // self.total if self.total else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """A run with its progress at one moment.

    Attributes:
        status: Counts, cost and pace.
        at: The moment; UTC.
    """

    status: Status
    at: datetime

    @property
    def number(self) -> int:
        """Number of the run among those of its study."""
        return self.status.run.number

    @property
    def activity(self) -> RunActivity:
        """What the run is doing."""
        if self.status.run.state is RunState.FINISHED:
            return RunActivity.FINISHED
        if not self.status.is_going_on:
            return RunActivity.STOPPED if self.status.open_units or not self.sessions.total else RunActivity.PARTIAL
        return RunActivity.RUNNING if self.status.is_moving else RunActivity.SILENT

    @property
    def is_active(self) -> bool:
        """Whether a process works on the run."""
        return self.activity in {RunActivity.RUNNING, RunActivity.SILENT}

    @property
    def sessions(self) -> UnitProgress:
        """Progress of the dialogues."""
        return _progress(self.status.sessions)

    @property
    def annotations(self) -> UnitProgress:
        """Progress of the annotations."""
        return _progress(self.status.annotations)

    @property
    def ends(self) -> datetime | None:
        """When the run ends at the present pace; UTC, None if unknown or not running."""
        left_s = self.status.left_s
        return None if left_s is None or not self.is_active else self.at + timedelta(seconds=left_s)


def _progress(states: Mapping[str, int]) -> UnitProgress:
    return UnitProgress(
        done=states.get(UnitState.DONE, 0), failed=states.get(UnitState.FAILED, 0), total=sum(states.values())
    )


def runs_of(store: Store, study: str, now: datetime) -> tuple[RunProgress, ...]:
    """Return the runs of a study, the latest first; nothing is written.

    Args:
        store: The database; it need not be started.
        study: Name of the study.
        now: The present moment; UTC.
    """
    runs = sorted(store.runs(study), key=lambda run: run.number, reverse=True)
    return tuple(RunProgress(status=status_of(store, study, now, run=run), at=now) for run in runs)
