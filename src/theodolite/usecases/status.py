"""Looking at a run from outside, while it goes on or after."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from theodolite.domain.run import Run, UnitKind, UnitState
from theodolite.domain.status import PACE_S, Status
from theodolite.ports.store import Store


def status_of(store: Store, study: str, now: datetime) -> Status:
    """Return where the latest run of a study stands; nothing is written.

    Args:
        store: The database; it need not be started.
        study: Name of the study.
        now: The present moment; UTC.

    Raises:
        NotFound: If the study was never run here.
    """
    run = store.latest_run(study)
    return Status(
        run=run,
        sessions=_units(store, run, UnitKind.SESSION),
        annotations=_units(store, run, UnitKind.ANNOTATION),
        failed=Counter(failure.party for failure in store.failures(run)),
        spent=store.spending(run),
        pace=store.pace(run, since=max(run.started, now - timedelta(seconds=PACE_S)), until=now),
        calls=store.calls_so_far(run),
    )


def _units(store: Store, run: Run, kind: UnitKind) -> dict[str, int]:
    """Return units by state; what a worker left behind that is gone waits for the next one."""
    counted, orphans = store.count_units(run, kind), store.count_orphans(run, kind)
    leased, waiting = counted[UnitState.LEASED] - orphans, counted[UnitState.WAITING] + orphans
    return counted | {UnitState.LEASED: leased, UnitState.WAITING: waiting}
