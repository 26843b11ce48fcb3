"""Workers of a database, and the limits that they share: requests per minute, calls in flight, budgets.

All moments are compared by the database's clock. A worker measures the age of its last request
before it sends a statement, so the database's moment minus that age is never too early.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from django.db import connection, transaction
from django.db.models import Count, F, Sum

from theodolite.domain.run import Spending
from theodolite.domain.study import Budget
from theodolite.domain.text import MICROS
from theodolite.store.executor import Executor
from theodolite.store.fields import DatabaseClock
from theodolite.store.models import SlotLeaseRow, StartBlockRow, UnitRow, WorkerRow
from theodolite.store.statements import database_now, execute, one_at_a_time

if TYPE_CHECKING:  # a run without limits loads none of them
    from theodolite.domain.status import WorkerStatus
    from theodolite.ports.limits import Allowance, BlockRequest, SlotLease, StartBlock, StartReport

Result = TypeVar("Result")

SLOT_LEASE_S = 10.0
"""Duration of a lease of slots; seconds. Short, because the slots of a killed worker stay leased until its end."""

PART = 2
"""Divisor of a worker's share: it leases the free budget divided by `PART` times the number of workers."""

_WORKERS = WorkerRow._meta.db_table  # noqa: SLF001 - Django's own access to a model

_SESSION = 1_416_127_559
"""First number of the locks of sessions, the same in all processes; the second one is the worker's row."""

_KINDS = ("calls", "tokens", "microusd")


def register(run_id: int, owner: str, lease_s: float) -> None:
    """Add a worker of a run, or move one to this run."""
    with transaction.atomic():  # the row is invisible before its lock
        WorkerRow.objects.update_or_create(
            owner=owner,
            defaults={
                "run_id": run_id,
                "host": socket.gethostname(),
                "process": os.getpid(),
                "started": database_now(),
                "until": DatabaseClock() + lease_s,
                **{f"held_{kind}": 0 for kind in _KINDS},
            },
        )
        lock_session(owner)


def lock_session(owner: str) -> bool:
    """Use the PostgreSQL session as the sign that a worker is alive; return whether that works.

    PostgreSQL drops the lock with the connection, which the operating system closes when a process
    is killed. A machine that loses its network or its power leaves the connection open; then the lease
    ends. The lock is free only once the server has noticed the end of an earlier connection.
    """
    if connection.vendor != "postgresql":
        return True
    words = f"SELECT pg_try_advisory_lock(%s, id::int) FROM {_WORKERS} WHERE owner = %s"  # noqa: S608
    return bool((execute(words, [_SESSION, owner]).fetchone() or (False,))[0])


def unlock_session(owner: str) -> None:
    """Drop the lock of a worker that leaves its run."""
    if connection.vendor == "postgresql":
        execute(f"SELECT pg_advisory_unlock(%s, id::int) FROM {_WORKERS} WHERE owner = %s", [_SESSION, owner])  # noqa: S608


def without_session() -> list[str]:
    """Return the registered workers whose PostgreSQL session has ended."""
    if connection.vendor != "postgresql":
        return []
    result = execute(
        f"SELECT owner FROM {_WORKERS} WHERE id NOT IN (SELECT objid::bigint FROM pg_locks "  # noqa: S608
        "WHERE locktype = 'advisory' AND classid = %s AND objsubid = 2 AND granted "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))",
        [_SESSION],
    )
    return [owner for (owner,) in result.fetchall()]


def extend(owner: str, lease_s: float) -> bool:
    """Extend the registration of a worker; return whether it has one."""
    return bool(WorkerRow.objects.filter(owner=owner).update(until=DatabaseClock() + lease_s))


def remove(*owners: str) -> None:
    """Remove workers with their slots and parts of budgets; blocks of requests remain until their minute is over."""
    WorkerRow.objects.filter(owner__in=owners).delete()
    SlotLeaseRow.objects.filter(owner__in=owners).delete()


def n_workers_of(run_id: int) -> int:
    """Return the workers of a run with a current heartbeat; count."""
    return WorkerRow.objects.filter(run_id=run_id, until__gt=DatabaseClock()).count()


class WorkerLimits:
    """Implements `ports.limits.SharedLimits` for one worker."""

    def __init__(self, executor: Executor, owner: str, spending_of: Callable[[int], Spending]) -> None:
        """Start without leases.

        Args:
            executor: Runs the work on the database.
            owner: Name of the worker in the ledger.
            spending_of: Returns the cost of a run by the number of its row.
        """
        self._executor = executor
        self._owner = owner
        self._spending_of = spending_of

    async def take_block(self, request: BlockRequest) -> StartBlock:
        """Report the use of earlier blocks and lease another one."""
        return await self._write(lambda: self._take_block(request))

    async def lease_slots(self, account: str, parallel: int, in_flight: int) -> SlotLease:
        """Lease a fair share of the slots of an account; calls in flight count against the others' shares."""
        return await self._write(lambda: self._lease_slots(account, parallel, in_flight))

    async def allow(self, budget: Budget, committed: Spending, expected: Spending) -> Allowance:
        """Lease a part of the run's budget for this worker."""
        return await self._write(lambda: self._allow(budget, committed, expected))

    async def n_other_workers(self) -> int:
        """Return the number of other workers on this database; count."""
        return await asyncio.to_thread(self._executor.read, self._n_others)

    async def give_back(self) -> None:
        """Return slots and the part of the budget."""
        await self._write(self._give_back)

    async def _write(self, work: Callable[[], Result]) -> Result:
        def in_transaction() -> Result:
            with transaction.atomic():
                return work()

        return await asyncio.to_thread(self._executor.write, in_transaction)

    def _n_others(self) -> int:
        alive = {"until__gt": DatabaseClock()}
        workers = WorkerRow.objects.filter(**alive).exclude(owner=self._owner).values_list("owner")
        slots = SlotLeaseRow.objects.filter(**alive).exclude(owner=self._owner).values_list("owner")
        return len(set(workers.union(slots)))

    def _take_block(self, request: BlockRequest) -> StartBlock:
        from theodolite.ports.limits import StartBlock

        one_at_a_time(f"limit {request.key}")
        for report in request.reports:
            _settle(report, request.span_s)
        blocks = StartBlockRow.objects.filter(limit_key=request.key)
        blocks.filter(until__lt=DatabaseClock()).delete()
        used = blocks.aggregate(n=Count("id"), requests=Sum("requests", default=0), tokens=Sum("tokens", default=0))
        n_workers = len({self._owner, *blocks.values_list("owner", flat=True).distinct()})
        n = _granted(request, used, n_workers) if request.wanted else 0
        if not n:
            return StartBlock(wait_s=_wait_s(request, used), n_workers=n_workers)
        tokens = n * request.tokens_each
        row = StartBlockRow.objects.create(
            limit_key=request.key,
            owner=self._owner,
            requests=n,
            tokens=tokens,
            until=DatabaseClock() + (request.valid_s + request.span_s),
        )
        limit = tokens if request.tokens is not None else None
        return StartBlock(number=row.pk, requests=n, tokens=limit, n_workers=n_workers)

    def _lease_slots(self, account: str, parallel: int, in_flight: int) -> SlotLease:
        from theodolite.ports.limits import SlotLease

        one_at_a_time(f"slots {account}")
        rows = SlotLeaseRow.objects.filter(account=account)
        rows.filter(until__lt=DatabaseClock()).exclude(owner=self._owner).delete()
        others = dict(rows.exclude(owner=self._owner).values_list("owner", "slots"))
        n_workers = len(others) + 1
        fair = max(1, parallel // n_workers)
        # Workers with less than their share will ask for it; those with more keep it until they return it.
        reserved = sum(max(slots, fair) for slots in others.values())
        # At least one slot: a worker that starts after another was killed must not wait for the end of a lease.
        slots = max(1, min(parallel - sum(others.values()), max(fair, parallel - reserved)))
        rows.update_or_create(
            account=account,
            owner=self._owner,
            defaults={"slots": max(slots, in_flight), "until": DatabaseClock() + SLOT_LEASE_S},
        )
        return SlotLease(slots=slots, n_workers=n_workers)

    def _allow(self, budget: Budget, committed: Spending, expected: Spending) -> Allowance:
        from theodolite.ports.limits import Allowance, amounts_of

        run_id = WorkerRow.objects.filter(owner=self._owner).values_list("run_id", flat=True).first()
        if run_id is None:  # before the first lease of a unit nothing is reserved
            return Allowance(calls=0, tokens=0, microusd=0, spent=Spending(), is_contested=True)
        one_at_a_time(f"budget {run_id}")
        others = WorkerRow.objects.filter(run_id=run_id, until__gt=DatabaseClock()).exclude(owner=self._owner)
        in_use = others.aggregate(n=Count("id"), **{kind: Sum(f"held_{kind}", default=0) for kind in _KINDS})
        spent = self._spending_of(run_id)
        parts = PART * (in_use["n"] + 1) if in_use["n"] else 1
        limits = (budget.calls, budget.tokens, None if budget.usd is None else int(budget.usd * MICROS))
        free = [
            None if limit is None else limit - used - in_use[kind] - mine
            for kind, limit, used, mine in zip(_KINDS, limits, amounts_of(spent), amounts_of(committed), strict=True)
        ]
        needed = amounts_of(expected)
        is_enough = all(n is None or not need or need <= n for n, need in zip(free, needed, strict=True))
        part = [
            None if n is None else mine + (max(need, n // parts) if is_enough else 0)
            for n, need, mine in zip(free, needed, amounts_of(committed), strict=True)
        ]
        WorkerRow.objects.filter(owner=self._owner).update(
            **{f"held_{kind}": n or 0 for kind, n in zip(_KINDS, part, strict=True)}
        )
        is_contested = any(in_use[kind] for kind, limit in zip(_KINDS, limits, strict=True) if limit is not None)
        return Allowance(calls=part[0], tokens=part[1], microusd=part[2], spent=spent, is_contested=is_contested)

    def _give_back(self) -> None:
        SlotLeaseRow.objects.filter(owner=self._owner).delete()
        WorkerRow.objects.filter(owner=self._owner).update(**{f"held_{kind}": 0 for kind in _KINDS})


def _settle(report: StartReport, span_s: float) -> None:
    """Correct a block by its use; an unused block leaves the window at once."""
    block = StartBlockRow.objects.filter(pk=report.number)
    if not report.requests:
        block.delete()
        return
    block.update(requests=report.requests, tokens=report.tokens)
    if report.age_s is not None:
        block.update(until=DatabaseClock() + (span_s - report.age_s))


def _granted(request: BlockRequest, used: dict[str, int], n_workers: int) -> int:
    """Return the number of requests in a block; a request that alone exceeds the window waits until it is empty."""
    n = request.wanted
    if request.requests is not None:
        share = max(1, request.requests // (_BLOCKS * n_workers))
        n = min(n, share, request.requests - used["requests"])
    if request.tokens is not None and request.tokens_each:
        share = max(1, request.tokens // (_BLOCKS * n_workers * request.tokens_each))
        n = min(n, share, (request.tokens - used["tokens"]) // request.tokens_each)
    return max(n, 0) if used["n"] else max(n, 1)


_BLOCKS = 8
"""Blocks that the window of one worker is divided into; count."""


def _wait_s(request: BlockRequest, used: dict[str, int]) -> float:
    """Return the time until blocks end that make room for one request; seconds."""
    requests_over = used["requests"] + 1 - request.requests if request.requests is not None else 0
    tokens_over = used["tokens"] + request.tokens_each - request.tokens if request.tokens is not None else 0
    rows = StartBlockRow.objects.filter(limit_key=request.key).order_by("until")
    left_s = 0.0
    for seconds, requests, tokens in rows.annotate(left_s=F("until") - DatabaseClock()).values_list(
        "left_s", "requests", "tokens"
    ):
        if requests_over <= 0 and tokens_over <= 0:
            break
        requests_over, tokens_over, left_s = requests_over - requests, tokens_over - tokens, seconds
    return max(left_s, 0.001)


def workers_of(run_id: int, dead: Callable[[Iterable[str]], list[str]]) -> tuple[WorkerStatus, ...]:
    """Return the workers of a run in order of their start.

    Args:
        run_id: Number of the run's row.
        dead: Returns those of some owners that died on this machine.
    """
    from theodolite.domain.status import WorkerStatus

    rows = list(WorkerRow.objects.filter(run_id=run_id).annotate(left_s=F("until") - DatabaseClock()))
    leased = UnitRow.objects.filter(run_id=run_id, lease_until__isnull=False).values_list("owner")
    units = dict(leased.annotate(n=Count("id")))
    dead_workers = dead(row.owner for row in rows)
    return tuple(
        WorkerStatus(
            name=row.owner,
            host=row.host,
            process=row.process,
            started=row.started,
            units=units.get(row.owner, 0),
            is_alive=row.left_s > 0 and row.owner not in dead_workers,
        )
        for row in sorted(rows, key=lambda row: (row.started, row.owner))
    )
