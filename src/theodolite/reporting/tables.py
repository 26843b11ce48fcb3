"""Tables of a report: a finding builds them once from typed values, and each renderer writes the values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import undefined_text
from theodolite.reporting.interval_bars import IntervalBar
from theodolite.reporting.words import figures
from theodolite.reporting.words.estimates import coefficient_text, difference_text, rate_text, share_text

Value = str | int | Estimate | Undefined | None
"""A value of a table: text, a count, a number or the reason why there is none; None for a non-existent case."""


class ColumnKind(StrEnum):
    """How the numbers of a column are written."""

    TEXT = "text"
    COUNT = "count"
    RATE = "rate"
    SHARE = "share"
    COEFFICIENT = "coefficient"
    DIFFERENCE = "difference"


def _coefficient_with_n(result: Estimate | Undefined) -> str:
    text = coefficient_text(result)
    return f"{text}, n {figures.count(result.n)}" if isinstance(result, Estimate) else text


_WRITERS: Mapping[ColumnKind, Callable[[Estimate | Undefined], str]] = {
    ColumnKind.RATE: rate_text,
    ColumnKind.SHARE: share_text,
    ColumnKind.COEFFICIENT: _coefficient_with_n,
    ColumnKind.DIFFERENCE: difference_text,
}


def value_text(value: Value, kind: ColumnKind = ColumnKind.RATE) -> str:
    """Return a value as text; a missing one is `none`, an undefined one states its reason.

    Example:
        >>> value_text(1200), value_text(Undefined(reason="No labels."))
        ('1,200', 'undefined: no labels')
    """
    match value:
        case None:
            return "none"
        case str():
            return value
        case int():
            return figures.count(value)
        case Undefined():
            return undefined_text(value)
        case Estimate():
            return _WRITERS.get(kind, rate_text)(value)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading and how its numbers are written."""

    title: str
    kind: ColumnKind = ColumnKind.TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Text that opens dialogues, after plain text."""

    before: str = ""
    text: str
    opens: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCell:
    """A value with its context on the page.

    Attributes:
        value: The value.
        kind: Format of a number, if it differs from the column's.
        details: Further lines below the value.
        opens: Name of the set of dialogues behind the value; empty for none.
        links: Further texts behind the value that open dialogues.
        estimate: Index in the list `estimates` of the results file, to which the value links.
        span: Rows that the cell covers; 0 if the cell above covers this row. Count.
    """

    value: Value
    kind: ColumnKind | None = None
    details: tuple[str, ...] = ()
    opens: str = ""
    links: tuple[Link, ...] = ()
    estimate: int | None = None
    span: int = 1
    is_rate: ClassVar[bool] = False

    @property
    def text(self) -> str:
        """The value as text."""
        return value_text(self.value, self.kind or ColumnKind.RATE)

    @property
    def is_undefined(self) -> bool:
        """Whether there is no value."""
        return self.value is None or isinstance(self.value, Undefined)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCell:
    """A defect rate of one application with its interval bar.

    Attributes:
        estimate: Position in the list `estimates`.
        application: Name of the application.
        tint: Number of the application's colour.
        by: Annotators of the rate, and the level of testing; empty if there is only one.
        count: Dialogues with the defect, as text.
        of: Dialogues with a label, as text.
        percent: The share as text; empty for too few units.
        interval: The interval or bound as text.
        undefined: Why there is no rate; empty if there is one.
        unmeasured: Missing labels by reason; empty for none.
        n_unmeasured: Units without a required label; count.
        bar: The interval bar; None for too few units.
        span: Rows that the cell covers; count.
    """

    estimate: int
    application: str
    tint: int
    by: str
    count: str
    of: str
    percent: str
    interval: str
    undefined: str
    unmeasured: str
    n_unmeasured: int
    bar: IntervalBar | None
    span: int = 1
    is_rate: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of a report; the first column names the rows.

    Attributes:
        title: Name of the table for screen readers.
        columns: Headings and kinds.
        rows: Values in order of the columns.
        caption: Heading above the table; empty for none.
        notes: Sentences below the table.
        style: Classes of the page.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Sequence[Value | TableCell | RateCell], ...]
    caption: str = ""
    notes: tuple[str, ...] = ()
    style: str = "groups asked"

    @property
    def cells(self) -> tuple[tuple[TableCell | RateCell, ...], ...]:
        """All rows as cells, each in the format of its column."""
        return tuple(
            tuple(_cell(value, column) for value, column in zip(row, self.columns, strict=True)) for row in self.rows
        )

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """All rows as text."""
        return tuple(
            tuple(cell.count if isinstance(cell, RateCell) else cell.text for cell in row) for row in self.cells
        )


def _cell(value: Value | TableCell | RateCell, column: Column) -> TableCell | RateCell:
    match value:
        case RateCell():
            return value
        case TableCell(kind=None):
            return replace(value, kind=column.kind)
        case TableCell():
            return value
        case _:
            return TableCell(value=value, kind=column.kind)


def columns(*titles: str | Column) -> tuple[Column, ...]:
    """Return columns; a plain title is a column of text."""
    return tuple(title if isinstance(title, Column) else Column(title) for title in titles)
