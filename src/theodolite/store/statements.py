"""Statements that every reply and every result needs, prepared once.

Django composes an INSERT anew for each batch, value by value; at a thousand
replies a second that was most of the writer's work. Here the text is made once
from the model, with every column named, and the driver binds many rows to it.
Many rows are one statement: SQLite's driver lets the event loop's thread go on
with each statement, and returns only when that one yields.
Removal condition (ADR-0075): use `bulk_create` once the statements save less than a tenth
of the CPU time of a run of 800 dialogues of 6 turns.
Conflicts are not ignored: a row that breaks a rule fails its batch, as usual. Only
contents exist or not, and equal versions have equal contents.
"""

from __future__ import annotations

from collections import defaultdict, namedtuple
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import chain, islice
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import BigIntegerField, Count, ExpressionWrapper, F, Field, Model, Q, QuerySet

from theodolite.domain.run import UnitKind, UnitState
from theodolite.store.fields import HashField, MomentField, StorableTextField, clock_words, repaired_text
from theodolite.store.models import UnitRow

_AT_ONCE = 512
"""Maximum number of parameters of one statement; count."""


_UNITS = UnitRow._meta.db_table  # noqa: SLF001  # `_meta` is Django's own door to a model


_OVER = "state NOT IN ('done', 'withdrawn')"

_ENDED = "state = %s, ready = 1, owner = '', lease_until = NULL"


Value = TypeVar("Value")


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
"""Values of one row by column: every column of its model except the row's own number."""


def insert(model: type[Model], rows: Iterable[Row], *, unless_there: str = "") -> None:
    """Insert rows of one model; their own numbers are given by the database and not read back.

    Args:
        model: Model of the rows.
        rows: The rows.
        unless_there: Unique column; a row with an existing value is skipped.

    Raises:
        KeyError: If a row does not name a column.
    """
    form = _insertion(model)
    values = [form.bound(row) for row in rows]
    start = 0
    while start < len(values):
        n = min(form.at_once, _power_within(len(values) - start))
        execute(_insert_words(model, n, unless_there), list(chain.from_iterable(values[start : start + n])))
        start += n


def numbers(model: type[Model], unit_ids: Iterable[int], *columns: str) -> dict[tuple[int, ...], int]:
    """Return the numbers of rows that belong to some units, by unit and further whole-number columns."""
    result = dict[tuple[int, ...], int]()
    table, requested = model._meta.db_table, ", ".join(["unit_id", *columns])  # noqa: SLF001
    for chunk in chunks(unit_ids):
        rows = execute(f"SELECT {requested}, id FROM {table} WHERE unit_id IN ({marks(len(chunk))}) ORDER BY id", chunk)  # noqa: S608
        result.update({tuple(key): number for *key, number in rows.fetchall()})
    return result


def fetched(rows: QuerySet[Any, tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the rows of a query by columns as the database returns them, all in one list.

    Django asks each column of each row what it means, which takes longer than
    reading 200,000 of them: here moments are microseconds and hashes are bytes.
    """
    statement, values = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def end_units(unit_ids: Sequence[int], state: UnitState) -> int:
    """Set the state of units that are not done, end their leases, and return the number of units."""
    n = 0
    for chunk in chunks(unit_ids):
        words = f"UPDATE {_UNITS} SET {_ENDED} WHERE id IN ({marks(len(chunk))}) AND {_OVER}"  # noqa: S608
        n += int(execute(words, [state.value, *chunk]).rowcount)
    return n


def make_ready(subjects: Iterable[str]) -> None:
    """Open the annotations of finished sessions for leases."""
    for chunk in chunks(bytes.fromhex(subject) for subject in subjects):
        # The condition is repeated word for word, so that SQLite may use the partial index.
        execute(
            f"UPDATE {_UNITS} SET ready = 1 WHERE subject IS NOT NULL AND subject IN ({marks(len(chunk))})",  # noqa: S608
            chunk,
        )


class _Insertion(NamedTuple):
    """How the rows of one model are inserted.

    Attributes:
        head: The statement up to its values.
        marks: Placeholders for the values of one row.
        at_once: Maximum number of rows of one statement; a power of two, count.
        values: Returns a row's values, in the order of the columns.
        converters: Function that prepares each value; None if no value needs it.
    """

    head: str
    marks: str
    at_once: int
    values: Callable[[Row], tuple[Any, ...]]
    converters: tuple[_Into | None, ...]

    def bound(self, row: Row) -> list[Any]:
        """Return the values bound for a row."""
        return [
            value if into is None or value is None else into(value)
            for value, into in zip(self.values(row), self.converters, strict=True)
        ]


@cache
def _insertion(model: type[Model]) -> _Insertion:
    meta = model._meta  # noqa: SLF001
    fields = [field for field in meta.concrete_fields if not field.primary_key or isinstance(field, HashField)]
    return _Insertion(
        head=f"INSERT INTO {meta.db_table} ({', '.join(str(field.column) for field in fields)}) VALUES ",  # noqa: S608
        marks=f"({marks(len(fields))})",
        at_once=_power_within(_AT_ONCE // len(fields)),
        values=itemgetter(*(field.attname for field in fields)),
        converters=tuple(_into(field) for field in fields),
    )


@cache
def _insert_words(model: type[Model], n: int, unless_there: str) -> str:
    """Return the statement that inserts a number of rows at once."""
    form = _insertion(model)
    end = f" ON CONFLICT ({unless_there}) DO NOTHING" if unless_there else ""
    return f"{form.head}{', '.join([form.marks] * n)}{end}"


def chunks(values: Iterable[Value]) -> Iterator[list[Value]]:
    """Yield distinct values, in chunks of the maximum size of a statement.

    Chunk sizes are powers of two, filled by repeating the last value, so that a few
    different statements suffice and the driver has them all prepared.
    """
    rest = iter(set(values))
    while chunk := list(islice(rest, _AT_ONCE)):
        yield chunk + chunk[-1:] * (_power_from(len(chunk)) - len(chunk))


def _power_within(n: int) -> int:
    """Return the largest power of two that does not exceed a number."""
    return 1 << n.bit_length() - 1


def _power_from(n: int) -> int:
    """Return the smallest power of two that is no less than a number."""
    return 1 << (n - 1).bit_length()


@cache
def marks(n: int) -> str:
    """Return the placeholders for a number of values."""
    return ", ".join(["%s"] * n)


def without_time_limits(connection: Any) -> None:
    """Disable the statement timeout of a PostgreSQL connection, for migrations and copies of large tables."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
            cursor.execute("SET idle_in_transaction_session_timeout = 0")


def execute(words: str, values: Sequence[object]) -> Any:
    """Execute a statement on this thread's connection without Django's cursor, which parses each text again."""
    here = connections[DEFAULT_DB_ALIAS]  # cached: a look-up of the thread's owner takes a while
    here.ensure_connection()
    with here.wrap_database_errors:
        return here.connection.execute(_native(words, here.vendor), values)


@lru_cache(maxsize=512)
def _native(words: str, vendor: str) -> str:
    """Return a statement with the marks of its database's driver."""
    return words.replace("%s", "?") if vendor == "sqlite" else words


def _into(field: Field[Any, Any]) -> _Into | None:
    """Return a field's conversion of values for the database; None if there is none."""
    stored: Any = getattr(field, "target_field", field)
    if isinstance(stored, HashField | MomentField):
        prepare: _Into = stored.get_prep_value
        return prepare
    if isinstance(stored, StorableTextField):
        return repaired_text  # the field's own conversion, without the detour
    # SQLite would take any text for a number.
    return _PLAIN.get(stored.get_internal_type())


def read_as(field: Field[Any, Any]) -> _Into | None:
    """Return a field's conversion of values from the database; None if there is none."""
    stored: Any = getattr(field, "target_field", field)
    if isinstance(stored, HashField | MomentField):
        read: _Into = stored.from_db_value
        return read
    return None


UNITS_AT_ONCE = 500
"""Number of units read in one chunk; count."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """The last unit that was read."""

    position: int = -1
    unit_id: int = -1


START = Bookmark()
"""Before the first unit of a plan."""


Read = TypeVar("Read")


Chunk: TypeAlias = tuple[list[Read], Bookmark | None]
"""Some records, and the position to continue from; None at the end."""


ReadChunk: TypeAlias = Callable[[Bookmark], Chunk[Read]]
"""Reads the records after a bookmark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRange:
    """Some units of a plan, in order.

    Attributes:
        origins: Numbers of the rows with their results.
        end: Position to continue from; None after the last unit.
    """

    origins: list[int]
    end: Bookmark | None


def next_units(run_id: int, kind: UnitKind, state: UnitState, after: Bookmark, at: Sequence[int] | None) -> UnitRange:
    """Return the next units of a run in some state, at some positions of the plan; None for all positions."""
    # Every unit with a result was ready before; this condition lets the index provide the order.
    units = UnitRow.objects.filter(run_id=run_id, kind=kind.value, state=state.value, ready=1)
    if at is not None:
        units = units.filter(position__in=at)
    beyond = Q(position__gt=after.position) | Q(position=after.position, id__gt=after.unit_id)
    result = list(
        units.filter(beyond, position__gte=after.position)
        .order_by("position", "id")
        .values_list("id", "adopted_from_id", "position")[:UNITS_AT_ONCE]
    )
    end = Bookmark(result[-1][2], result[-1][0]) if len(result) == UNITS_AT_ONCE else None
    return UnitRange(origins=[origin or unit_id for unit_id, origin, _ in result], end=end)


ModelRow = TypeVar("ModelRow", bound=Model)


def rows_of(
    model: type[ModelRow], column: str, values: Iterable[int | bytes], *order: str, columns: tuple[str, ...] = ()
) -> list[ModelRow]:
    """Return the rows of a model that belong to some others, as tuples named after its columns.

    Django composes a query again for each reading, value by value, and asks each column
    of each row what it means: that takes five times as long as reading them.

    Args:
        model: Model of the rows.
        column: Column of their owner: a number, or the bytes of a hash.
        values: Their owner.
        order: Columns by which rows that belong to the same are ordered.
        columns: Columns to return; all if none is named.
    """
    form = _form(model, columns)
    result: list[ModelRow] = []
    for chunk in chunks(values):
        words = f"{form.words} WHERE {column} IN ({marks(len(chunk))})"
        words += f" ORDER BY {', '.join(order)}" if order else ""
        result += map(form.made, execute(words, chunk).fetchall())
    return result


class _Form(NamedTuple):
    """How rows of one model are read.

    Attributes:
        words: The statement up to its condition.
        kind: Operation on each row.
        converters: Functions for the values of some columns, by position.
    """

    words: str
    kind: Any
    converters: tuple[tuple[int, Callable[[Any], Any]], ...]

    def made(self, values: Sequence[Any]) -> Any:
        """Return a row as a tuple with names."""
        if not self.converters:
            return self.kind._make(values)
        read = list(values)
        for position, into in self.converters:
            read[position] = into(read[position])
        return self.kind._make(read)


@cache
def _form(model: type[Model], columns: tuple[str, ...]) -> _Form:
    meta = model._meta  # noqa: SLF001  # Django's own door
    known = {str(field.column): field for field in meta.concrete_fields}
    requested = columns or tuple(known)
    fields = [known[column] for column in requested]
    converters = [(index, read_as(field)) for index, field in enumerate(fields)]
    return _Form(
        words=f"SELECT {', '.join(requested)} FROM {meta.db_table}",  # noqa: S608
        kind=namedtuple("Read", [field.attname for field in fields]),  # noqa: PYI024
        converters=tuple((index, into) for index, into in converters if into is not None),
    )


def grouped(rows: Iterable[ModelRow], owner: str) -> dict[int, list[ModelRow]]:
    """Return rows by the number of the row that they belong to, order kept."""
    parts: dict[int, list[ModelRow]] = defaultdict(list)
    for row in rows:
        parts[getattr(row, owner)].append(row)
    return parts


def parts_of(at: Collection[int] | None) -> Iterator[list[int] | None]:
    """Yield positions in chunks of the size of one read; yield None, which means all, unchanged."""
    if at is None:
        yield None
        return
    rest = iter(sorted(at))
    while part := list(islice(rest, UNITS_AT_ONCE)):
        yield part


def one_at_a_time(what: str) -> None:
    """Serialise transactions with the same purpose until the current one ends.

    SQLite needs nothing: all our transactions there take the write lock at their start.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"theodolite {what}"])


QUARTER_HOUR_S = 900
"""Length of the intervals of `per_quarter_hour`; seconds. Every time zone is a multiple of it away from UTC."""


def per_quarter_hour(rows: QuerySet[Any], moment: str) -> dict[datetime, int]:
    """Return the number of rows in each quarter of an hour, by its start (UTC); counts.

    The database counts, so that a page about many rows reads only a few; days of any time zone are sums of these.

    Args:
        rows: The rows; those without the time are ignored.
        moment: Name of a time column, or the path to it.
    """
    interval = ExpressionWrapper(F(moment) / (QUARTER_HOUR_S * 1_000_000), output_field=BigIntegerField())
    counted = rows.filter(**{f"{moment}__isnull": False}).order_by().annotate(interval=interval).values("interval")
    counts = counted.annotate(n=Count("id")).order_by("interval").values_list("interval", "n")
    return {datetime.fromtimestamp(number * QUARTER_HOUR_S, tz=UTC): n for number, n in counts}


def database_now() -> datetime:
    """Return the present moment by the database's clock; UTC."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {clock_words(connection.vendor)}")
        seconds: float = cursor.fetchone()[0]
    return datetime.fromtimestamp(seconds, tz=UTC)
