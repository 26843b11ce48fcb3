"""The writer: one thread that commits what has come in meanwhile, all at once.

Many coroutines write, each a row or two, and each must know that its row is safe
before it goes on. One transaction for everything that is queued costs little more
than one for a single row, so that a batch waits a little for others (`Cadence`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import assert_never

from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import StorageUnavailable, StoreError
from theodolite.domain.flow import JournalEntry
from theodolite.domain.identity import SHORT
from theodolite.domain.run import Failure, Lease, Run, Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepReply:
    """A reply of a unit."""

    unit: str
    entry: JournalEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepDialogue:
    """What a session brought; `leased` is filled with the annotations that are leased with it."""

    unit: Unit
    dialogue: Dialogue
    journalled: bool
    lease: Lease | None = None
    leased: list[Unit] = field(default_factory=list, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepAnnotation:
    """What an annotator answered."""

    unit: Unit
    annotation: Annotation


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepFailure:
    """Why a unit brought nothing."""

    unit: Unit
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepAdjudications:
    """Final labels that a file brought."""

    run: Run
    adjudications: tuple[Adjudication, ...]


Write = KeepReply | KeepDialogue | KeepAnnotation | KeepFailure | KeepAdjudications
"""Anything that the writer stores."""


def described(write: Write) -> str:
    """Return a write in words, for people who want to know what was stored last."""
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
"""Writes in one transaction at most; count."""


ROUNDS = 4
"""Rounds of the event loop that a batch waits for others; count. Where nobody is ready they take no time."""


MAX_QUEUED = 1024
"""Writes that may be queued at once; further writers wait. Count."""


Commit = Callable[[Sequence[Write]], Sequence[Exception | None]]
"""Commits a batch and says for each write what went wrong, if anything."""


_Queued = tuple[Write, "asyncio.Future[None]"]


class Writer:
    """Takes writes from one event loop and commits them on a thread of its own.

    Batches are made on the loop, once it has let everybody speak who was ready to:
    a thread that helped itself would wake for the first write and find no second.
    Everything but the queue therefore belongs to the loop, and nothing is locked.
    """

    def __init__(self, commit: Commit, *, before: Callable[[], None], after: Callable[[], None]) -> None:
        """Start the thread.

        Args:
            commit: Called on the thread with one batch after the other.
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
        """Store something; returns once it is committed.

        Raises:
            StoreError: If it could not be stored, or nothing can be any more.
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
        """Commit what is queued and end the thread."""
        if self._refusal is None:
            self._refusal = StoreError("the store was stopped; start it before writing")
            self._hand_over()
        await asyncio.shield(self._ended)
        self._thread.join()

    def _hand_over(self) -> None:
        """Give the thread what has come in, unless it is at work; an empty batch ends it."""
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
        except BaseException as death:  # noqa: BLE001  # whatever it was, nobody may wait for ever
            self._tell(partial(self._give_up, death))
        try:
            self._after()
        finally:
            self._tell(lambda: _settle(self._ended, None))

    def _committed(self, batch: Sequence[_Queued], outcomes: Sequence[Exception | None]) -> None:
        self._in_work = []
        for (_, waiter), outcome in zip(batch, outcomes, strict=True):
            _settle(waiter, outcome)
        # Those who have just been answered speak first.
        self._loop.call_soon(self._linger, ROUNDS)

    def _linger(self, rounds: int) -> None:
        """Let the loop go round, and time pass: a batch costs much the same, however many it holds."""
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
    if waiter.done():  # whoever waited was cancelled; what it wrote is stored all the same
        return
    if outcome is None:
        waiter.set_result(None)
    else:
        waiter.set_exception(outcome)


PERIOD_S = 0.01
"""Shortest time from one batch to the next; seconds."""


BATCHES_LEFT = 16
"""Batches that do not wait after one that waited for nobody; count."""


class Cadence:
    """Says how long a batch waits; the caller passes the time."""

    def __init__(self) -> None:
        """Have nothing handed over yet."""
        self._due_s = float("-inf")
        self._left = 0
        self._n_before: int | None = None

    def wait_s(self, n_waiting: int, now_s: float) -> float:
        """Return how long writes that wait are to wait for others; seconds, 0 or less where they go at once.

        Args:
            n_waiting: How many there are; count.
            now_s: The present moment; seconds.
        """
        wait_s = 0.0 if self._left else self._due_s - now_s
        if wait_s > 0 and self._n_before is None:
            self._n_before = n_waiting
        return wait_s

    def handed_over(self, n: int, now_s: float) -> None:
        """Learn that a batch goes to the database.

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
