"""The desk: one thread with one database connection, on which work is done in order.

Django keeps its connections by thread and refuses to work in a thread that runs an
event loop. A store therefore does everything on threads of its own. That has two more
uses: each thread's connection can be bound to its own workspace, so that one process
may have several open, and it is closed when its owner says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from threading import local
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.utils import load_backend

Result = TypeVar("Result")

DatabaseSettings = Mapping[str, Any]
"""One entry of Django's `DATABASES`."""

_here = local()


def bind_thread(database: DatabaseSettings) -> None:
    """Make a database the default one of the calling thread, and of no other."""
    settings = connections.configure_settings({DEFAULT_DB_ALIAS: deepcopy(dict(database))})[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = load_backend(settings["ENGINE"]).DatabaseWrapper(settings, DEFAULT_DB_ALIAS)
    _here.database = database


def is_bound(database: DatabaseSettings) -> bool:
    """Tell whether a database is the one that the calling thread was bound to."""
    return bool(getattr(_here, "database", None) == database)


def unbind_thread() -> None:
    """Close the calling thread's connection and forget which database it was."""
    connection.close()
    del connections[DEFAULT_DB_ALIAS]
    _here.database = None


class Desk:
    """A thread that does database work for whoever calls."""

    def __init__(self, database: DatabaseSettings) -> None:
        """Prepare the thread; it connects with its first work."""
        self._executor = ThreadPoolExecutor(
            max_workers=1, thread_name_prefix="theodolite-store", initializer=bind_thread, initargs=(database,)
        )

    def call(self, work: Callable[[], Result]) -> Result:
        """Do some work on the desk's thread and return what it returns."""
        return self._executor.submit(work).result()

    def close(self) -> None:
        """Close the connection and end the thread."""
        self._executor.submit(unbind_thread).result()
        self._executor.shutdown()


@contextmanager
def desk_for(database: DatabaseSettings) -> Iterator[Desk]:
    """Open a desk for the length of a block."""
    desk = Desk(database)
    try:
        yield desk
    finally:
        desk.close()
