"""Reading by chunks: where in the plan a reading stands and which units come next.

Units are taken chunk by chunk in order of the plan, with the same number of queries
for each chunk however much it holds. A unit that adopted its result is read where
the result stands: at its origin.
"""

from __future__ import annotations

from collections import defaultdict, namedtuple
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from django.db.models import Model, Q

from theodolite.domain.run import UnitKind, UnitState
from theodolite.store.models import UnitRow
from theodolite.store.statements import chunks, execute, marks, read_as

CHUNK = 500
"""Units that are read at once; count."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """The unit that was read last."""

    position: int = -1
    unit_id: int = -1


START = Bookmark()
"""Before the first unit of a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitStretch:
    """Some units of a plan, in order.

    Attributes:
        origins: Numbers of the rows where their results stand.
        end: Where to go on; None after the last unit.
    """

    origins: list[int]
    end: Bookmark | None


def next_units(run_id: int, kind: UnitKind, state: UnitState, after: Bookmark, at: Sequence[int] | None) -> UnitStretch:
    """Return the next units of a run that are in some state; at some positions of the plan, or at all where None."""
    # Whatever has a result was ready for it; naming that lets the index serve the order.
    units = UnitRow.objects.filter(run_id=run_id, kind=kind.value, state=state.value, ready=1)
    if at is not None:
        units = units.filter(position__in=at)
    beyond = Q(position__gt=after.position) | Q(position=after.position, id__gt=after.unit_id)
    found = list(
        units.filter(beyond, position__gte=after.position)
        .order_by("position", "id")
        .values_list("id", "adopted_from_id", "position")[:CHUNK]
    )
    end = Bookmark(found[-1][2], found[-1][0]) if len(found) == CHUNK else None
    return UnitStretch(origins=[origin or unit_id for unit_id, origin, _ in found], end=end)


Row = TypeVar("Row", bound=Model)


def rows_of(
    model: type[Row], column: str, values: Iterable[int | bytes], *order: str, columns: tuple[str, ...] = ()
) -> list[Row]:
    """Return those rows of a model that belong to some others, as tuples with the names of its columns.

    Django composes a query anew for each reading, value by value, and asks each column
    of each row what it means: that takes five times as long as reading them.

    Args:
        model: Whose rows they are.
        column: Column that says what they belong to: a number, or the bytes of a hash.
        values: What they belong to.
        order: Columns by which rows that belong to the same are ordered.
        columns: Columns that are wanted; all where none is named.
    """
    form = _form(model, columns)
    found: list[Row] = []
    for chunk in chunks(values):
        words = f"{form.words} WHERE {column} IN ({marks(len(chunk))})"
        words += f" ORDER BY {', '.join(order)}" if order else ""
        found += map(form.made, execute(words, chunk).fetchall())
    return found


class _Form(NamedTuple):
    """How rows of one model are read.

    Attributes:
        words: The statement up to its condition.
        kind: What becomes of each row.
        converters: What is to be done with the values of some columns, by their place.
    """

    words: str
    kind: Any
    converters: tuple[tuple[int, Callable[[Any], Any]], ...]

    def made(self, values: Sequence[Any]) -> Any:
        """Return a row as a tuple with names."""
        if not self.converters:
            return self.kind._make(values)
        read = list(values)
        for place, into in self.converters:
            read[place] = into(read[place])
        return self.kind._make(read)


@cache
def _form(model: type[Model], columns: tuple[str, ...]) -> _Form:
    meta = model._meta  # noqa: SLF001  # Django's own door
    known = {str(field.column): field for field in meta.concrete_fields}
    wanted = columns or tuple(known)
    fields = [known[column] for column in wanted]
    converters = [(place, read_as(field)) for place, field in enumerate(fields)]
    return _Form(
        words=f"SELECT {', '.join(wanted)} FROM {meta.db_table}",  # noqa: S608
        kind=namedtuple("Read", [field.attname for field in fields]),  # noqa: PYI024
        converters=tuple((place, into) for place, into in converters if into is not None),
    )


def grouped(rows: Iterable[Row], owner: str) -> dict[int, list[Row]]:
    """Return rows by the number of the row that they belong to, order kept."""
    parts: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        parts[getattr(row, owner)].append(row)
    return parts


def parts_of(at: Collection[int] | None) -> Iterator[list[int] | None]:
    """Yield positions in order, as many at once as are read at once; None, which means all, as it is."""
    if at is None:
        yield None
        return
    rest = iter(sorted(at))
    while part := list(islice(rest, CHUNK)):
        yield part
