"""Scores from a database by one read-only query; tables as Parquet files."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from urllib.parse import quote, urlsplit

from theodolite.domain.errors import InputError, StorageUnavailable

SQLITE_SCHEMES = ("sqlite",)

POSTGRES_SCHEMES = ("postgres", "postgresql")

Rows = tuple[tuple[str, ...], list[dict[str, str]]]
"""Names of the columns, and the rows as texts."""


def is_database(place: str) -> bool:
    """Return whether a location names a database rather than a file.

    Example:
        >>> is_database("sqlite:///scores.db"), is_database("scores.csv")
        (True, False)
    """
    return urlsplit(place).scheme in (*SQLITE_SCHEMES, *POSTGRES_SCHEMES)


def query_rows(url: str, query: str) -> Rows:
    """Return the rows of a query; the database is opened for reading only.

    Args:
        url: `sqlite:///file.db`, `sqlite:////absolute/file.db` or a PostgreSQL URL.
        query: One SELECT.

    Raises:
        InputError: If the query cannot be run, or the URL names no database.
        StorageUnavailable: If the database cannot be reached.
    """
    scheme = urlsplit(url).scheme
    return _from_sqlite(url, query) if scheme in SQLITE_SCHEMES else _from_postgres(url, query)


def _from_sqlite(url: str, query: str) -> Rows:
    path = Path(url.partition(":///")[2])
    if not path.is_file():
        message = f"there is no database file `{path}`; a SQLite database is named sqlite:///FILE"
        raise InputError(message)
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            cursor = connection.execute(query)
            return _texts([column[0] for column in cursor.description or ()], cursor.fetchall(), query)
    except sqlite3.Error as error:
        raise InputError(_failed(query, error)) from error


def _from_postgres(url: str, query: str) -> Rows:
    if find_spec("psycopg") is None:
        message = "PostgreSQL's driver is missing; type: pip install 'theodolite[postgres]'"
        raise InputError(message)
    import psycopg

    try:
        connection = psycopg.connect(url)
    except psycopg.Error as error:
        message = f"the database cannot be reached: {str(error).splitlines()[0]}"
        raise StorageUnavailable(message) from error
    try:
        with closing(connection):
            connection.read_only = True
            cursor = connection.execute(query.encode())
            names = [column.name for column in cursor.description or ()]
            return _texts(names, cursor.fetchall() if names else [], query)
    except psycopg.Error as error:
        raise InputError(_failed(query, error)) from error


def _failed(query: str, error: Exception) -> str:
    return f"the query `{query:.60}` cannot be run: {str(error).splitlines()[0]}"


def _texts(names: Sequence[str], rows: Iterable[Sequence[object]], query: str) -> Rows:
    if not names:
        message = f"the query `{query:.60}` finds no columns; expected a SELECT with one row for each score"
        raise InputError(message)
    matches = [dict(zip(names, ("" if cell is None else str(cell) for cell in row), strict=True)) for row in rows]
    return tuple(names), matches


INSTALL = "pip install 'theodolite[parquet]'"
"""The command that installs Apache Arrow."""

_GROUP = 20_000
"""Rows of one row group; count."""


def has_parquet() -> bool:
    """Whether Apache Arrow is installed."""
    return find_spec("pyarrow") is not None


def require_parquet() -> None:
    """Reject the format if Apache Arrow is not installed.

    Raises:
        InputError: If it is not.
    """
    if not has_parquet():
        message = f"Parquet is written by Apache Arrow, which is not installed; type: {INSTALL}"
        raise InputError(message)


def parquet_bytes(columns: Mapping[str, type], rows: Iterable[Sequence[object]], *, about: Mapping[str, str]) -> bytes:
    """Return a table as a Parquet file, compressed with Zstandard.

    The type of a column depends on its name and never on its values, so that
    files of several runs can be read together.

    Args:
        columns: Name of each column to the type of its values: `str`, `int`, `float` or `bool`.
        rows: A value for each column; None if there is none. They are read in groups, and never all in memory.
        about: Metadata of the file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([pa.field(name, types[kind]) for name, kind in columns.items()], metadata=dict(about))
    file = io.BytesIO()
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        remaining = iter(rows)
        while group := list(islice(remaining, _GROUP)):
            values = zip(*group, strict=True)
            arrays = [
                pa.array([_typed(value, kind) for value in column], types[kind])
                for column, kind in zip(values, columns.values(), strict=True)
            ]
            writer.write_table(pa.table(arrays, schema=schema))
    return file.getvalue()


def _typed(value: object, kind: type) -> object:
    if value is None or (value == "" and kind is not str):
        return None
    if kind is bool:
        return bool(value)
    return kind(str(value)) if kind is int else kind(value)
