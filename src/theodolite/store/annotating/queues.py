"""The repository of annotation queues: rows of queues and of their work items."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from django.db import transaction
from django.db.models import Max

from theodolite.domain.annotating.work import QueueDesign
from theodolite.domain.dialogue import HeldBy
from theodolite.domain.errors import NotFound
from theodolite.domain.identity import keyed_draw
from theodolite.store.ledger import CHUNK, database_now, one_at_a_time
from theodolite.store.models import DialogueRow
from theodolite.store.models.annotating import QueueEditionRow, QueueRow, WorkItemRow

V = TypeVar("V")

TOKEN_BYTES = 9
"""Bytes of a token that stands in addresses: 12 characters nobody guesses."""


def new_token() -> str:
    """Return a token that nobody can guess and that tells nothing."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def queue_of(token: str) -> QueueRow:
    """Return the row of a queue.

    Raises:
        NotFound: If there is none under that token.
    """
    row = QueueRow.objects.filter(token=token).first()
    if row is None:
        message = f"no queue has the token `{token}`"
        raise NotFound(message)
    return row


def item_row(token: str) -> WorkItemRow:
    """Return the row of an item.

    Raises:
        NotFound: If there is none under that token.
    """
    row = WorkItemRow.objects.select_related("queue", "dialogue__unit").filter(token=token).first()
    if row is None:
        message = f"no work item has the token `{token}`"
        raise NotFound(message)
    return row


def add_edition(row: QueueRow, by: str) -> None:
    """Record that a queue asks by another design from now on."""
    last = QueueEditionRow.objects.filter(queue=row).aggregate(last=Max("number"))["last"] or 0
    QueueEditionRow.objects.create(queue=row, number=last + 1, design_id=row.design_id, by=by, created=database_now())


def add_items(
    queue: QueueRow, design: QueueDesign, dialogues: Sequence[DialogueRow], names: Sequence[str], *, again: int = 0
) -> None:
    """Insert the items of some dialogues in some categories, unless they are there; `again` numbers a later sample."""
    now = database_now()
    versions = {category.name: category.version for category in design.categories}
    WorkItemRow.objects.bulk_create(
        [
            WorkItemRow(
                token=new_token(),
                queue=queue,
                dialogue=dialogue,
                category=name,
                version=versions[name],
                again=again,
                tester=dialogue.cluster if dialogue.held_by == HeldBy.PERSON.value else "",
                passes=design.process.passes,
                draw=keyed_draw(design.process.seed, f"queue {name}", dialogue.unit.key),
                created=now,
            )
            for dialogue in dialogues
            for name in names
        ],
        ignore_conflicts=True,
    )


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
