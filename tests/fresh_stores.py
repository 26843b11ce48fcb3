"""Real stores for tests of services: each is a copy of one SQLite database whose tables were made once."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.bootstrap.database import DATABASE_NAME, database_settings, open_store, store_on

if TYPE_CHECKING:
    from theodolite.store.django_store import DjangoStore

PATIENCE_S = 1.0

_open: list[tuple[DjangoStore, Path]] = []


def fresh_store() -> DjangoStore:
    """Return a store on an empty database; it is closed and deleted at the end of the test."""
    workspace = Path(tempfile.mkdtemp(prefix="theodolite-store-"))
    shutil.copy(_template(), workspace)
    store = store_on(workspace, database_settings(workspace, patience_s=PATIENCE_S))
    _open.append((store, workspace))
    return store


def close_fresh_stores() -> None:
    """Close and delete the stores of a test."""
    while _open:
        store, workspace = _open.pop()
        store.disconnect()
        shutil.rmtree(workspace, ignore_errors=True)


@cache
def _template() -> Path:
    workspace = Path(tempfile.mkdtemp(prefix="theodolite-template-"))
    open_store(workspace).disconnect()
    return workspace / DATABASE_NAME
