"""Owners: which workers of this machine are alive, told by locks on files.

The operating system drops a process's file locks when it dies, however it dies. A
lease whose owner's file can be locked is therefore free at once, and a run that
was killed goes on without waiting for its leases to end. Owners on other machines
have no file here; their leases end by the database's clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from theodolite.domain.errors import Conflict, StoreError
from theodolite.domain.identity import digest

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")


class Owners:
    """The owners that work on this machine."""

    def __init__(self, folder: Path) -> None:
        """Say where the lock files stand."""
        self._folder = folder
        self._held: dict[str, FileLock] = {}

    def hold(self, owner: str) -> bool:
        """Mark an owner as alive in this process; tell whether that is new.

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
        """Mark an owner as gone.

        Args:
            owner: Its name.
            settled: Whether its leases are given back. If not, its file stays, by
                which others can tell that they belong to nobody any more.
        """
        lock = self._held.pop(owner, None)
        if lock is not None and settled:
            _discard(lock)
        elif lock is not None:
            lock.release()

    def leave_all(self, give_back: Callable[[str], None]) -> None:
        """Mark all owners of this process as gone, their leases given back unless the disk is full."""
        for owner in tuple(self._held):
            try:
                give_back(owner)
            except StoreError:
                self.leave(owner, settled=False)
            else:
                self.leave(owner)

    @contextmanager
    def dead_among(self, names: Iterable[str]) -> Iterator[list[str]]:
        """Yield those owners that died on this machine, and keep them dead for the length of the block.

        After the block they are forgotten, unless it ended with an error: then their leases may still stand.
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
        """Return those owners that died on this machine; whoever asks changes nothing."""
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
    except OSError:  # somebody has it (`Timeout` is one too), or this folder is not ours to write to
        return False
    return True


def _discard(lock: FileLock) -> None:
    path = Path(lock.lock_file)
    lock.release()
    path.unlink(missing_ok=True)
