"""The writer: one thread that commits what has come in meanwhile, all at once.

Many coroutines write, each a row or two, and each must know that its row is safe
before it goes on. One transaction for everything that is queued costs little more
than one for a single row; waiting for more to come would only make it slower.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Lock, Thread

from theodolite.domain.errors import StorageUnavailable, StoreError
from theodolite.store.writes import Write

BATCH = 256
"""Writes in one transaction at most; count."""

ROOM = 1024
"""Writes that may be queued at once; further writers wait. Count."""

Commit = Callable[[Sequence[Write]], Sequence[Exception | None]]
"""Commits a batch and says for each write what went wrong, if anything."""

_Queued = tuple[Write, "asyncio.Future[None]"]


class Writer:
    """Takes writes from one event loop and commits them on a thread of its own."""

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
        self._room = asyncio.Semaphore(ROOM)
        self._queue: SimpleQueue[_Queued | None] = SimpleQueue()
        self._gate = Lock()
        self._refusal: StoreError | None = None
        self._thread = Thread(target=self._run, name="theodolite-writer", daemon=True)
        self._thread.start()

    async def put(self, write: Write) -> None:
        """Store something; returns once it is committed.

        Raises:
            StoreError: If it could not be stored, or nothing can be any more.
        """
        async with self._room:
            waiter: asyncio.Future[None] = self._loop.create_future()
            with self._gate:
                if self._refusal is not None:
                    raise self._refusal
                self._queue.put((write, waiter))
            await waiter

    async def stop(self) -> None:
        """Commit what is queued and end the thread."""
        with self._gate:
            if self._refusal is None:
                self._refusal = StoreError("the store was stopped; start it before writing")
                self._queue.put(None)
        await asyncio.shield(self._ended)
        self._thread.join()

    def _run(self) -> None:
        try:
            self._before()
            while self._commit_next():
                pass
        except BaseException as death:  # noqa: BLE001  # whatever it was, nobody may wait for ever
            self._give_up(death)
        try:
            self._after()
        finally:
            self._tell(lambda: _settle(self._ended, None))

    def _commit_next(self) -> bool:
        queued = [self._queue.get()]
        while len(queued) < BATCH:
            try:
                queued.append(self._queue.get_nowait())
            except Empty:
                break
        # The end mark is put once and nothing is put after it.
        batch = [item for item in queued if item is not None]
        try:
            outcomes = self._commit([write for write, _ in batch]) if batch else []
        except BaseException:
            for item in batch:
                self._queue.put(item)
            raise
        self._tell(lambda: _settle_all(batch, outcomes))
        return len(batch) == len(queued)

    def _give_up(self, death: BaseException) -> None:
        refusal = StorageUnavailable(f"the database's writer ended without being asked to: {death!r}")
        refusal.__cause__ = death
        with self._gate:
            self._refusal = refusal
            waiting: list[_Queued] = []
            while not self._queue.empty():
                if (item := self._queue.get_nowait()) is not None:
                    waiting.append(item)
        self._tell(lambda: _settle_all(waiting, [refusal] * len(waiting)))

    def _tell(self, news: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(news)


def _settle_all(batch: Sequence[_Queued], outcomes: Sequence[Exception | None]) -> None:
    for (_, waiter), outcome in zip(batch, outcomes, strict=True):
        _settle(waiter, outcome)


def _settle(waiter: asyncio.Future[None], outcome: Exception | None) -> None:
    if waiter.done():  # whoever waited was cancelled; what it wrote is stored all the same
        return
    if outcome is None:
        waiter.set_result(None)
    else:
        waiter.set_exception(outcome)
