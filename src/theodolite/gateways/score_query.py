"""Scores from a database: one query, read only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote, urlsplit

from theodolite.domain.errors import InputError, StorageUnavailable

SQLITE_SCHEMES = ("sqlite",)
POSTGRES_SCHEMES = ("postgres", "postgresql")

Rows = tuple[tuple[str, ...], list[dict[str, str]]]
"""Names of the columns, and the rows as texts."""


def is_database(place: str) -> bool:
    """Tell whether a place names a database and not a file.

    Example:
        >>> is_database("sqlite:///scores.db"), is_database("scores.csv")
        (True, False)
    """
    return urlsplit(place).scheme in (*SQLITE_SCHEMES, *POSTGRES_SCHEMES)


def query_rows(url: str, query: str) -> Rows:
    """Return what a query finds; the database is opened for reading only.

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
    found = [dict(zip(names, ("" if cell is None else str(cell) for cell in row), strict=True)) for row in rows]
    return tuple(names), found
