"""Parquet: tables with typed columns, written by Apache Arrow where the extra is there."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from itertools import islice

from theodolite.domain.errors import InputError

INSTALL = "pip install 'theodolite[parquet]'"
"""The command that installs Apache Arrow."""

_GROUP = 20_000
"""Rows of one row group; count."""


def has_parquet() -> bool:
    """Whether Apache Arrow is installed."""
    return find_spec("pyarrow") is not None


def require_parquet() -> None:
    """Refuse to begin where Apache Arrow is not installed.

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
        rows: A value for each column; None where there is none. They are read in groups, and never all in memory.
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
