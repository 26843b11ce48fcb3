"""The workplace: where a store's work is done and its failures are told apart.

A desk for whoever calls, a writer for whoever awaits; both translate what the
database says, and take turns at writing. Whose thread is bound to the same database
needs no desk: the work is done right there, within the transaction that is open, if
one is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TypeVar

from django.db import connection, transaction

from theodolite.domain.errors import StorageUnavailable, StoreError
from theodolite.store.desk import DatabaseSettings, Desk, bind_thread, is_bound, unbind_thread
from theodolite.store.reading import START, Bookmark
from theodolite.store.readings import ReadChunk
from theodolite.store.translation import Place
from theodolite.store.writer import Writer
from theodolite.store.writes import Write, described

Result = TypeVar("Result")


class Workplace:
    """Two threads on one database."""

    def __init__(self, workspace: Path, database: DatabaseSettings, apply: Callable[[Sequence[Write]], None]) -> None:
        """Open the desk.

        Args:
            workspace: Folder, for messages.
            database: What to connect to.
            apply: Stores a batch within the transaction that is open.
        """
        self._database = database
        self._apply = apply
        self._place = Place(database, workspace)
        self._desk = Desk(database)
        # SQLite lets a second writer poll for the lock; within the process they take turns instead.
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
        """Close the connection at the desk; whoever asks next opens it again."""
        self._desk.call(lambda: connection.close())  # noqa: PLW0108  # the connection of that thread, not of this one

    async def put(self, write: Write) -> None:
        """Store something through the writer; returns once it is committed."""
        if self._writer is None:
            message = "the store was not started; start it before writing"
            raise StoreError(message)
        await self._writer.put(write)

    def read(self, work: Callable[[], Result]) -> Result:
        """Do what only reads."""
        return self._done(work)

    def write(self, work: Callable[[], Result]) -> Result:
        """Do what writes."""
        if is_bound(self._database) and connection.in_atomic_block:
            return self._guarded(work)  # whoever has begun a transaction has the turn already
        with self._turn:
            return self._done(work)

    def stream(self, read_chunk: ReadChunk[Result]) -> Iterator[Result]:
        """Read chunk by chunk, each when it is asked for."""
        after: Bookmark | None = START
        while after is not None:
            found, after = self.read(partial(read_chunk, after))
            yield from found

    def _done(self, work: Callable[[], Result]) -> Result:
        if is_bound(self._database):
            return self._guarded(work)
        return self._desk.call(lambda: self._guarded(work))

    def _guarded(self, work: Callable[[], Result]) -> Result:
        try:
            with self._place.translated():
                return work()
        except StorageUnavailable:
            connection.close()  # what is wrong with it is unknown; the next work connects anew
            raise

    def _commit(self, batch: Sequence[Write]) -> Sequence[Exception | None]:
        """Commit a batch; if that fails, write by write, so that only the guilty one is refused."""
        outcome = self._attempt(batch)
        if outcome is None or isinstance(outcome, StorageUnavailable) or len(batch) == 1:
            return [outcome] * len(batch)
        outcomes: list[Exception | None] = []
        for write in batch:
            away = bool(outcomes) and isinstance(outcomes[-1], StorageUnavailable)
            outcomes.append(outcomes[-1] if away else self._attempt([write]))
        return outcomes

    def _attempt(self, batch: Sequence[Write]) -> Exception | None:
        try:
            with self._turn:
                self._guarded(lambda: self._store(batch))
        except Exception as error:  # noqa: BLE001  # a write that cannot be stored is its writer's affair alone
            return error
        self._place.last_written = described(batch[-1])
        return None

    def _store(self, batch: Sequence[Write]) -> None:
        with transaction.atomic():
            self._apply(batch)
