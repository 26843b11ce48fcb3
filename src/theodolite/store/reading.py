"""Reading by chunks: where in the plan a reading stands and which units come next.

Units are taken chunk by chunk in order of the plan, with the same number of queries
for each chunk however much it holds. A unit that adopted its result is read where
the result stands: at its origin.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar, cast

from django.db.models import Model, Q, QuerySet

from theodolite.domain.run import UnitKind, UnitState
from theodolite.store.models import UnitRow

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
class Stretch:
    """Some units of a plan, in order.

    Attributes:
        origins: Numbers of the rows where their results stand.
        end: Where to go on; None after the last unit.
    """

    origins: list[int]
    end: Bookmark | None


def next_units(run_id: int, kind: UnitKind, state: UnitState, after: Bookmark, at: Sequence[int] | None) -> Stretch:
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
    return Stretch(origins=[origin or unit_id for unit_id, origin, _ in found], end=end)


Row = TypeVar("Row", bound=Model)


def plain(rows: QuerySet[Row]) -> Iterator[Row]:
    """Yield rows as tuples with the names of their model's columns; making models of them takes three times as long."""
    columns = [field.attname for field in rows.model._meta.concrete_fields]  # noqa: SLF001  # Django's own door
    return cast("Iterator[Row]", iter(rows.values_list(*columns, named=True)))


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
