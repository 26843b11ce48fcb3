"""Parquet: tables with typed columns, written by Apache Arrow where the extra is there."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.util import find_spec

from theodolite.domain.errors import InputError

INSTALL = "pip install 'theodolite[parquet]'"
"""What brings Apache Arrow."""


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


def parquet_bytes(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    whole_numbers: Collection[str],
    about: Mapping[str, str],
) -> bytes:
    """Return a table as a Parquet file, compressed with Zstandard.

    The type of a column hangs on its name and never on what stands in it, so
    that files of several runs can be read together.

    Args:
        columns: Names of the columns.
        rows: A value for each column; None where there is none.
        whole_numbers: Columns of whole numbers (int64); all others hold text.
        about: What the file's own metadata tells of it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [pa.field(name, pa.int64() if name in whole_numbers else pa.string()) for name in columns]
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = [
        pa.array([_typed(value, is_number=name in whole_numbers) for value in column], field.type)
        for name, field, column in zip(columns, fields, values, strict=True)
    ]
    file = io.BytesIO()
    pq.write_table(pa.table(arrays, schema=pa.schema(fields, metadata=dict(about))), file, compression="zstd")
    return file.getvalue()


def _typed(value: object, *, is_number: bool) -> int | str | None:
    if value is None:
        return None
    if is_number:
        return int(str(value)) if str(value) else None
    return str(value)
