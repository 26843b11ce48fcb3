"""Stored rows: the rows of a large file as its bytes and the place of each, read when they are asked for.

A million rows as mappings take more than a gigabyte; their bytes and two numbers
for each take little more than the file.
"""

from __future__ import annotations

import csv
import io
import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias, TypeVar, overload

R = TypeVar("R")

OnRows: TypeAlias = Callable[[str, int], None]
"""Called with a step in words, e.g. `Reading a.csv`, and the rows that it has gone through so far."""

EVERY = 20_000
"""Rows between two calls; count."""


def counted(rows: Iterable[R], step: str, on_rows: OnRows | None) -> Iterator[R]:
    """Yield rows, and tell now and then how many there were.

    Args:
        rows: The rows, or anything that stands for one each.
        step: The step in words.
        on_rows: Who is told; None for nobody.
    """
    if on_rows is None:
        yield from rows
        return
    for number, row in enumerate(rows):
        if number % EVERY == 0:
            on_rows(step, number)
        yield row


class RowFormat(Protocol):
    """How one record of a file becomes a row."""

    def row(self, record: str) -> dict[str, str]:
        """Return the row that a record holds."""
        ...


class CsvFormat:
    """Records of delimited files."""

    def __init__(self, columns: tuple[str, ...], delimiter: str) -> None:
        """Keep what tells fields apart, and what they are called."""
        self._columns, self._delimiter = columns, delimiter

    def row(self, record: str) -> dict[str, str]:
        """Return the row that a record holds."""
        (cells,) = csv.reader((record,), delimiter=self._delimiter, strict=True)
        return dict(zip(self._columns, cells, strict=True))


class JsonLinesFormat:
    """Records that are JSON objects; a column that a record lacks is empty."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        """Keep the columns of the whole file."""
        self._columns = columns

    def row(self, record: str) -> dict[str, str]:
        """Return the row that a record holds."""
        cells = {str(key): cell_text(value) for key, value in json.loads(record).items()}
        return {column: cells.get(column, "") for column in self._columns}


def cell_text(value: object) -> str:
    """Return a value of JSON as a cell of a table: texts as they are, nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class StoredRows(Sequence[Mapping[str, str]]):
    """Rows that are read from a file's bytes whenever they are asked for."""

    def __init__(self, stored: bytes, spans: array[int], reading: RowFormat) -> None:
        """Keep the bytes (UTF-8) and the begin and end of each record, one after the other."""
        self._stored, self._spans, self._reading = memoryview(stored), spans, reading

    def __len__(self) -> int:
        """Return how many there are; count."""
        return len(self._spans) // 2

    @overload
    def __getitem__(self, place: int) -> Mapping[str, str]: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Mapping[str, str]]: ...

    def __getitem__(self, place: int | slice) -> Mapping[str, str] | Sequence[Mapping[str, str]]:
        """Return the row at a place, or those of a slice."""
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        at = range(len(self))[place] * 2
        return self._reading.row(str(self._stored[self._spans[at] : self._spans[at + 1]], "utf-8"))


def lines_of(stored: bytes) -> Iterator[str]:
    """Yield the lines of UTF-8 bytes with their ends, one at a time: a text of them all would take their size again."""
    return iter(io.TextIOWrapper(io.BytesIO(stored), encoding="utf-8", newline=""))


class CountedLines:
    """Lines on their way to a reader, and how many bytes they took."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Begin before the first line."""
        self._lines = iter(lines)
        self.n_bytes = 0

    def __iter__(self) -> Iterator[str]:
        """Return the lines."""
        return self

    def __next__(self) -> str:
        """Return the next line."""
        line = next(self._lines)
        self.n_bytes += len(line) if line.isascii() else len(line.encode("utf-8"))
        return line
