"""Backs up a workspace to one file and restores it: the database as SQLite, with texts and keys.

A backup of PostgreSQL contains the same SQLite file as one of a workspace, since the copy between the two is
compared row by row; so each backup can be restored to either database, without PostgreSQL's client programs.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import file_digest, sha256
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from secrets import token_hex
from shutil import copyfileobj, move
from tempfile import TemporaryDirectory
from typing import Any

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, connections, transaction
from django.db.models import Model
from django.db.utils import load_backend

from theodolite.bootstrap.database import DATABASE_NAME, configure_django, database_settings, make_workspace
from theodolite.bootstrap.web_settings import serving_settings
from theodolite.domain.errors import InputError, NotFound, StorageUnavailable, StoreError

FORMAT = 1
"""Version of the layout of a backup."""

_MANIFEST = "manifest.json"

_LEFT_OUT = {"backups", "workers"}
"""Folders of a workspace that no backup needs: earlier copies, and locks of processes that run."""

_JOURNALS = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite writes next to a database; the copy contains their content."""


@dataclass(frozen=True, slots=True)
class BackedUpFile:
    """One file of a backup.

    Attributes:
        path: Its path within the workspace, with slashes.
        size: Bytes; count.
        sha256: Hash of its content; hexadecimal.
    """

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Backup:
    """Table of contents of a backup.

    Attributes:
        made: Time of its start; ISO 8601 in UTC.
        program: Version of the program that wrote it.
        rows: Rows of the database; count.
        files: Its files, in order of their paths.
    """

    made: str
    program: str
    rows: int
    files: tuple[BackedUpFile, ...]


def back_up(workspace: Path, database_url: str, target: Path, *, now: datetime) -> Backup:
    """Write a backup of one state of the database, and of the workspace's files.

    Runs and `serve` may continue meanwhile. The database is read first: texts are written
    before the rows that name them, so each row finds its text in the backup.

    Args:
        workspace: Folder of the workspace.
        database_url: Address of the PostgreSQL database; empty for the workspace's file.
        target: File to write; readable only by its owner, since it contains keys.
        now: The present moment.

    Raises:
        InputError: If the target exists.
        NotFound: If there is no database.
        StoreError: If the database cannot be read.
    """
    if target.exists():
        message = f"the file `{target}` exists; give another name with --out, or delete it"
        raise InputError(message)
    if not database_url and not (workspace / DATABASE_NAME).is_file():
        message = f"the workspace `{workspace}` has no database to back up; run a study first"
        raise NotFound(message)
    made = now.isoformat(timespec="seconds")
    part = target.with_name(f"{target.name}.part")
    try:
        with TemporaryDirectory(dir=target.parent, prefix=".theodolite-backup-") as folder:
            copy = Path(folder, DATABASE_NAME)
            if database_url:
                _copy_postgresql(Path(folder), database_url)
            else:
                _copy_sqlite(workspace / DATABASE_NAME, copy)
            backup = _write(part, workspace, copy, made)
        part.replace(target)
    except OSError as error:
        message = f"the backup `{target}` could not be written: {error}"
        raise StorageUnavailable(message) from error
    finally:
        part.unlink(missing_ok=True)
    return backup


def restore(source: Path, workspace: Path, database_url: str) -> Backup:
    """Check a backup, and restore its files and its database; an existing database is never replaced.

    Args:
        source: File that `back_up` wrote.
        workspace: Folder of the workspace; created if missing.
        database_url: Address of a PostgreSQL database without runs; empty for the workspace's file.

    Raises:
        InputError: If the file is not a backup or is damaged, or the target already has a database or other files.
        StoreError: If the database cannot be written.
    """
    if not database_url and (workspace / DATABASE_NAME).exists():
        message = f"the workspace `{workspace}` has a database already; move it away, or restore to another folder"
        raise InputError(message)
    make_workspace(workspace)
    try:
        with TemporaryDirectory(dir=workspace, prefix="restore-") as name:
            folder = Path(name)
            backup = _unpack(source, folder)
            others = [Path(file.path) for file in backup.files if file.path != DATABASE_NAME]
            _require_no_others(others, folder, workspace)
            if database_url:
                _copy_to_postgresql(folder, database_url)
            for path in others:
                (workspace / path).parent.mkdir(parents=True, exist_ok=True)
                move(folder / path, workspace / path)
            if not database_url:
                (folder / DATABASE_NAME).replace(workspace / DATABASE_NAME)  # last: with it the workspace is whole
    except OSError as error:
        message = f"the workspace `{workspace}` could not be restored: {error}"
        raise StorageUnavailable(message) from error
    return backup


def _copy_postgresql(folder: Path, database_url: str) -> None:
    from theodolite.bootstrap.backup import copy_database

    copy_database(folder, database_url, to_postgresql=False)


def _copy_to_postgresql(folder: Path, database_url: str) -> None:
    from theodolite.bootstrap.backup import copy_database
    from theodolite.bootstrap.migration import migrate

    migrate(folder, database_settings(folder), whole=True)  # a copy needs the tables of this version
    copy_database(folder, database_url, to_postgresql=True)


def _copy_sqlite(source: Path, target: Path) -> None:
    """Copy one state of a SQLite file, including its write-ahead log, while others write to it."""
    try:
        with (
            closing(sqlite3.connect(f"file:{source.resolve()}?mode=ro", uri=True)) as old,
            closing(sqlite3.connect(target)) as new,
        ):
            old.backup(new)
            new.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        message = f"the database `{source}` could not be copied: {error}"
        raise StorageUnavailable(message) from error


def _write(part: Path, workspace: Path, database: Path, made: str) -> Backup:
    files = []
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        files.append(_add(archive, database, DATABASE_NAME))
        for path in _files_of(workspace):
            with TemporaryDirectory(dir=database.parent) as folder:
                source = path
                if path.suffix == ".db":
                    source = Path(folder, path.name)
                    _copy_sqlite(path, source)
                files.append(_add(archive, source, path.relative_to(workspace).as_posix()))
        backup = Backup(
            made, version("theodolite"), _n_rows(database), tuple(sorted(files, key=lambda file: file.path))
        )
        archive.writestr(_MANIFEST, json.dumps({"format": FORMAT, **asdict(backup)}, indent=1))
    return backup


def _files_of(workspace: Path) -> Iterator[Path]:
    """Yield the files of a workspace other than its database."""
    for path in sorted(workspace.rglob("*")):
        first = path.relative_to(workspace).parts[0]
        is_database = path.name.startswith(DATABASE_NAME) and path.parent == workspace
        is_passing = path.name.endswith((*_JOURNALS, ".lock", ".part")) or first.startswith("restore-")
        if path.is_file() and not path.is_symlink() and not (is_database or is_passing or first in _LEFT_OUT):
            yield path


def _add(archive: zipfile.ZipFile, source: Path, path: str) -> BackedUpFile:
    with source.open("rb") as stream:
        digest = file_digest(stream, "sha256").hexdigest()
    archive.write(source, path)
    return BackedUpFile(path, archive.getinfo(path).file_size, digest)


def _n_rows(database: Path) -> int:
    with closing(sqlite3.connect(database)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return sum(connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables)  # noqa: S608


def _unpack(source: Path, folder: Path) -> Backup:
    """Write the files of a backup to a folder and compare their hashes."""
    try:
        with zipfile.ZipFile(source) as archive:
            backup = _manifest_of(json.loads(archive.read(_MANIFEST)), source)
            for file in backup.files:
                _unpack_file(archive, file, folder)
    except (FileNotFoundError, IsADirectoryError) as error:
        message = f"the backup `{source}` was not found; give the path of a file that `theodolite backup` wrote"
        raise InputError(message) from error
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError) as error:
        message = f"the file `{source}` is not a backup, or it is damaged: {error}. Nothing was restored."
        raise InputError(message) from error
    return backup


def _manifest_of(found: dict[str, Any], source: Path) -> Backup:
    if found["format"] != FORMAT:
        message = (
            f"the backup `{source}` has format {found['format']}, and this program reads {FORMAT}; use theodolite "
            f"{found.get('program', 'of a later version')}"
        )
        raise InputError(message)
    files = tuple(BackedUpFile(**file) for file in found["files"])
    if DATABASE_NAME not in {file.path for file in files}:
        message = f"`{DATABASE_NAME}` is missing"
        raise ValueError(message)
    return Backup(found["made"], found["program"], found["rows"], files)


def _unpack_file(archive: zipfile.ZipFile, file: BackedUpFile, folder: Path) -> None:
    target = (folder / file.path).resolve()
    if not target.is_relative_to(folder.resolve()):
        message = f"`{file.path}` is not a path within a workspace"
        raise ValueError(message)
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(file.path) as packed, target.open("wb") as stream:
        copyfileobj(packed, stream)
    target.chmod(0o600)
    with target.open("rb") as stream:
        if file_digest(stream, "sha256").hexdigest() != file.sha256:
            message = f"`{file.path}` has another hash than the backup states"
            raise ValueError(message)


def _require_no_others(paths: list[Path], folder: Path, workspace: Path) -> None:
    """Allow files that are equal to those of the backup; a text is named by its hash, a key may differ."""
    for path in paths:
        target = workspace / path
        if path.name != ".gitignore" and target.exists() and target.read_bytes() != (folder / path).read_bytes():
            message = f"the file `{target}` exists and differs from the backup's; move it away first"
            raise InputError(message)


_TARGET = "target"

_AT_ONCE = 500
"""Rows that are read and inserted together; count."""

_RUNS = "store_run"


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """One table that is equal on both sides.

    Attributes:
        name: Its name in the database.
        rows: Its rows; count.
        digest: Sum of the SHA-256 hashes of its rows, independent of their order; hexadecimal.
    """

    name: str
    rows: int
    digest: str


def copy_database(workspace: Path, database_url: str, *, to_postgresql: bool) -> tuple[CopiedTable, ...]:
    """Copy all rows of one database to another one without runs, and compare the two.

    The copy is one transaction: if a table differs afterwards, the target is unchanged.
    Texts in the workspace's `blobs` folder are in no SQLite database; a copy to PostgreSQL takes them in at its end.

    Args:
        workspace: Folder of the SQLite file.
        database_url: Address of the PostgreSQL database.
        to_postgresql: Whether the file is the source; else the target.

    Returns:
        The tables with rows, in order of their names.

    Raises:
        InputError: If the address is invalid, or the target has runs.
        NotFound: If the source has no tables.
        StoreError: If a database cannot be used, or the two differ after the copy.
    """
    sides = database_settings(workspace), database_settings(workspace, database_url)
    source, target = sides if to_postgresql else sides[::-1]
    if to_postgresql and not Path(source["NAME"]).is_file():
        message = f"the workspace `{workspace}` has no database to copy; run a study first"
        raise NotFound(message)
    make_workspace(workspace)
    configure_django(source, serving_settings(source, secret_key=token_hex()))  # nothing is signed
    from theodolite.bootstrap.migration import has_tables, migrate
    from theodolite.store.executor import Place, database_thread

    if not has_tables(workspace, source):
        message = f"the database {Place(source, workspace).name} has no tables to copy; run a study first"
        raise NotFound(message)
    migrate(workspace, target, whole=True)
    with database_thread(source) as thread:
        tables = thread.call(lambda: _copy(target, Place(target, workspace)))
    if to_postgresql:
        configure_django(target)
        from theodolite.store.contents import Contents

        with database_thread(target) as thread:
            thread.call(Contents(workspace / "blobs").import_files)
    return tables


def _copy(target: dict[str, Any], place: Any) -> tuple[CopiedTable, ...]:
    from theodolite.store.statements import without_time_limits

    settings = connections.configure_settings({"default": dict(target)})["default"]
    connections[_TARGET] = load_backend(settings["ENGINE"]).DatabaseWrapper(settings, _TARGET)
    try:
        with place.translated():
            for alias in ("default", _TARGET):
                without_time_limits(connections[alias])
        with place.translated(), transaction.atomic():
            _fix_state()
            models = _models()
            _require_no_runs(models, place.name)
            with transaction.atomic(using=_TARGET):
                for model in models:
                    rows = _rows_of(model, _TARGET)
                    if rows.exists():  # the audit log refuses a deletion even without rows
                        rows._raw_delete(_TARGET)  # noqa: SLF001 - rows that migrations made
                for model in models:
                    _insert_all(model)
                _reset_numbers(models)
                return tuple(table for model in models if (table := _compared(model, place.name)).rows)
    finally:
        connections[_TARGET].close()
        del connections[_TARGET]


def _fix_state() -> None:
    """Read one state of the source throughout; SQLite's transactions do so by default."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")


def _models() -> list[type[Model]]:
    """Return the models of the tables that the source has, in order of their names."""
    there = set(connection.introspection.table_names())
    models = {_table(model): model for model in apps.get_models(include_auto_created=True) if not model._meta.proxy}  # noqa: SLF001
    return [models[name] for name in sorted(models) if name in there]


def _require_no_runs(models: list[type[Model]], name: str) -> None:
    runs = next(model for model in models if _table(model) == _RUNS)
    if n := _rows_of(runs, _TARGET).count():
        message = f"the database {name} has {n} runs already; copy to an empty database"
        raise InputError(message)


def _insert_all(model: type[Model]) -> None:
    """Insert the rows of a table unchanged; `raw` leaves modification times untouched."""
    fields = list(model._meta.concrete_fields)  # noqa: SLF001
    rows = _rows_of(model, "default").order_by("pk").iterator(chunk_size=_AT_ONCE)
    while objects := list(islice(rows, _AT_ONCE)):
        _insert(model, objects, fields)


def _insert(model: type[Model], objects: list[Any], fields: list[Any]) -> None:
    at_once = connections[_TARGET].ops.bulk_batch_size(fields, objects)
    for start in range(0, len(objects), at_once):
        part = objects[start : start + at_once]
        _rows_of(model, _TARGET)._insert(part, fields=fields, using=_TARGET, raw=True)  # noqa: SLF001


def _reset_numbers(models: list[type[Model]]) -> None:
    """Number new rows after the copied ones."""
    with connections[_TARGET].cursor() as cursor:
        for statement in connections[_TARGET].ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)


def _compared(model: type[Model], name: str) -> CopiedTable:
    source, target = (_digest(model, alias) for alias in ("default", _TARGET))
    if source != target:
        message = f"the table `{_table(model)}` differs after the copy to {name}; nothing was copied"
        raise StoreError(message)
    return target


def _digest(model: type[Model], alias: str) -> CopiedTable:
    names = [field.attname for field in model._meta.concrete_fields]  # noqa: SLF001
    n, total = 0, 0
    for row in _rows_of(model, alias).values_list(*names).iterator(chunk_size=_AT_ONCE):
        text = json.dumps([_plain(value) for value in row], sort_keys=True, default=str)
        n, total = n + 1, (total + int.from_bytes(sha256(text.encode()).digest())) % (1 << 256)
    return CopiedTable(_table(model), n, f"{total:064x}")


def _plain(value: Any) -> Any:
    """Return a value in one form for both drivers, which return bytes in two types."""
    return bytes(value).hex() if isinstance(value, bytes | memoryview) else value


def _rows_of(model: type[Model], alias: str) -> Any:
    return model._base_manager.using(alias)  # noqa: SLF001


def _table(model: type[Model]) -> str:
    return str(model._meta.db_table)  # noqa: SLF001
