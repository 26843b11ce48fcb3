"""Translation: what databases say, in the words of this program; done here and nowhere else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import DatabaseError, DataError, Error, IntegrityError, InterfaceError, NotSupportedError
from django.db.utils import ProgrammingError

from theodolite.domain.errors import Conflict, StorageUnavailable, StoreError, WrongSchema

_UNIQUE_VIOLATION = "23505"
_FULL = ("disk is full", "No space left", "could not extend file")
_LOCKED = ("database is locked", "database table is locked", "lock timeout")
_READ_ONLY = ("readonly database", "read-only transaction")
_UNOPENED = ("unable to open database file",)
_DAMAGED = ("malformed", "not a database")
_MEBIBYTE = 1 << 20


class Place:
    """Which database is meant and what was written to it last, for messages."""

    def __init__(self, database: Any, workspace: Path) -> None:
        """Remember where; nothing has been written yet."""
        self.workspace = workspace
        self.last_written = ""
        host = database.get("HOST") or "this machine"
        is_file = database["ENGINE"].endswith("sqlite3")
        self.name = f"`{database['NAME']}`" if is_file else f"`{database['NAME']}` on {host}"

    def so_far(self) -> str:
        """Say what is safe."""
        if not self.last_written:
            return "Nothing had been written since the program started."
        return f"Written last: {self.last_written}; that and everything before it is safe."

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn whatever the database raises within a block into a `StoreError`."""
        try:
            yield
        except Error as error:
            raise translate(error, self) from error
        except OSError as error:
            message = f"the workspace `{self.workspace}` could not be written: {error}. {self.so_far()}"
            raise StorageUnavailable(message) from error


def translate(error: Error, place: Place) -> StoreError:
    """Return what a database error means to the rest of the program."""
    said = " ".join(str(error).split())
    match error:
        case IntegrityError() if _is_unique_violation(error):
            return Conflict(f"the same thing was written before ({said}) in {place.name}; the earlier one stays")
        case IntegrityError() | DataError():
            return StoreError(f"the database {place.name} refused a row that breaks its rules: {said}")
        case ProgrammingError() | NotSupportedError():
            message = f"the database {place.name} does not have the tables that this program knows: {said}"
            return WrongSchema(message)
        case InterfaceError() | DatabaseError() | _:
            return StorageUnavailable(_unavailable(said, place))


def _is_unique_violation(error: IntegrityError) -> bool:
    cause = error.__cause__
    return "UNIQUE constraint" in str(error) or getattr(cause, "sqlstate", "") == _UNIQUE_VIOLATION


def _unavailable(said: str, place: Place) -> str:
    if any(word in said for word in _FULL):
        free = shutil.disk_usage(place.workspace).free / _MEBIBYTE
        advice = f"{free:.0f} MiB are free at `{place.workspace}`; a dialogue takes about 4 KiB. Make room,"
    elif any(word in said for word in _LOCKED):
        advice = "Another program holds it. Wait for that one or end it,"
    elif any(word in said for word in _READ_ONLY):
        advice = "Give yourself the right to write there,"
    elif any(word in said for word in _UNOPENED):
        advice = f"See that the folder `{place.workspace}` may be written to,"
    elif any(word in said for word in _DAMAGED):
        advice = "The file is damaged, or none of ours. Put a copy of it back, or move it away to begin anew,"
    else:
        advice = "See that it can be reached,"
    again = "then run the same command again."
    return f"the database {place.name} could not be used: {said}. {place.so_far()} {advice} {again}"
