"""The ledger: runs, their units of work, and the workers that own leases.

The operating system drops a process's file locks when it ends, however it ends. A lease
whose owner's file can be locked is therefore free at once, and an interrupted run continues
without waiting for its leases to expire. Owners on other machines have no file here; their
sessions with PostgreSQL end with their processes, and their leases by the database's clock.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from django.db import connection, transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL
from filelock import FileLock, Timeout

from theodolite.domain.errors import Conflict, NotFound, StoreError
from theodolite.domain.flow import JournalEntry
from theodolite.domain.identity import digest, version_of
from theodolite.domain.plan import Plan
from theodolite.domain.run import Lease, Run, RunState, Unit, UnitKind, UnitState
from theodolite.domain.study import Study
from theodolite.store.contents import Contents, content_of
from theodolite.store.fields import DatabaseClock, clock_words, repaired_text
from theodolite.store.limits import (
    extend,
    lock_session,
    n_workers_of,
    register,
    remove,
    unlock_session,
    without_session,
    workers_of,
)
from theodolite.store.models import FailureRow, RunRow, UnitRow, WorkerRow
from theodolite.store.statements import (
    Row,
    chunks,
    database_now,
    execute,
    insert,
    marks,
    one_at_a_time,
    rows_of,
)

if TYPE_CHECKING:
    from theodolite.domain.status import WorkerStatus

CHUNK = 500
"""Rows that are handled in one statement; count."""


_LIMIT = 1000


_WAITING, _LEASED = UnitState.WAITING.value, UnitState.LEASED.value


_DONE, _FAILED = UnitState.DONE.value, UnitState.FAILED.value


class Ledger:
    """Runs and units of one workspace; called on a thread that is bound to its database."""

    def __init__(self, contents: Contents, owners: Owners, numbers: RowNumbers) -> None:
        """Store the contents, the live owners and the cache of row numbers."""
        self._contents = contents
        self._owners = owners
        self._numbers = numbers
        self._runs: dict[str, int] = {}
        self._registered: dict[str, object] = {}  # the connection with the session that shows that an owner is alive

    def open_run(self, study: Study, plan: Plan, *, new_run: bool) -> Run:
        """Return the latest run of a plan, or start one."""
        kept_study, kept_plan = content_of(study), content_of(plan)
        with transaction.atomic():
            one_at_a_time("runs")
            latest = _latest_of(kept_plan.version)
            if latest is not None and not new_run:
                return _run(latest)
            self._contents.keep([kept_study, kept_plan])
            highest = RunRow.objects.filter(study=study.name).aggregate(highest=Max("number"))["highest"]
            row = RunRow.objects.create(
                key=secrets.token_hex(32),
                study=study.name,
                number=(highest or 0) + 1,
                study_content_id=kept_study.version,
                plan_content_id=kept_plan.version,
                started=database_now(),
            )
        return _run(row)

    def latest_run(self, study_name: str) -> Run:
        """Return the latest run of a study of that name."""
        row = RunRow.objects.filter(study=study_name).order_by("-number").first()
        if row is None:
            message = f"no run of the study `{study_name}` was found in this workspace; run it first"
            raise NotFound(message)
        return _run(row)

    def runs(self, study_name: str) -> list[Run]:
        """Return all runs of studies of that name, in order of their numbers."""
        return [_run(row) for row in RunRow.objects.filter(study=study_name).order_by("number")]

    def open_runs(self) -> list[Run]:
        """Return unfinished runs that workers can join, in order of their start.

        These are the latest run of each study and runs with a worker; older unfinished runs
        were abandoned when the study changed.
        """
        later = RunRow.objects.filter(study=OuterRef("study"), number__gt=OuterRef("number"))
        workers = WorkerRow.objects.filter(run=OuterRef("pk"), until__gt=DatabaseClock())
        unfinished = RunRow.objects.filter(state=RunState.UNFINISHED.value)
        return [_run(row) for row in unfinished.filter(~Exists(later) | Exists(workers)).order_by("id")]

    def run_of(self, plan: Plan) -> Run:
        """Return the latest run of a plan."""
        row = _latest_of(version_of(plan))
        if row is None:
            message = "no run of this plan was found in this workspace; run the study first"
            raise NotFound(message)
        return _run(row)

    def close_run(self, run: Run, state: RunState) -> None:
        """Store how a run ended."""
        finished = database_now() if state is RunState.FINISHED else None
        if not RunRow.objects.filter(key=run.key).update(state=state.value, finished=finished):
            raise NotFound(_no_such_run(run))

    def add_units(self, run: Run, units: Sequence[Unit], *, adopt: bool) -> int:
        """Add a chunk of units to the ledger and return the number of new ones."""
        run_id = id_of_run(run)
        with transaction.atomic():
            one_at_a_time(run.key)
            keys = (bytes.fromhex(unit.key) for unit in units)
            present = {row.key for row in rows_of(UnitRow, "key", keys, columns=("key",))}
            new = list({unit.key: unit for unit in units if unit.key not in present}.values())
            origins = _origins_of(run_id, new) if adopt else {}
            done = _done_among({unit.subject for unit in new if unit.subject})
            insert(UnitRow, [_row(run_id, unit, origins.get(_work(unit)), done) for unit in new])
        return len(new)

    def origins(self, run: Run) -> dict[str, str]:
        """Return the units that took over an earlier result, and from where."""
        adopted = UnitRow.objects.filter(run_id=id_of_run(run), state=_DONE, adopted_from__isnull=False)
        return dict(adopted.values_list("key", "adopted_from__key").iterator())

    def claim(
        self, run: Run, kind: UnitKind, *, owner: str, limit: int, lease_s: float, within: Sequence[int] | None = None
    ) -> list[Unit]:
        """Lease units to an owner."""
        newcomer = self._owners.hold(owner)
        if run.key not in self._runs:
            self._runs[run.key] = id_of_run(run)
        units_of_run = UnitRow.objects.filter(run_id=self._runs[run.key], kind=kind.value)
        requested = _within(units_of_run, within)
        if newcomer:
            # Leases under this name belong to an ended process, because its lock was free.
            self.release(owner)
            self._free_leases_of_the_dead()
        self._show_alive(self._runs[run.key], owner, lease_s)
        limit = self._share(requested, run, limit)
        units = self._lease(requested, owner, limit=limit, lease_s=lease_s)
        if not units and self._free_leases_of_the_dead():
            units = self._lease(requested, owner, limit=limit, lease_s=lease_s)
        return units

    def _show_alive(self, run_id: int, owner: str, lease_s: float) -> None:
        connection.ensure_connection()
        if owner not in self._registered:
            register(run_id, owner, lease_s)
            self._registered[owner] = connection.connection
        self._keep_session(owner)

    def _keep_session(self, owner: str) -> None:
        """Lock the session of a new connection: the lock of the old one was lost with it."""
        if self._registered[owner] is not connection.connection and lock_session(owner):
            self._registered[owner] = connection.connection

    def _share(self, available: QuerySet[UnitRow], run: Run, limit: int) -> int:
        """Return the number of units that a worker leases: fewer near the end, so that no worker hoards the rest."""
        n_workers = n_workers_of(self._runs[run.key])
        if n_workers <= 1:
            return limit
        enough = 2 * limit * n_workers
        # Units of a killed worker count too, or the others would lease them one by one.
        ready = available.filter(state=_WAITING, ready=1), _expired(available)
        n_ready = sum(units.values("id")[:enough].count() for units in ready)
        return min(limit, max(1, n_ready // (2 * n_workers)))

    def _lease(self, available: QuerySet[UnitRow], owner: str, *, limit: int, lease_s: float) -> list[Unit]:
        limit = min(limit, _LIMIT)
        with transaction.atomic():
            # PostgreSQL skips units that other workers are about to lease;
            # SQLite's transactions are isolated by default.
            units = available.select_for_update(skip_locked=True)
            # A worker whose leases expired was suspended, and is still working on these.
            rows = _first(_expired(units).exclude(owner=owner), limit)
            rows += _first(units.filter(state=_WAITING, ready=1), limit - len(rows))
            UnitRow.objects.filter(id__in=[row.id for row in rows]).update(
                state=_LEASED, owner=owner, lease_until=DatabaseClock() + lease_s, tries=F("tries") + 1
            )
            self._numbers.enter({row.key: row.id for row in rows})
        return [_leased(row) for row in sorted(rows, key=lambda row: (row.position, row.id))]

    def _free_leases_of_the_dead(self) -> int:
        names = UnitRow.objects.filter(lease_until__isnull=False).values_list("owner", flat=True).distinct()
        with self._owners.dead_among(names) as dead_here:
            dead = {*dead_here, *without_session()} - self._registered.keys()
            if not dead:
                return 0
            with transaction.atomic():
                one_at_a_time("dead workers")
                remove(*dead)
                return _free(UnitRow.objects.filter(lease_until__isnull=False, owner__in=dead))

    def renew(self, owner: str, lease_s: float) -> frozenset[str]:
        """Extend all leases of an owner, and return the keys of the units that it still leases."""
        rows = UnitRow.objects.filter(lease_until__isnull=False, owner=owner)
        rows.update(lease_until=DatabaseClock() + lease_s)
        if owner in self._registered and not extend(owner, lease_s):
            del self._registered[
                owner
            ]  # others took it for dead while it had no connection; the next lease registers it
        self._free_leases_of_the_dead()
        return frozenset(rows.values_list("key", flat=True))

    def release(self, owner: str) -> None:
        """Release all unfinished units of an owner, and its part of shared limits."""
        unlock_session(owner)
        remove(owner)
        self._registered.pop(owner, None)
        _free(UnitRow.objects.filter(lease_until__isnull=False, owner=owner))

    def reopen(self, units: Sequence[str]) -> None:
        """Queue a chunk of failed units again and delete their failures."""
        with transaction.atomic():
            failed = UnitRow.objects.filter(key__in=units, state=_FAILED)
            ids = list(failed.select_for_update().values_list("id", flat=True))
            FailureRow.objects.filter(unit_id__in=ids, struck=False).update(struck=True)
            UnitRow.objects.filter(id__in=ids).update(state=_WAITING)

    def count_units(self, run: Run, kind: UnitKind) -> dict[str, int]:
        """Return the units by state."""
        units = UnitRow.objects.filter(run_id=id_of_run(run), kind=kind.value)
        counted = units.values_list("state").annotate(n=Count("id"))
        return {state.value: 0 for state in UnitState} | dict(counted)

    def count_open(self, run: Run, kind: UnitKind, *, owner: str, within: Sequence[int] | None = None) -> int:
        """Return the units that an owner can lease now or later: ready units and those of other owners."""
        units = UnitRow.objects.filter(run_id=id_of_run(run), kind=kind.value, ready=1)
        return _within(units, within).filter(Q(state=_WAITING) | Q(state=_LEASED) & ~Q(owner=owner)).count()

    def workers(self, run: Run) -> tuple[WorkerStatus, ...]:
        """Return the workers of a run in order of their start."""
        return workers_of(id_of_run(run), self._seem_dead)

    def count_orphans(self, run: Run, kind: UnitKind) -> int:
        """Return the leased units without a live worker; count."""
        leased = UnitRow.objects.filter(run_id=id_of_run(run), kind=kind.value, state=_LEASED)
        dead = self._seem_dead(leased.values_list("owner", flat=True).distinct())
        return leased.filter(Q(owner__in=dead) | Q(lease_until__lt=DatabaseClock())).count()

    def _seem_dead(self, names: Iterable[str]) -> list[str]:
        return [*self._owners.seem_dead(names), *without_session()]


def _latest_of(plan_version: str) -> RunRow | None:
    return RunRow.objects.filter(plan_content_id=plan_version).order_by("-number").first()


def id_of_run(run: Run) -> int:
    """Return the number of a run's row.

    Raises:
        NotFound: If the run does not belong to this workspace.
    """
    row = RunRow.objects.filter(key=run.key).values_list("id", flat=True).first()
    if row is None:
        raise NotFound(_no_such_run(run))
    return row


def ids_of_units(keys: Iterable[str]) -> dict[str, int]:
    """Return the numbers of units' rows by key.

    Raises:
        NotFound: If one is not in the ledger of this workspace.
    """
    requested = set(keys)
    rows = dict(UnitRow.objects.filter(key__in=list(requested)).values_list("key", "id"))
    if missing := requested - rows.keys():
        message = f"the unit {min(missing)} is not in the ledger; add it before it is worked on"
        raise NotFound(message)
    return rows


def _origins_of(run_id: int, units: Sequence[Unit]) -> dict[tuple[str, str], int]:
    """Return the latest unit of other runs that did the same work, for each unit."""
    done = UnitRow.objects.filter(
        work_key__in=[unit.work_key for unit in units], state=_DONE, adopted_from__isnull=True
    )
    result = done.exclude(run_id=run_id).order_by("id").values_list("kind", "work_key", "id")
    return {(kind, work_key): origin for kind, work_key, origin in result}


def _done_among(keys: set[str]) -> set[str]:
    """Return the completed units; no other unit can complete before the transaction ends."""
    units = UnitRow.objects.filter(key__in=keys).select_for_update()
    return {key for key, state in units.values_list("key", "state") if state == _DONE}


def _first(units: QuerySet[UnitRow], limit: int) -> list[UnitRow]:
    return list(units.order_by("position", "id")[:limit]) if limit > 0 else []


def _within(units: QuerySet[UnitRow], positions: Sequence[int] | None) -> QuerySet[UnitRow]:
    """Return the units at some positions of the plan; a long list is one parameter, which avoids database limits."""
    if positions is None:
        return units
    if isinstance(positions, range) and positions.step == 1:
        return units.filter(position__gte=positions.start, position__lt=positions.stop)
    listed = json.dumps([*positions])
    return units.filter(position__in=RawSQL(_LISTED[connection.vendor], [listed]))  # noqa: S611 - a constant statement with a parameter


_LISTED = {
    "sqlite": "SELECT value FROM json_each(%s)",
    "postgresql": "SELECT value::int FROM jsonb_array_elements_text(%s::jsonb)",
}
"""Statement that lists the numbers of a JSON array, by database."""


def _expired(units: QuerySet[UnitRow]) -> QuerySet[UnitRow]:
    return units.filter(state=_LEASED, ready=1, lease_until__lt=DatabaseClock())


def _free(leased: QuerySet[UnitRow]) -> int:
    return leased.update(state=_WAITING, owner="", lease_until=None)


def _work(unit: Unit) -> tuple[str, str]:
    return unit.kind.value, unit.work_key


def _no_such_run(run: Run) -> str:
    return f"run {run.number} of the study `{run.study}` ({run.key}) is not in this workspace"


def _row(run_id: int, unit: Unit, origin: int | None, done: set[str]) -> Row:
    return {
        "run_id": run_id,
        "key": unit.key,
        "kind": unit.kind.value,
        "work_key": unit.work_key,
        "position": unit.position,
        "label": unit.label,
        "application": unit.application,
        "subject": unit.subject or None,
        "annotator": unit.annotator,
        "state": _WAITING if origin is None else _DONE,
        "owner": "",
        "lease_until": None,
        "tries": unit.tries,
        "ready": int(not unit.subject or unit.subject in done or origin is not None),
        "adopted_from_id": origin,
    }


def _leased(row: UnitRow) -> Unit:
    return Unit(
        key=row.key,
        kind=UnitKind(row.kind),
        work_key=row.work_key,
        position=row.position,
        label=row.label,
        application=row.application,
        subject=row.subject or "",
        annotator=row.annotator,
        state=UnitState.LEASED,
        tries=row.tries + 1,
    )


def _run(row: RunRow) -> Run:
    return Run(
        key=row.key,
        number=row.number,
        study=row.study,
        study_version=row.study_content_id,
        plan_version=row.plan_content_id,
        state=RunState(row.state),
        started=row.started,
        finished=row.finished,
    )


_TABLE = UnitRow._meta.db_table  # noqa: SLF001  # `_meta` is Django's own door to a model


class _Leased(NamedTuple):
    """The columns of a unit, in the order of `_COLUMNS`."""

    id: int
    key: bytes
    work_key: bytes
    position: int
    label: str
    application: str
    subject: bytes
    annotator: str
    tries: int

    def unit(self) -> Unit:
        """Return it as a record."""
        return Unit(
            key=bytes(self.key).hex(),
            kind=UnitKind.ANNOTATION,
            work_key=bytes(self.work_key).hex(),
            position=self.position,
            label=self.label,
            application=self.application,
            subject=bytes(self.subject).hex(),
            annotator=self.annotator,
            state=UnitState.LEASED,
            tries=self.tries,
        )


_COLUMNS = ", ".join(_Leased._fields)


def lease_about(subjects: Collection[str], lease: Lease) -> Iterator[tuple[int, Unit]]:
    """Lease the annotations that wait for some sessions, and yield them with the numbers of their rows, in order.

    Args:
        subjects: Keys of session units that are done with the transaction that is open.
        lease: Owner, which has leased units before, and duration.
    """
    until = f"{clock_words(connection.vendor)} + %s"
    for chunk in chunks(bytes.fromhex(subject) for subject in subjects):
        # The condition is repeated word for word, so that SQLite may use the partial index.
        about = f"subject IS NOT NULL AND subject IN ({marks(len(chunk))})"
        execute(
            f"UPDATE {_TABLE} SET ready = 1, state = %s, owner = %s, lease_until = {until}, tries = tries + 1 "  # noqa: S608
            f"WHERE {about} AND state = %s",
            [UnitState.LEASED.value, lease.owner, lease.seconds, *chunk, UnitState.WAITING.value],
        )
        result = execute(
            f"SELECT {_COLUMNS} FROM {_TABLE} WHERE {about} AND state = %s AND owner = %s ORDER BY id",  # noqa: S608
            [*chunk, UnitState.LEASED.value, lease.owner],
        )
        for row in result.fetchall():
            leased = _Leased(*row)
            yield leased.id, leased.unit()


KEPT = 10_000
"""Largest number of cached row numbers; the oldest are dropped first. Count."""


class RowNumbers:
    """Row numbers by unit key; the two never change."""

    def __init__(self, *, kept: int = KEPT) -> None:
        """Start with an empty cache of a limited size."""
        self._kept = kept
        self._known: dict[str, int] = {}
        self._lock = Lock()  # units are leased on one thread and worked on by another

    def of(self, keys: Iterable[str]) -> dict[str, int]:
        """Return the cached numbers."""
        with self._lock:
            return {key: self._known[key] for key in keys if key in self._known}

    def enter(self, found: Mapping[str, int]) -> None:
        """Remember numbers once the transaction that is open has committed."""
        transaction.on_commit(partial(self._enter, dict(found)))

    def _enter(self, found: Mapping[str, int]) -> None:
        with self._lock:
            self._known.update(found)
            for key in list(islice(self._known, max(0, len(self._known) - self._kept))):
                del self._known[key]


class ReplyTexts:
    """Reply texts of units in progress, from which dialogues are built."""

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._texts: dict[int, dict[int, str]] = {}

    def enter(self, entries: Iterable[tuple[int, JournalEntry]]) -> None:
        """Cache the replies of units, given by number, once the open transaction has committed."""
        transaction.on_commit(partial(self._enter, tuple(entries)))

    def take(self, unit_ids: Iterable[int]) -> dict[tuple[int, int], str]:
        """Return and drop the texts of finished units, by unit and position."""
        return {
            (unit_id, position): text for unit_id in unit_ids for position, text in self._texts.pop(unit_id, {}).items()
        }

    def _enter(self, entries: Iterable[tuple[int, JournalEntry]]) -> None:
        for unit_id, entry in entries:
            self._texts.setdefault(unit_id, {})[entry.position] = repaired_text(entry.reply.text)


_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")


class Owners:
    """The owners that work on this machine."""

    def __init__(self, folder: Path) -> None:
        """Set the folder of the lock files."""
        self._folder = folder
        self._held: dict[str, FileLock] = {}

    def hold(self, owner: str) -> bool:
        """Mark an owner as alive in this process; return whether that is new.

        Raises:
            Conflict: If another process works under that name.
        """
        if owner in self._held:
            return False
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = self._lock(owner)
        try:
            lock.acquire(blocking=False)
        except Timeout as error:
            message = f"the owner `{owner}` works in another process already; every worker needs a name of its own"
            raise Conflict(message) from error
        self._held[owner] = lock
        return True

    def leave(self, owner: str, *, settled: bool = True) -> None:
        """Mark an owner as dead.

        Args:
            owner: Its name.
            settled: Whether its leases were released. If not, its file is kept, which shows
                other processes that the leases have no owner.
        """
        lock = self._held.pop(owner, None)
        if lock is not None and settled:
            _discard(lock)
        elif lock is not None:
            lock.release()

    def leave_all(self, give_back: Callable[[str], None]) -> None:
        """Mark all owners of this process as dead, and return their leases unless the disk is full."""
        for owner in tuple(self._held):
            try:
                give_back(owner)
            except StoreError:
                self.leave(owner, settled=False)
            else:
                self.leave(owner)

    @contextmanager
    def dead_among(self, names: Iterable[str]) -> Iterator[list[str]]:
        """Yield the owners on this machine that died, and lock them for the length of the block.

        After the block they are forgotten, unless it ended with an error, because their leases may still exist.
        """
        result: dict[str, FileLock] = {}
        for name in names:
            lock = self._lock(name)
            if name not in self._held and self._path(name).exists() and _could_be_had(lock):
                result[name] = lock
        try:
            yield list(result)
        except BaseException:
            for lock in result.values():
                lock.release()
            raise
        for lock in result.values():
            _discard(lock)

    def seem_dead(self, names: Iterable[str]) -> list[str]:
        """Return the owners on this machine that died, without changes."""
        result = []
        for name in names:
            lock = self._lock(name)
            if name not in self._held and self._path(name).exists() and _could_be_had(lock):
                lock.release()
                result.append(name)
        return result

    def _path(self, owner: str) -> Path:
        name = owner if _PLAIN_NAME.fullmatch(owner) else digest("owner", owner)
        return self._folder / f"{name}.lock"

    def _lock(self, owner: str) -> FileLock:
        return FileLock(self._path(owner), thread_local=False)


def _could_be_had(lock: FileLock) -> bool:
    try:
        lock.acquire(blocking=False)
    except OSError:  # another process holds it (`Timeout` is one too), or this folder is not writable
        return False
    return True


def _discard(lock: FileLock) -> None:
    path = Path(lock.lock_file)
    lock.release()
    path.unlink(missing_ok=True)
