"""Migrates a workspace's tables, in one place and by one process at a time."""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, cast

from django.apps import AppConfig, apps
from django.db import Error, connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from filelock import FileLock

from theodolite.domain.errors import WrongSchema
from theodolite.store import migrations
from theodolite.store.apps import load_all_tables
from theodolite.store.executor import Place, database_thread
from theodolite.store.statements import without_time_limits

if TYPE_CHECKING:  # a process that finds all tables does not wait for the lock that creates or changes them
    from django.db.migrations.state import StateApps

_LOG = logging.getLogger(__name__)

_APPLIED = "SELECT name FROM django_migrations WHERE app = %s ORDER BY name"
_WEB = "web"
_NUMBERED = re.compile(r"\d{4}_\w+")
_OURS = "theodolite"
_ADVISORY_LOCK = 7_305_815_424_911
"""Any number, the same in all processes that migrate one PostgreSQL database."""


def known_migrations() -> list[str]:
    """Return the names of this program's migrations, in order."""
    folder = Path(str(migrations.__file__)).parent
    return sorted(file.stem for file in folder.glob("*.py") if _NUMBERED.fullmatch(file.stem))


def migrate(workspace: Path, database: dict[str, Any], *, whole: bool = False) -> None:
    """Migrate the tables of a workspace.

    Takes one query if they are current. An existing SQLite file is copied to the
    workspace's `backups` folder before it is changed.

    Args:
        workspace: Folder for lock and backups.
        database: See `database_settings`.
        whole: Whether to create the tables of all applications, including web pages; otherwise only the store's.

    Raises:
        StorageUnavailable: If the database cannot be reached.
        WrongSchema: If the database was written by a newer version of this program.
    """
    location = Place(database, workspace)
    with database_thread(database) as desk:
        desk.call(lambda: _bring_up_to_date(workspace, location, database, whole=whole))


def _is_blank(database: dict[str, Any]) -> bool:
    """Return whether a database is an empty file, or does not exist yet."""
    if not database["ENGINE"].endswith("sqlite3"):
        return False
    file = Path(database["NAME"])
    return not file.is_file() or not file.stat().st_size


def has_tables(workspace: Path, database: dict[str, Any]) -> bool:
    """Return whether a database has the tables of this program version, without changing it.

    Raises:
        StorageUnavailable: If the database cannot be reached.
        WrongSchema: If an older or newer version of this program wrote it.
    """
    location = Place(database, workspace)
    with database_thread(database) as desk:
        return desk.call(lambda: _has_tables(location))


def _has_tables(path: Place) -> bool:
    with path.translated():
        if _is_up_to_date(path):
            return True
        if _applied():
            message = (
                f"the database {path.name} was written by an older version of Theodolite; "
                "`theodolite run` of any study in it brings it up to date"
            )
            raise WrongSchema(message)
        return False


def why_not_ready() -> str:
    """Return the reason why the calling thread's database cannot serve pages; empty if it can.

    The text contains no address, name or path; the log contains the error of the database.
    """
    try:
        with connection.cursor() as cursor:
            if "django_migrations" not in connection.introspection.table_names(cursor):
                return "the database has no tables"
            cursor.execute("SELECT app, name FROM django_migrations")
            applied = {(str(app), str(name)) for app, name in cursor.fetchall()}
    except Error as error:
        _LOG.warning("the database cannot be reached", exc_info=error)
        return "the database cannot be reached"
    if _last_migrations() - applied:
        return "an older version of Theodolite wrote the database, and it is not migrated"
    if max((name for app, name in applied if app == "store"), default="") > known_migrations()[-1]:
        return "a newer version of Theodolite wrote the database"
    return ""


@cache
def _last_migrations() -> frozenset[tuple[str, str]]:
    """Return application and name of the last migration of each installed application."""
    from django.db.migrations.loader import MigrationLoader

    return frozenset(MigrationLoader(None).graph.leaf_nodes())


def _bring_up_to_date(workspace: Path, location: Place, database: dict[str, Any], *, whole: bool) -> None:
    with location.translated():
        # The first connection sets a file's journal mode; SQLite refuses this to two at once, without waiting.
        if not _is_blank(database) and _is_up_to_date(location) and not (whole and _is_more_requested()):
            return
        without_time_limits(connection)
        with FileLock(workspace / "migrate.lock"), _advisory_lock():
            load_all_tables()
            applied = _applied()
            if whole:
                _require_known_state(location, _applied(_WEB), _steps_of("theodolite.web"))
            if _is_up_to_date(location) and not (whole and _is_more_requested()):  # another process was faster
                return
            if applied:
                _back_up(workspace, applied[-1])
            if empty := _without_tables(whole=whole):
                _lay_out(empty, whole=whole)
            if _is_up_to_date(location) and not (whole and _is_more_requested()):
                return
            from django.core.management import call_command

            call_command("migrate", *([] if whole else ["store"]), verbosity=0, interactive=False)


def _without_tables(*, whole: bool) -> list[AppConfig]:
    """Return the applications whose tables are missing and can be created directly.

    This is possible in an empty database, and in one that contains only the store's current tables.
    """
    there = set(connection.introspection.table_names())
    requested = list(apps.get_app_configs()) if whole else [apps.get_app_config("store")]
    missing = [app for app in requested if not there & _tables_of(app)]
    have = {app.label for app in requested} - {app.label for app in missing}
    return missing if not there or (have == {"store"} and _applied()[-1:] == known_migrations()[-1:]) else []


def _tables_of(application: AppConfig) -> set[str]:
    return {str(model._meta.db_table) for model in application.get_models()}  # noqa: SLF001 - Django's documented name


def _lay_out(applications: Sequence[AppConfig], *, whole: bool) -> None:
    """Create the tables of applications directly, as their migrations would.

    Running the migrations takes seconds, since Django computes every state in
    between. A test checks that both ways lead to the same tables.

    Args:
        applications: Applications without tables.
        whole: Whether these are the last missing tables.
    """
    from django.core.management.sql import emit_post_migrate_signal
    from django.db.migrations.recorder import MigrationRecorder

    recorder = MigrationRecorder(connection)
    with connection.schema_editor(atomic=True) as editor:
        if not recorder.has_table():
            editor.create_model(recorder.Migration)
        for model in (model for app in applications for model in app.get_models()):
            editor.create_model(model)
        for app in applications:
            for name in _steps_of(app.name):
                _do_again(app.name, name, editor)
                recorder.migration_qs.create(app=app.label, name=name)
    if whole:
        emit_post_migrate_signal(0, interactive=False, db=connection.alias)


def _steps_of(application: str) -> list[str]:
    """Return the names of an application's migrations, in order."""
    if find_spec(f"{application}.migrations") is None:
        return []
    folder = import_module(f"{application}.migrations").__path__
    return sorted(module.name for module in iter_modules(folder) if _NUMBERED.fullmatch(module.name))


def _do_again(application: str, name: str, editor: BaseDatabaseSchemaEditor) -> None:
    """Apply a migration's steps except table changes. Steps of other packages only repair rows, and there are none."""
    from django.db.migrations import RunPython

    if application.partition(".")[0] != _OURS:
        return
    for operation in import_module(f"{application}.migrations.{name}").Migration.operations:
        if isinstance(operation, RunPython):
            operation.code(cast("StateApps", apps), editor)


def _is_more_requested() -> bool:
    """Return whether tables of an installed application are missing."""
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _is_up_to_date(path: Place) -> bool:
    """Return whether the last migration of a database is the last one of this program.

    A database may have more names than this program has files: several migrations were merged into one (ADR 0155).

    Raises:
        WrongSchema: If the last migration of the database is not one of this program's.
    """
    applied, known = _applied(), known_migrations()
    _require_known_state(path, applied, known)
    return applied[-1:] == known[-1:]


def _require_known_state(path: Place, applied: Sequence[str], known: Sequence[str]) -> None:
    """Refuse tables that another version of this program wrote and that this one cannot migrate.

    Raises:
        WrongSchema: If the last migration of the database is not one of this program's.
    """
    if not applied or applied[-1] in known:
        return
    if applied[-1] > known[-1]:
        message = (
            f"the database {path.name} was written by a newer version of Theodolite: it has `{applied[-1]}`, "
            f"this version knows up to `{known[-1]}`. Install the newer version, or use another folder."
        )
    else:
        message = (
            f"the database {path.name} was written by an unreleased version of Theodolite: it has `{applied[-1]}`, "
            f"and this version migrates from {', '.join(f'`{name}`' for name in known)}. "
            "Run the study in another folder, or import its dialogues there from an export."
        )
    raise WrongSchema(message)


def _applied(application: str = "store") -> list[str]:
    with connection.cursor() as cursor:
        if "django_migrations" not in connection.introspection.table_names(cursor):
            return []
        cursor.execute(_APPLIED, [application])
        return [name for (name,) in cursor.fetchall()]


@contextmanager
def _advisory_lock() -> Iterator[None]:
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_ADVISORY_LOCK])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_ADVISORY_LOCK])


def _back_up(workspace: Path, last_migration: str) -> None:
    """Copy a SQLite file, including its write-ahead log."""
    if connection.vendor != "sqlite":
        return
    folder = workspace / "backups"
    folder.mkdir(exist_ok=True)
    source = Path(str(connection.settings_dict["NAME"]))
    target = folder / f"{source.stem}-{last_migration}{source.suffix}"
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as copy:
        old.backup(copy)
