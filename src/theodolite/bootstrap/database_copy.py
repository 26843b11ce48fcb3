"""Copies a workspace between its file and PostgreSQL, and compares both sides by counts and hashes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from theodolite.bootstrap.database import configure_django, database_settings, make_workspace
from theodolite.bootstrap.web_settings import serving_settings
from theodolite.domain.errors import InputError, NotFound, StoreError

if TYPE_CHECKING:
    from django.db.models import Model

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
    from django.db import connections, transaction
    from django.db.utils import load_backend

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
    from django.db import connection

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")


def _models() -> list[type[Model]]:
    """Return the models of the tables that the source has, in order of their names."""
    from django.apps import apps
    from django.db import connection

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
    from django.db import connections

    at_once = connections[_TARGET].ops.bulk_batch_size(fields, objects)
    for start in range(0, len(objects), at_once):
        part = objects[start : start + at_once]
        _rows_of(model, _TARGET)._insert(part, fields=fields, using=_TARGET, raw=True)  # noqa: SLF001


def _reset_numbers(models: list[type[Model]]) -> None:
    """Number new rows after the copied ones."""
    from django.core.management.color import no_style
    from django.db import connections

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
