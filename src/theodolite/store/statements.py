"""Statements: the few that every reply and every result needs, prepared once.

Django composes an INSERT anew for each batch, value by value; at a thousand
replies a second that was most of the writer's work. Here the text is made once
from the model, with every column named, and the driver binds many rows to it.
Conflicts are not ignored: a row that breaks a rule fails its batch, as ever. Only
contents are there or not, and equal versions are equal contents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from operator import itemgetter
from typing import Any, TypeAlias

from django.db import connection
from django.db.models import Field, Model

from theodolite.domain.run import UnitState
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models import UnitRow
from theodolite.store.repair import repaired_text

_AT_ONCE = 500
"""Parameters of one statement at most; count."""

_UNITS = UnitRow._meta.db_table  # noqa: SLF001  # `_meta` is Django's own door to a model

_OVER = "state NOT IN ('done', 'withdrawn')"
_END = f"UPDATE {_UNITS} SET state = %s, ready = 1, owner = '', lease_until = NULL WHERE id = %s AND {_OVER}"  # noqa: S608
# The condition is repeated word for word, so that SQLite may use the partial index.
_READY = f"UPDATE {_UNITS} SET ready = 1 WHERE subject IS NOT NULL AND subject = %s"  # noqa: S608

_Into = Callable[[Any], Any]
_PLAIN: dict[str, _Into] = {
    "BigAutoField": int,
    "BigIntegerField": int,
    "BooleanField": bool,
    "FloatField": float,
    "IntegerField": int,
    "TextField": str,
}
Row: TypeAlias = Mapping[str, object]
"""Values of one row by column; every column of its model is named, but for the row's own number."""


def insert(model: type[Model], rows: Iterable[Row], *, unless_there: str = "") -> None:
    """Insert rows of one model; their own numbers are given by the database and not read back.

    Args:
        model: Whose rows they are.
        rows: The rows.
        unless_there: Unique column by which a row that is there already is known and left as it is.

    Raises:
        KeyError: If a row does not name a column.
    """
    statement, values, converters = _insertion(model)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"{statement} ON CONFLICT ({unless_there}) DO NOTHING" if unless_there else statement,
            [
                [
                    value if into is None or value is None else into(value)
                    for value, into in zip(values(row), converters, strict=True)
                ]
                for row in rows
            ],
        )


def numbers(model: type[Model], unit_ids: Iterable[int], *columns: str) -> dict[tuple[int, ...], int]:
    """Return the numbers of rows that belong to some units, by unit and further whole-number columns."""
    rest, found = iter(set(unit_ids)), dict[tuple[int, ...], int]()
    table, wanted = model._meta.db_table, ", ".join(["unit_id", *columns])  # noqa: SLF001
    with connection.cursor() as cursor:
        while chunk := list(islice(rest, _AT_ONCE)):
            marks = ", ".join(["%s"] * len(chunk))
            cursor.execute(f"SELECT {wanted}, id FROM {table} WHERE unit_id IN ({marks}) ORDER BY id", chunk)  # noqa: S608
            found.update({tuple(key): number for *key, number in cursor.fetchall()})
    return found


def end_units(unit_ids: Sequence[int], state: UnitState) -> int:
    """Set the state of units that are not done, end their leases, and return how many there were."""
    if not unit_ids:
        return 0
    with connection.cursor() as cursor:
        cursor.executemany(_END, [(state.value, unit_id) for unit_id in set(unit_ids)])
        return int(cursor.rowcount)


def make_ready(subjects: Iterable[str]) -> None:
    """Let those annotations be leased whose sessions are done."""
    with connection.cursor() as cursor:
        cursor.executemany(_READY, [(bytes.fromhex(subject),) for subject in subjects])


@cache
def _insertion(model: type[Model]) -> tuple[str, Callable[[Row], tuple[Any, ...]], tuple[_Into | None, ...]]:
    """Return the statement of a model, what takes a row apart, and what prepares each value."""
    meta = model._meta  # noqa: SLF001
    fields = [field for field in meta.concrete_fields if not field.primary_key or isinstance(field, HashField)]
    columns = ", ".join(str(field.column) for field in fields)
    statement = f"INSERT INTO {meta.db_table} ({columns}) VALUES ({', '.join(['%s'] * len(fields))})"  # noqa: S608
    return statement, itemgetter(*(field.attname for field in fields)), tuple(_into(field) for field in fields)


def _into(field: Field[Any, Any]) -> _Into | None:
    """Return what a field does to a value on its way into the database; None where nothing is to be done."""
    kept: Any = getattr(field, "target_field", field)
    if isinstance(kept, HashField | MomentField):
        prepare: _Into = kept.get_prep_value
        return prepare
    if isinstance(kept, StorableTextField):
        return repaired_text  # what the field does, without the detour
    # SQLite would take any text for a number.
    return _PLAIN.get(kept.get_internal_type())
