"""Runs database work on threads that are bound to one database, and commits queued writes together.

Django keeps its connections by thread and refuses to work in a thread that runs an
event loop, so a store works on threads of its own. Each thread's connection is bound
to its own workspace, so one process can have several open, and its owner closes it.

The writer commits everything that has queued up in one transaction, which costs little more
than one for a single row; a batch waits a moment for others (`Cadence`).
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial, wraps
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread, local
from typing import Any, Concatenate, ParamSpec, TypeVar, assert_never

from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    NotSupportedError,
    connection,
    connections,
    transaction,
)
from django.db.utils import ProgrammingError, load_backend

from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import Conflict, StorageUnavailable, StoreError, WrongSchema
from theodolite.domain.flow import JournalEntry
from theodolite.domain.identity import SHORT
from theodolite.domain.run import Failure, Lease, Run, Unit
from theodolite.store.statements import START, Bookmark, ReadChunk

Result = TypeVar("Result")


Arguments = ParamSpec("Arguments")


DatabaseSettings = Mapping[str, Any]
"""One entry of Django's `DATABASES`."""


_thread = local()


def bind_thread(database: DatabaseSettings) -> None:
    """Make a database the default of the calling thread only."""
    settings = connections.configure_settings({DEFAULT_DB_ALIAS: deepcopy(dict(database))})[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = load_backend(settings["ENGINE"]).DatabaseWrapper(settings, DEFAULT_DB_ALIAS)
    _thread.database = database


def is_bound(database: DatabaseSettings) -> bool:
    """Return whether a database is the one to which the calling thread is bound."""
    return bool(getattr(_thread, "database", None) == database)


def unbind_thread() -> None:
    """Close the calling thread's connection and forget which database it was."""
    connection.close()
    del connections[DEFAULT_DB_ALIAS]
    _thread.database = None


class DatabaseThread:
    """One thread with one database connection, on which work runs in order."""

    def __init__(self, database: DatabaseSettings) -> None:
        """Prepare the thread; it connects with its first work."""
        self._executor = ThreadPoolExecutor(
            max_workers=1, thread_name_prefix="theodolite-store", initializer=bind_thread, initargs=(database,)
        )

    def call(self, work: Callable[[], Result]) -> Result:
        """Run work on the thread and return its result."""
        return self._executor.submit(work).result()

    def close(self) -> None:
        """Close the connection and end the thread."""
        self._executor.submit(unbind_thread).result()
        self._executor.shutdown()


@contextmanager
def database_thread(database: DatabaseSettings) -> Iterator[DatabaseThread]:
    """Open a database thread for the length of a block."""
    thread = DatabaseThread(database)
    try:
        yield thread
    finally:
        thread.close()


class Executor:
    """Runs the work of a store on its database, and translates the database's errors.

    Blocking callers share one thread; awaited writes go through the writer. The two take
    turns at writing. A caller whose thread is bound to the same database needs no other
    thread: the work runs there, within the transaction that is open, if one is.
    """

    def __init__(self, workspace: Path, database: DatabaseSettings, apply: Callable[[Sequence[Write]], None]) -> None:
        """Prepare the thread.

        Args:
            workspace: Folder, for messages.
            database: The database to connect to.
            apply: Stores a batch within the transaction that is open.
        """
        self._database = database
        self._apply = apply
        self._location = Place(database, workspace)
        self._thread = DatabaseThread(database)
        # SQLite makes a second writer poll for the lock; within the process they take turns instead.
        self._turn = Lock()
        self._writer: Writer | None = None

    def start(self) -> None:
        """Start the writer of the running event loop."""
        if self._writer is not None:
            message = "the store was started before; stop it first"
            raise StoreError(message)
        self._writer = Writer(self._commit, before=partial(bind_thread, self._database), after=unbind_thread)

    async def stop(self) -> None:
        """Write everything that is queued, then stop the writer."""
        writer, self._writer = self._writer, None
        if writer is not None:
            await writer.stop()

    def disconnect(self) -> None:
        """Close the connection of the thread; the next operation opens it again."""
        self._thread.call(lambda: connection.close())  # noqa: PLW0108  # the connection of that thread, not of this one

    async def put(self, write: Write) -> None:
        """Store a write through the writer; returns once it is committed."""
        if self._writer is None:
            message = "the store was not started; start it before writing"
            raise StoreError(message)
        await self._writer.put(write)

    def read(self, work: Callable[[], Result]) -> Result:
        """Run work that only reads."""
        return self._done(work)

    def write(self, work: Callable[[], Result]) -> Result:
        """Run work that writes."""
        if is_bound(self._database) and connection.in_atomic_block:
            return self._guarded(work)  # an open transaction holds the turn already
        with self._turn:
            return self._done(work)

    def stream(self, read_chunk: ReadChunk[Result]) -> Iterator[Result]:
        """Read chunk by chunk, on demand."""
        after: Bookmark | None = START
        while after is not None:
            result, after = self.read(partial(read_chunk, after))
            yield from result

    def _done(self, work: Callable[[], Result]) -> Result:
        if is_bound(self._database):
            return self._guarded(work)
        return self._thread.call(lambda: self._guarded(work))

    def _guarded(self, work: Callable[[], Result]) -> Result:
        try:
            with self._location.translated():
                return work()
        except StorageUnavailable:
            connection.close()  # the kind of error is unknown; the next write connects again
            raise

    def _commit(self, batch: Sequence[Write]) -> Sequence[Exception | None]:
        """Commit a batch; if that fails, commit each write separately, so that only the failing write is rejected."""
        outcome = self._attempt(batch)
        if outcome is None or isinstance(outcome, StorageUnavailable) or len(batch) == 1:
            return [outcome] * len(batch)
        outcomes: list[Exception | None] = []
        for write in batch:
            is_away = bool(outcomes) and isinstance(outcomes[-1], StorageUnavailable)
            outcomes.append(outcomes[-1] if is_away else self._attempt([write]))
        return outcomes

    def _attempt(self, batch: Sequence[Write]) -> Exception | None:
        try:
            with self._turn:
                self._guarded(lambda: self._store(batch))
        except Exception as error:  # noqa: BLE001  # a write that cannot be stored is its writer's affair alone
            return error
        self._location.last_written = described(batch[-1])
        return None

    def _store(self, batch: Sequence[Write]) -> None:
        with transaction.atomic():
            self._apply(batch)


class Repository:
    """The rows of one aggregate; its methods run on the executor of the store."""

    def __init__(self, executor: Executor) -> None:
        """Set the executor."""
        self.executor = executor


AnyRepository = TypeVar("AnyRepository", bound=Repository)


def reads(
    method: Callable[Concatenate[AnyRepository, Arguments], Result],
) -> Callable[Concatenate[AnyRepository, Arguments], Result]:
    """Run a repository's method as work that only reads."""

    @wraps(method)
    def run(self: AnyRepository, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return self.executor.read(partial(method, self, *args, **kwargs))

    return run


def writes(
    method: Callable[Concatenate[AnyRepository, Arguments], Result],
) -> Callable[Concatenate[AnyRepository, Arguments], Result]:
    """Run a repository's method as work that writes, in one transaction."""

    @wraps(method)
    def run(self: AnyRepository, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        def work() -> Result:
            with transaction.atomic():
                return method(self, *args, **kwargs)

        return self.executor.write(work)

    return run


_UNIQUE_VIOLATION = "23505"


_FULL = ("disk is full", "No space left", "could not extend file")


_LOCKED = ("database is locked", "database table is locked", "lock timeout")


_SLOW = ("statement timeout",)


_READ_ONLY = ("readonly database", "read-only transaction")


_UNOPENED = ("unable to open database file",)


_DAMAGED = ("malformed", "not a database")


_MEBIBYTE = 1 << 20


class Place:
    """Name of the database and its last write, for messages."""

    def __init__(self, database: Any, workspace: Path) -> None:
        """Set the name; nothing has been written yet."""
        self.workspace = workspace
        self.last_written = ""
        host = database.get("HOST") or "this machine"
        is_file = database["ENGINE"].endswith("sqlite3")
        self.name = f"`{database['NAME']}`" if is_file else f"`{database['NAME']}` on {host}"

    def so_far(self) -> str:
        """Describe the stored data."""
        if not self.last_written:
            return "Nothing had been written since the program started."
        return f"Written last: {self.last_written}; that and everything before it is safe."

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn each database error within a block into a `StoreError`."""
        try:
            yield
        except Error as error:
            raise translate(error, self) from error
        except OSError as error:
            message = f"the workspace `{self.workspace}` could not be written: {error}. {self.so_far()}"
            raise StorageUnavailable(message) from error


def translate(error: Error, place: Place) -> StoreError:
    """Return the program's error for a database error."""
    error_text = " ".join(str(error).split())
    match error:
        case IntegrityError() if _is_unique_violation(error):
            return Conflict(f"the same thing was written before ({error_text}) in {place.name}; the earlier one stays")
        case IntegrityError() | DataError():
            return StoreError(f"the database {place.name} refused a row that breaks its rules: {error_text}")
        case ProgrammingError() | NotSupportedError():
            message = f"the database {place.name} does not have the tables that this program knows: {error_text}"
            return WrongSchema(message)
        case InterfaceError() | DatabaseError() | _:
            return StorageUnavailable(_unavailable(error_text, place))


def _is_unique_violation(error: IntegrityError) -> bool:
    cause = error.__cause__
    return "UNIQUE constraint" in str(error) or getattr(cause, "sqlstate", "") == _UNIQUE_VIOLATION


def _unavailable(message: str, place: Place) -> str:
    if any(word in message for word in _FULL):
        free = shutil.disk_usage(place.workspace).free / _MEBIBYTE
        advice = f"{free:.0f} MiB are free at `{place.workspace}`; a dialogue takes about 4 KiB. Make room,"
    elif any(word in message for word in _LOCKED):
        advice = "Another program holds it. Wait for that one or end it,"
    elif any(word in message for word in _SLOW):
        advice = "Allow more time with `?options=-c%20statement_timeout%3D3600000` (milliseconds) in `DATABASE_URL`,"
    elif any(word in message for word in _READ_ONLY):
        advice = "Give yourself the right to write there,"
    elif any(word in message for word in _UNOPENED):
        advice = f"See that the folder `{place.workspace}` may be written to,"
    elif any(word in message for word in _DAMAGED):
        advice = "The file is damaged, or none of ours. Put a copy of it back, or move it away to start again,"
    else:
        advice = "See that it can be reached,"
    again = "then run the same command again."
    return f"the database {place.name} could not be used: {message}. {place.so_far()} {advice} {again}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepReply:
    """A reply of a unit."""

    unit: str
    entry: JournalEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepDialogue:
    """Result of a session; `leased` receives the annotations that are leased with it."""

    unit: Unit
    dialogue: Dialogue
    journalled: bool
    lease: Lease | None = None
    leased: list[Unit] = field(default_factory=list, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepAnnotation:
    """An annotator's answers."""

    unit: Unit
    annotation: Annotation


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepFailure:
    """Why a unit has no result."""

    unit: Unit
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepAdjudications:
    """Final labels of a file."""

    run: Run
    adjudications: tuple[Adjudication, ...]


Write = KeepReply | KeepDialogue | KeepAnnotation | KeepFailure | KeepAdjudications
"""Anything that the writer stores."""


def described(write: Write) -> str:
    """Return a description of a write, for messages about the last stored data."""
    match write:
        case KeepReply():
            return f"reply {write.entry.position + 1} of unit {write.unit[:SHORT]}"
        case KeepDialogue():
            return f"the dialogue `{write.dialogue.label}`"
        case KeepAnnotation():
            return f"the annotation of `{write.unit.label}` by `{write.annotation.annotator}`"
        case KeepFailure():
            return f"the failure of `{write.failure.label}`"
        case KeepAdjudications():
            return f"{len(write.adjudications)} final labels of the study `{write.run.study}`"
        case _:
            assert_never(write)


BATCH = 256
"""Maximum number of writes in one transaction; count."""


ROUNDS = 4
"""Iterations of the event loop that a batch waits for other writes; count. They take no time if none is ready."""


MAX_QUEUED = 1024
"""Maximum number of queued writes; further writers wait. Count."""


Commit = Callable[[Sequence[Write]], Sequence[Exception | None]]
"""Commits a batch and returns the error of each write, if any."""


_Queued = tuple[Write, "asyncio.Future[None]"]


class Writer:
    """Takes writes from one event loop and commits them on its own thread.

    The event loop forms batches after it has run all flows that were ready:
    a thread that took writes itself would wake for the first one and find no other.
    Everything but the queue therefore belongs to the loop, and nothing is locked.
    """

    def __init__(self, commit: Commit, *, before: Callable[[], None], after: Callable[[], None]) -> None:
        """Start the thread.

        Args:
            commit: Called on the thread with each batch in turn.
            before: Called on the thread at its start.
            after: Called on the thread at its end.
        """
        self._commit, self._before, self._after = commit, before, after
        self._loop = asyncio.get_running_loop()
        self._ended = self._loop.create_future()
        self._slots = asyncio.Semaphore(MAX_QUEUED)
        self._cadence = Cadence()
        self._waiting: list[_Queued] = []
        self._in_work: list[_Queued] = []
        self._refusal: StoreError | None = None
        self._queue: SimpleQueue[list[_Queued]] = SimpleQueue()
        self._thread = Thread(target=self._run, name="theodolite-writer", daemon=True)
        self._thread.start()

    async def put(self, write: Write) -> None:
        """Store a write; returns once it is committed.

        Raises:
            StoreError: If it could not be stored, or the writer has stopped.
        """
        async with self._slots:
            if self._refusal is not None:
                raise self._refusal
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiting.append((write, waiter))
            if len(self._waiting) == 1 and not self._in_work:
                self._loop.call_soon(self._linger, ROUNDS)
            await waiter

    async def stop(self) -> None:
        """Commit the queued writes and end the thread."""
        if self._refusal is None:
            self._refusal = StoreError("the store was stopped; start it before writing")
            self._hand_over()
        await asyncio.shield(self._ended)
        self._thread.join()

    def _hand_over(self) -> None:
        """Pass waiting writes to the thread if it is idle; an empty batch ends it."""
        if self._in_work:
            return
        self._in_work, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
        if self._in_work or self._refusal is not None:
            self._cadence.handed_over(len(self._in_work), self._loop.time())
            self._queue.put(self._in_work)

    def _run(self) -> None:
        try:
            self._before()
            while batch := self._queue.get():
                outcomes = self._commit([write for write, _ in batch])
                self._tell(partial(self._committed, batch, outcomes))
        except BaseException as death:  # noqa: BLE001  # no caller may wait forever
            self._tell(partial(self._give_up, death))
        try:
            self._after()
        finally:
            self._tell(lambda: _settle(self._ended, None))

    def _committed(self, batch: Sequence[_Queued], outcomes: Sequence[Exception | None]) -> None:
        self._in_work = []
        for (_, waiter), outcome in zip(batch, outcomes, strict=True):
            _settle(waiter, outcome)
        # Threads with a recent answer go first.
        self._loop.call_soon(self._linger, ROUNDS)

    def _linger(self, rounds: int) -> None:
        """Yield to the event loop for some time, because the cost of a batch hardly depends on its size."""
        if self._refusal is None and 0 < len(self._waiting) < BATCH:
            if rounds > 1:
                self._loop.call_soon(self._linger, rounds - 1)
                return
            if (wait_s := self._cadence.wait_s(len(self._waiting), self._loop.time())) > 0:
                self._loop.call_later(wait_s, self._hand_over)
                return
        self._hand_over()

    def _give_up(self, death: BaseException) -> None:
        self._refusal = StorageUnavailable(f"the database's writer ended without being asked to: {death!r}")
        self._refusal.__cause__ = death
        for _, waiter in [*self._in_work, *self._waiting]:
            _settle(waiter, self._refusal)
        self._in_work, self._waiting = [], []

    def _tell(self, news: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(news)


def _settle(waiter: asyncio.Future[None], outcome: Exception | None) -> None:
    if waiter.done():  # the caller was cancelled; its write is stored all the same
        return
    if outcome is None:
        waiter.set_result(None)
    else:
        waiter.set_exception(outcome)


PERIOD_S = 0.01
"""Shortest time from one batch to the next; seconds."""


BATCHES_LEFT = 16
"""Number of batches committed without waiting after one that waited in vain; count."""


class Cadence:
    """Decides how long a batch waits; the caller passes the time."""

    def __init__(self) -> None:
        """Start without any commit."""
        self._due_s = float("-inf")
        self._left = 0
        self._n_before: int | None = None

    def wait_s(self, n_waiting: int, now_s: float) -> float:
        """Return the time that pending writes should wait for others; seconds, 0 or less to commit now.

        Args:
            n_waiting: Number of pending writes; count.
            now_s: The present moment; seconds.
        """
        wait_s = 0.0 if self._left else self._due_s - now_s
        if wait_s > 0 and self._n_before is None:
            self._n_before = n_waiting
        return wait_s

    def handed_over(self, n: int, now_s: float) -> None:
        """Record that a batch is committed.

        Args:
            n: Writes in it; count.
            now_s: The present moment; seconds.
        """
        if self._left:
            self._left -= 1
        elif self._n_before is not None and n <= self._n_before:
            self._left = BATCHES_LEFT
        self._n_before = None
        self._due_s = now_s + PERIOD_S
