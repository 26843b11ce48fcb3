"""Failures stored and read back, with what their last calls have cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import Count, Q, Sum

from theodolite.domain.failure import Failure, FailureKind, Party
from theodolite.domain.run import Spending
from theodolite.store.models import FailureRow
from theodolite.store.repair import n_repaired
from theodolite.store.writes import KeepFailure

_COSTS = ("attempts", "tokens_in", "tokens_out", "cost_microusd", "unpriced_calls")


def keep_failures(writes: Sequence[KeepFailure], ids: Mapping[str, int], now: datetime) -> None:
    """Store failures.

    Args:
        writes: What is to be stored.
        ids: Numbers of the units' rows by key.
        now: The present moment.
    """
    FailureRow.objects.bulk_create(
        FailureRow(
            unit_id=ids[write.unit.key],
            label=write.failure.label,
            application=write.failure.application,
            party=write.failure.party.value,
            kind=write.failure.kind.value,
            message=write.failure.message,
            turn=write.failure.turn,
            annotator=write.failure.annotator,
            endpoint=write.failure.endpoint,
            tries=write.failure.tries,
            repaired=n_repaired(write.failure.message),
            created=now,
            **{name: getattr(write.failure.spent, name) for name in _COSTS},
        )
        for write in writes
    )


def failures_of(unit_ids: Sequence[int]) -> list[Failure]:
    """Return the valid failures of some units, in the order of the units."""
    rows = FailureRow.objects.filter(unit_id__in=unit_ids, struck=False).select_related("unit")
    found = {row.unit_id: _failure(row) for row in rows}
    return [found[unit_id] for unit_id in unit_ids if unit_id in found]


def spent_on_failures(run_id: int) -> Spending:
    """Return what the calls that ended a run's units have cost, those that were tried again since included."""
    sums = {name: Sum(name, default=0) for name in _COSTS}
    made = Count("id", filter=Q(attempts__gt=0))  # first, since a sum takes the name of the column that it asks about
    return Spending(**FailureRow.objects.filter(unit__run_id=run_id).aggregate(calls=made, **sums))


def _failure(row: FailureRow) -> Failure:
    return Failure(
        unit=row.unit.key,
        label=row.label,
        application=row.application,
        party=Party(row.party),
        kind=FailureKind(row.kind),
        message=row.message,
        turn=row.turn,
        annotator=row.annotator,
        endpoint=row.endpoint,
        tries=row.tries,
        spent=Spending(calls=int(row.attempts > 0), **{name: getattr(row, name) for name in _COSTS}),
    )
