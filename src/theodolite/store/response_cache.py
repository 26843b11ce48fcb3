"""The response cache: a separate SQLite file, since its loss costs only money.

It is next to the database, not in it: it may be deleted at any time, it is
never shared by PostgreSQL, and a broken one must not stop a run.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from theodolite.domain.flow import Reply, SchemaUse
from theodolite.ports.progress import Kept

CACHE_NAME = "cache.db"
"""File within a workspace."""

_PATIENCE_S = 5.0
_ATTEMPTS = 100
_TABLE = """
CREATE TABLE IF NOT EXISTS reply (
    key TEXT PRIMARY KEY, request TEXT NOT NULL, reply TEXT NOT NULL, since TEXT NOT NULL
) WITHOUT ROWID
"""
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY = 0xFF  # extended error codes carry the plain one in their lowest byte
_SIDECARS = ("", "-wal", "-shm")

Result = TypeVar("Result")


class ResponseCache:
    """Stores replies; never raises.

    All work runs on one thread, so a file that another process has locked
    delays no call in flight. A damaged file is renamed
    and a new one is started; if that fails too, the cache is switched off.
    """

    def __init__(self, path: Path, *, tell: Callable[[str], None]) -> None:
        """Set the path; the file is opened on first use.

        Args:
            path: The SQLite file.
            tell: Receives one sentence about an error, from the cache's own thread.
        """
        self._path = path
        self._tell = tell
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cache")
        self._connection: sqlite3.Connection | None = None
        self._is_off = False

    async def find(self, key: str) -> Kept | None:
        """Return the value stored under a key, or None."""
        return await self._in_thread(lambda: self._guarded(lambda: self._read(key)))

    async def keep(self, kept: Kept) -> None:
        """Store a reply, replacing an earlier one with the same key."""
        await self._in_thread(lambda: self._guarded(lambda: self._write(kept)))

    def close(self) -> None:
        """Close the file; later reads and writes do nothing."""
        if not self._is_off:
            self._executor.submit(self._disconnect).result()
        self._is_off = True
        self._executor.shutdown(wait=True)

    async def _in_thread(self, work: Callable[[], Result | None]) -> Result | None:
        if self._is_off:
            return None
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def _guarded(self, work: Callable[[], Result | None]) -> Result | None:
        try:
            return work()
        except (sqlite3.Error, OSError) as error:
            if getattr(error, "sqlite_errorcode", 0) & _PRIMARY in _DAMAGED:
                self._set_aside()
            else:
                self._switch_off(str(error))
        return None

    def _read(self, key: str) -> Kept | None:
        row = self._open().execute("SELECT request, reply, since FROM reply WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        request, reply, since = row
        try:
            return Kept(key=key, request=request, reply=_reply_from(reply), since=datetime.fromisoformat(since))
        except (ValueError, TypeError):
            return None  # a newer version of this program wrote it; asking again makes it readable

    def _write(self, kept: Kept) -> None:
        reply = json.dumps(asdict(kept.reply), separators=(",", ":"))
        row = (kept.key, kept.request, reply, kept.since.astimezone(UTC).isoformat())
        with self._open() as connection:
            connection.execute("INSERT OR REPLACE INTO reply VALUES (?, ?, ?, ?)", row)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self._path, timeout=_PATIENCE_S)
            _set_up(self._connection)
        return self._connection

    def _set_aside(self) -> None:
        """Rename a damaged file, so that it can be examined, and continue with a new one."""
        self._disconnect()
        number = 1
        while (damaged := self._path.with_name(f"{self._path.name}.damaged-{number}")).exists():
            number += 1
        try:
            for ending in _SIDECARS:
                source = self._path.with_name(self._path.name + ending)
                if source.exists():
                    source.rename(damaged.with_name(damaged.name + ending))
        except OSError as error:
            self._switch_off(str(error))
            return
        self._tell(f"the response cache was damaged; it was set aside as `{damaged.name}` and a new one begun")

    def _switch_off(self, words: str) -> None:
        self._disconnect()
        self._is_off = True
        self._tell(f"the response cache cannot be used ({words}); the run goes on without it")

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _set_up(connection: sqlite3.Connection) -> None:
    """Create the table and switch on the write-ahead log.

    SQLite does not wait for the lock that a change of the journal takes, so that of two
    processes that create the file at the same moment one is refused; it tries again.
    """
    for attempt in range(_ATTEMPTS):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY != sqlite3.SQLITE_BUSY or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(_PATIENCE_S / _ATTEMPTS)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(_TABLE)


def _reply_from(text: str) -> Reply:
    stored = json.loads(text)
    return Reply(**{**stored, "schema_use": SchemaUse(stored.get("schema_use", ""))})
