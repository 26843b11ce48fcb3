"""The workspace's database: settings in, an open store out.

SQLite in the workspace by default, PostgreSQL if a URL names it. Django is
configured once per process; every store binds its own threads to its own database.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from theodolite.domain.errors import InputError, StorageUnavailable
from theodolite.domain.identity import Record

if TYPE_CHECKING:
    from theodolite.store.django_store import DjangoStore

DATABASE_VARIABLE = "DATABASE_URL"
"""Environment variable that names a PostgreSQL database to use instead of the workspace's file."""

DATABASE_NAME = "theodolite.db"
"""SQLite file within a workspace."""

LOCK_PATIENCE_S = 20
"""Time that a writer waits for another writer of a SQLite file; seconds."""

STATEMENT_S = 600
"""Maximum duration of a statement on PostgreSQL; seconds. Copies and migrations have no limit."""

IDLE_S = 15
"""Maximum time that an idle process may keep a transaction open on PostgreSQL; seconds.

Shorter than `LOCK_PATIENCE_S`, so that a suspended process does not block others.
"""

_TCP = {"connect_timeout": "10", "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3"}
"""Settings by which an unresponsive server is noticed within half a minute; `DATABASE_URL` may set other values."""

_MODES_BY_DEFAULT = {0o755, 0o775}
"""Modes of folders that earlier versions created under the usual masks."""

_RUNS = "theodolite.store.apps.RunsConfig"
"""The store for commands: functions that need people's tables load them."""

_POSTGRES_SCHEMES = ("postgres", "postgresql")


def make_workspace(workspace: Path) -> None:
    """Create a workspace folder if missing, accessible only to the operator's account.

    Raises:
        StorageUnavailable: If it cannot be created.
    """
    try:
        workspace.parent.mkdir(parents=True, exist_ok=True)
        workspace.mkdir(mode=0o700, exist_ok=True)
        _close_to_others(workspace)
    except OSError as error:
        message = f"the workspace `{workspace}` could not be made: {error}. Give yourself the right to write there."
        raise StorageUnavailable(message) from error
    ignore = workspace / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")


def _close_to_others(workspace: Path) -> None:
    """Restrict access to a workspace that an earlier version left open; a mode that a person chose is kept."""
    status = workspace.stat()
    if hasattr(os, "getuid") and status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) in _MODES_BY_DEFAULT:
        workspace.chmod(0o700)


def database_settings(
    workspace: Path, database_url: str | None = None, *, patience_s: float = LOCK_PATIENCE_S
) -> dict[str, Any]:
    """Return Django's settings of one database.

    Args:
        workspace: Folder of the SQLite file if no URL is given.
        database_url: `postgresql://user:password@host:port/name`; None or empty for SQLite.
        patience_s: Time to wait for another writer; seconds.

    Raises:
        InputError: If the URL names no PostgreSQL database.
    """
    if database_url:
        return _postgres_settings(database_url, patience_s)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(workspace / DATABASE_NAME),
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": patience_s,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON;",
        },
    }


def _postgres_settings(database_url: str, patience_s: float) -> dict[str, Any]:
    if find_spec("psycopg") is None:
        message = "`DATABASE_URL` is set, and PostgreSQL's driver is missing; type: pip install 'theodolite[postgres]'"
        raise InputError(message)
    parts = urlsplit(database_url)
    name = unquote(parts.path.removeprefix("/"))
    if parts.scheme not in _POSTGRES_SCHEMES or not name:
        shown = parts.scheme or "nothing"
        message = (
            "`DATABASE_URL` must look like `postgresql://user:password@host:5432/name`; "
            f"it begins with {shown!r} and names the database {name!r}. Leave it out to use a SQLite file."
        )
        raise InputError(message)
    limits = {
        "lock_timeout": patience_s,
        "statement_timeout": STATEMENT_S,
        "idle_in_transaction_session_timeout": IDLE_S,
    }
    parameters = dict(parse_qsl(parts.query))
    words = [*(f"-c {name}={int(seconds * 1000)}" for name, seconds in limits.items()), parameters.pop("options", "")]
    options: dict[str, Any] = {**_TCP, "options": " ".join(filter(None, words)), **parameters}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", parts.hostname or ""),
        "PORT": str(_port(parts) or ""),
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }


def _port(parts: Any) -> int | None:
    try:
        port: int | None = parts.port
    except ValueError as error:
        message = "`DATABASE_URL` must hold a port from 1 to 65535 after the host, or none"
        raise InputError(message) from error
    return port


def django_settings(database: dict[str, Any]) -> dict[str, Any]:
    """Return Django's settings."""
    return {
        "DATABASES": {"default": database},
        "DEFAULT_AUTO_FIELD": "django.db.models.BigAutoField",
        "INSTALLED_APPS": ["theodolite.store"],
        "LOGGING_CONFIG": None,
        "SECRET_KEY": "nothing is signed",  # the store makes no use of it, but some of Django refuses to work without
        "TIME_ZONE": "UTC",
        "USE_TZ": True,
    }


@contextmanager
def own_connection() -> Iterator[None]:
    """Use a working connection, and close it: the thread is any thread of the process and may never be used again."""
    from django.db import close_old_connections, connection

    close_old_connections()
    try:
        yield
    finally:
        connection.close()


def configure_django(database: dict[str, Any], everything: dict[str, Any] | None = None) -> None:
    """Set Django up, or point an already configured one at another database.

    This sets only the default connection of the calling thread; stores bind
    their own threads and are not affected.

    Args:
        database: See `database_settings`.
        everything: All settings, if more than the store is needed; only the first call uses them.
    """
    from django.conf import settings

    if not settings.configured:
        settings.configure(**(everything or {**django_settings(database), "INSTALLED_APPS": [_RUNS]}))
        _set_up(is_for_pages=everything is not None)
        return
    from django.db import connections

    _set_up(is_for_pages=True)
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None:  # Django refuses to close one within an event loop, even a closed one
            connection.close()
        del connections[connection.alias]
    connections.settings["default"] = connections.configure_settings({"default": dict(database)})["default"]


def _set_up(*, is_for_pages: bool) -> None:
    """Let Django find its applications; only web pages also need addresses and logs, which take time to load."""
    if is_for_pages:
        import django

        django.setup(set_prefix=False)
        return
    from django.apps import apps
    from django.conf import settings

    apps.populate(settings.INSTALLED_APPS)


def open_store(workspace: Path, database_url: str | None = None, *, patience_s: float = LOCK_PATIENCE_S) -> DjangoStore:
    """Return the store of a workspace, with its tables migrated; a read-only one is not changed.

    Args:
        workspace: Folder; created if missing.
        database_url: See `database_settings`.
        patience_s: Time to wait for another writer; seconds.

    Raises:
        InputError: If the URL names no PostgreSQL database.
        StorageUnavailable: If folder or database cannot be reached.
        WrongSchema: If the database was written by a newer version of this program.
    """
    if not database_url and is_archive(workspace):
        return _open_archive(workspace)
    database = database_settings(workspace, database_url, patience_s=patience_s)
    make_workspace(workspace)
    configure_django(database)
    from theodolite.bootstrap.migration import migrate
    from theodolite.store.django_store import DjangoStore

    migrate(workspace, database)
    return DjangoStore(workspace, database)


def is_archive(workspace: Path) -> bool:
    """Return whether a workspace contains a database but is read-only: read-only media, a CI cache."""
    return (workspace / DATABASE_NAME).is_file() and not os.access(workspace, os.W_OK)


def archive_settings(workspace: Path) -> dict[str, Any]:
    """Return Django's settings of a read-only database, so that SQLite creates no file next to it.

    Raises:
        StorageUnavailable: If a part of it is in a write-ahead log that cannot be merged.
    """
    file = (workspace / DATABASE_NAME).resolve()
    log = file.with_name(f"{file.name}-wal")
    if log.is_file() and log.stat().st_size:
        message = (
            f"the workspace `{workspace}` can only be read, and its last writes stand in `{log.name}`, which SQLite"
            " must merge first. Copy the folder to a place that can be written"
        )
        raise StorageUnavailable(message)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": f"file:{quote(str(file))}?immutable=1",
        "CONN_MAX_AGE": None,
        "OPTIONS": {"timeout": LOCK_PATIENCE_S, "init_command": "PRAGMA query_only=1;"},
    }


def _open_archive(workspace: Path) -> DjangoStore:
    database = archive_settings(workspace)
    configure_django(database)
    from theodolite.bootstrap.migration import has_tables
    from theodolite.store.django_store import DjangoStore

    if not has_tables(workspace, database):
        message = f"the database of `{workspace}` holds no tables, and the workspace can only be read"
        raise StorageUnavailable(message)
    return DjangoStore(workspace, database)


def open_store_to_read(workspace: Path, database_url: str | None = None) -> DjangoStore | None:
    """Return the store of a workspace for reading; None if it has no run.

    Nothing is created, migrated or written: the database itself rejects it.

    Args:
        workspace: Folder; may be missing.
        database_url: See `database_settings`.

    Raises:
        InputError: If the URL names no PostgreSQL database.
        StorageUnavailable: If the database cannot be reached.
        WrongSchema: If another version of this program wrote it.
    """
    if not database_url and is_archive(workspace):
        return _open_archive(workspace)
    database = database_settings(workspace, database_url)
    if database_url:
        database["OPTIONS"]["options"] += " -c default_transaction_read_only=on"
    elif not (workspace / DATABASE_NAME).is_file():
        return None
    else:
        database["OPTIONS"] = {"timeout": LOCK_PATIENCE_S, "init_command": "PRAGMA query_only=1;"}
    configure_django(database)
    from theodolite.bootstrap.migration import has_tables
    from theodolite.store.django_store import DjangoStore

    return DjangoStore(workspace, database) if has_tables(workspace, database) else None


def store_on(workspace: Path, database: Mapping[str, Any]) -> DjangoStore:
    """Return the store of a workspace with current tables, as the server's are.

    Args:
        workspace: Folder of the workspace.
        database: See `database_settings`.
    """
    from theodolite.store.django_store import DjangoStore

    return DjangoStore(workspace, database)


def bind_thread(database: Mapping[str, Any]) -> None:
    """Make a database the default of the calling thread only.

    Args:
        database: See `database_settings`.
    """
    from theodolite.store.executor import bind_thread as bind

    bind(database)


def keep_record(workspace: Path, record: Record) -> str:
    """Store a record by its content hash on the connection of the calling thread, and return the hash.

    Args:
        workspace: Folder of the workspace.
        record: The record.
    """
    from theodolite.store.contents import Contents, content_of

    content = content_of(record)
    Contents(workspace / "blobs").keep([content])
    return content.version
