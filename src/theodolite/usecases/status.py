"""Looking at a run from outside, while it goes on or after."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from theodolite.domain.run import UnitKind
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
        sessions=store.count_units(run, UnitKind.SESSION),
        annotations=store.count_units(run, UnitKind.ANNOTATION),
        failed=Counter(failure.party for failure in store.failures(run)),
        spent=store.spending(run),
        pace=store.pace(run, since=max(run.started, now - timedelta(seconds=PACE_S)), until=now),
    )
