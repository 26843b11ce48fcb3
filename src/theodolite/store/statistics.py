"""Counts of the whole database for monitoring systems: runs, units, failures, cost, workers, sessions, annotations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from django.db import connection
from django.db.models import Count, Max, Q

from theodolite.domain.run import RunState, Spending
from theodolite.ports.progress import Sample
from theodolite.store.fields import DatabaseClock
from theodolite.store.models import FailureRow, RunRow, UnitRow
from theodolite.store.models.runs import WorkerRow

COST_INTERVAL_S = 60.0
"""Time for which the cost of an unfinished run is cached; seconds.

The sum reads all replies of the run, and monitoring systems ask several times a minute.
"""

_BY_STUDY = {
    "sessions": "SELECT study, state, COUNT(*) FROM store_session GROUP BY study, state",
    "annotation_items": (
        "SELECT q.study, i.state, COUNT(*) FROM store_work_item i JOIN store_queue q ON q.id = i.queue_id"
        " GROUP BY q.study, i.state"
    ),
}
"""Tables of people, in SQL: a process without participants does not load their models (ADR-0044)."""


class Statistics:
    """Reads the counts of one database; called on a thread that is bound to it."""

    def __init__(
        self, spending_of: Callable[[int], Spending], monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Set the function that sums a run's cost, and the clock."""
        self._spending_of = spending_of
        self._monotonic_s = monotonic_s
        self._spent: dict[int, tuple[float, Spending]] = {}

    def read(self) -> list[Sample]:
        """Return all counts; those of units, failures and cost concern the latest run of each study."""
        newest = RunRow.objects.values("study").annotate(last=Max("id")).values_list("last", flat=True)
        runs = list(RunRow.objects.filter(id__in=list(newest)).values_list("id", "study", "number", "state"))
        labels = {run: {"study": study, "run": str(number)} for run, study, number, _ in runs}
        return [
            *_of_runs(),
            *_of_units(labels),
            *_of_failures(labels),
            *self._of_cost(runs),
            *_of_workers(labels),
            *_of_people(),
        ]

    def _of_cost(self, runs: list[tuple[int, str, int, str]]) -> Iterator[Sample]:
        for run, study, number, state in runs:
            spent = self._cost_of(run, is_finished=state == RunState.FINISHED.value)
            of_run = {"study": study, "run": str(number)}
            yield Sample("run_cost_usd", of_run, spent.cost_microusd / 1e6)
            yield Sample("run_calls", of_run, spent.calls)
            yield Sample("run_calls_without_price", of_run, spent.unpriced_calls)
            yield Sample("run_tokens", {**of_run, "direction": "input"}, spent.tokens_in)
            yield Sample("run_tokens", {**of_run, "direction": "output"}, spent.tokens_out)

    def _cost_of(self, run: int, *, is_finished: bool) -> Spending:
        now_s = self._monotonic_s()
        until_s, spent = self._spent.get(run, (now_s, None))
        if spent is None or now_s >= until_s:
            spent = self._spending_of(run)
            self._spent[run] = (now_s + COST_INTERVAL_S * (10 if is_finished else 1), spent)
        return spent


def _of_runs() -> Iterator[Sample]:
    for study, state, n in RunRow.objects.values_list("study", "state").annotate(n=Count("id")):
        yield Sample("runs", {"study": study, "state": state}, n)


def _of_units(labels: dict[int, dict[str, str]]) -> Iterator[Sample]:
    units = UnitRow.objects.filter(run_id__in=list(labels))
    ready: dict[tuple[int, str], int] = dict.fromkeys(((run, kind) for run in labels for kind in _KINDS), 0)
    for run, kind, state, is_ready, n in units.values_list("run_id", "kind", "state", "ready").annotate(n=Count("id")):
        ready[run, kind] += n if state == "waiting" and is_ready else 0
        yield Sample("units", {**labels[run], "kind": kind, "state": state, "ready": "yes" if is_ready else "no"}, n)
    for (run, kind), n in ready.items():
        yield Sample("queue_depth", {**labels[run], "kind": kind}, n)
    expired = Count("id", filter=Q(lease_until__lt=DatabaseClock()))
    leases = units.filter(lease_until__isnull=False).values_list("run_id", "kind")
    counted = {(run, kind): (n, late) for run, kind, n, late in leases.annotate(n=Count("id"), late=expired)}
    for run, kind in ready:
        n, late = counted.get((run, kind), (0, 0))
        yield Sample("leases", {**labels[run], "kind": kind}, n)
        yield Sample("leases_expired", {**labels[run], "kind": kind}, late)


_KINDS = ("session", "annotation")


def _of_failures(labels: dict[int, dict[str, str]]) -> Iterator[Sample]:
    failures = FailureRow.objects.filter(struck=False, unit__run_id__in=list(labels))
    for run, party, kind, endpoint, n in failures.values_list("unit__run_id", "party", "kind", "endpoint").annotate(
        n=Count("id")
    ):
        yield Sample("failures", {**labels[run], "source": party, "reason": kind, "endpoint": endpoint}, n)


def _of_workers(labels: dict[int, dict[str, str]]) -> Iterator[Sample]:
    alive = WorkerRow.objects.filter(until__gte=DatabaseClock(), run_id__in=list(labels))
    n_alive = dict(alive.values_list("run_id").annotate(n=Count("id")))
    for run, of_run in labels.items():
        yield Sample("workers", of_run, n_alive.get(run, 0))


def _of_people() -> Iterator[Sample]:
    with connection.cursor() as cursor:
        for name, statement in _BY_STUDY.items():
            cursor.execute(statement)
            for study, state, n in cursor.fetchall():
                yield Sample(name, {"study": study, "state": state}, n)
