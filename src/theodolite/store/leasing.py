"""Leasing at once: a dialogue's annotations go to whoever held it, in the transaction that keeps it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from django.db import connection

from theodolite.domain.run import Lease, Unit, UnitKind, UnitState
from theodolite.store.fields import clock_words
from theodolite.store.models import UnitRow
from theodolite.store.statements import chunks, execute, marks

_TABLE = UnitRow._meta.db_table  # noqa: SLF001  # `_meta` is Django's own door to a model


class _Leased(NamedTuple):
    """What is read of a unit, in the order of `_COLUMNS`."""

    id: int
    key: bytes
    work_key: bytes
    position: int
    label: str
    application: str
    subject: bytes
    annotator: str
    tries: int

    def unit(self) -> Unit:
        """Return it as a record."""
        return Unit(
            key=bytes(self.key).hex(),
            kind=UnitKind.ANNOTATION,
            work_key=bytes(self.work_key).hex(),
            position=self.position,
            label=self.label,
            application=self.application,
            subject=bytes(self.subject).hex(),
            annotator=self.annotator,
            state=UnitState.LEASED,
            tries=self.tries,
        )


_COLUMNS = ", ".join(_Leased._fields)


def lease_about(subjects: Collection[str], lease: Lease) -> Iterator[tuple[int, Unit]]:
    """Lease the annotations that wait for some sessions, and yield them with the numbers of their rows, in order.

    Args:
        subjects: Keys of session units that are done with the transaction that is open.
        lease: Who does them, and how long it holds; whoever it is has leased units before.
    """
    until = f"{clock_words(connection.vendor)} + %s"
    for chunk in chunks(bytes.fromhex(subject) for subject in subjects):
        # The condition is repeated word for word, so that SQLite may use the partial index.
        about = f"subject IS NOT NULL AND subject IN ({marks(len(chunk))})"
        execute(
            f"UPDATE {_TABLE} SET ready = 1, state = %s, owner = %s, lease_until = {until}, tries = tries + 1 "  # noqa: S608
            f"WHERE {about} AND state = %s",
            [UnitState.LEASED.value, lease.owner, lease.seconds, *chunk, UnitState.WAITING.value],
        )
        found = execute(
            f"SELECT {_COLUMNS} FROM {_TABLE} WHERE {about} AND state = %s AND owner = %s ORDER BY id",  # noqa: S608
            [*chunk, UnitState.LEASED.value, lease.owner],
        )
        for row in found.fetchall():
            leased = _Leased(*row)
            yield leased.id, leased.unit()
