"""Many work items at once: found under their tokens, locked together, and noted one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from django.db import transaction

from theodolite.store.ledger import CHUNK, database_now, one_at_a_time
from theodolite.store.models.annotating import QueueRow, ReservationEventRow, ReservationRow, WorkItemRow

V = TypeVar("V")


@contextmanager
def locked(row: QueueRow) -> Iterator[None]:
    """Do something while nobody else changes the queue, whole or not at all."""
    with transaction.atomic():
        one_at_a_time(f"queue {row.token}")
        yield


def rows_under(row: QueueRow, items: Sequence[str]) -> list[WorkItemRow]:
    """Return the items of a queue under some tokens, in the order in which they came in."""
    held = {
        item.pk: item for tokens in in_chunks(items) for item in WorkItemRow.objects.filter(queue=row, token__in=tokens)
    }
    return [held[number] for number in sorted(held)]


def in_chunks(values: Iterable[V]) -> Iterator[list[V]]:
    """Yield different values, as many at once as one statement takes."""
    known = list(dict.fromkeys(values))
    for start in range(0, len(known), CHUNK):
        yield known[start : start + CHUNK]


def note_all(claims: Sequence[ReservationRow], by: str) -> None:
    """Write down what happened to claims."""
    now = database_now()
    ReservationEventRow.objects.bulk_create(
        (ReservationEventRow(reservation=one, state=one.state, by=by, created=now) for one in claims), batch_size=CHUNK
    )
