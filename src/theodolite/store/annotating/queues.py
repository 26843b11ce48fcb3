"""Queues: opening one, putting dialogues into it, changing what it asks."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, Max, OuterRef

from theodolite.domain.annotating.work import ItemState, QueueCategory, QueueDesign
from theodolite.domain.dialogue import HeldBy
from theodolite.domain.errors import NotFound
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import keyed_draw, version_of
from theodolite.domain.study import Study
from theodolite.store.annotating.library import Library
from theodolite.store.contents import content_of
from theodolite.store.ledger import CHUNK, database_now, one_at_a_time
from theodolite.store.models import DialogueRow
from theodolite.store.models.annotating import GoldRow, QueueEditionRow, QueueRow, ReservationRow, WorkItemRow

TOKEN_BYTES = 9
"""Bytes of a token that stands in addresses: 12 characters nobody guesses."""


def new_token() -> str:
    """Return a token that nobody can guess and that tells nothing."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def open_queue(library: Library, name: str, study: Study, design: QueueDesign, *, by: str = "") -> str:
    """Open a queue, or bring the one of that name to this study and design; return its token.

    Args:
        library: Where study, guidelines and design are kept.
        name: What the queue is called on this server.
        study: Whose dialogues are annotated; its guidelines are the categories.
        design: What is asked of whom.
        by: Who says so; an account's name or an opaque key.
    """
    categories = [study.guideline(category.name) for category in design.categories]
    kept = [content_of(study), content_of(design), *map(content_of, categories)]
    with transaction.atomic():
        one_at_a_time(f"queue {name}")
        library.contents.keep(kept)
        row = QueueRow.objects.filter(name=name).first()
        if row is None:
            row = QueueRow(token=new_token(), name=name, salt=secrets.token_hex(16), created=database_now())
        row.study, row.study_content_id, changed = study.name, version_of(study), row.design_id != version_of(design)
        row.design_id = version_of(design)
        row.save()
        if changed:
            _enter_edition(row, by)
            _spread_passes(row, design)
            _renew(row, design)
    return str(row.token)


def _enter_edition(row: QueueRow, by: str) -> None:
    last = QueueEditionRow.objects.filter(queue=row).aggregate(last=Max("number"))["last"] or 0
    QueueEditionRow.objects.create(queue=row, number=last + 1, design_id=row.design_id, by=by, created=database_now())


def _spread_passes(row: QueueRow, design: QueueDesign) -> None:
    """Give open items the wanted passes, never fewer than are taken; what is complete or gold stays as it is."""
    wanted = design.process.passes
    items = WorkItemRow.objects.filter(queue=row, state=ItemState.OPEN.value)
    items = items.exclude(id__in=GoldRow.objects.filter(item__queue=row).values("item_id"))
    for item in items.exclude(passes=wanted):
        item.passes = max(wanted, item.live)
        if item.done >= item.passes:
            item.state = ItemState.COMPLETE.value
        item.save()


def _renew(row: QueueRow, design: QueueDesign) -> None:
    """Bring dialogues that nobody has ever taken to the version that is asked now; those of others keep theirs."""
    taken = ReservationRow.objects.filter(item=OuterRef("pk"))
    for category in design.categories:
        items = WorkItemRow.objects.filter(queue=row, category=category.name).exclude(version=category.version)
        items.filter(~Exists(taken)).update(version=category.version)


def designed(categories: Sequence[Guideline]) -> tuple[QueueCategory, ...]:
    """Return guidelines as the categories of a queue."""
    return tuple(QueueCategory(name=one.name, version=version_of(one)) for one in categories)


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


def add_dialogues(library: Library, queue: str, dialogues: Sequence[str], *, categories: Sequence[str] = ()) -> int:
    """Put dialogues into a queue; those that are there already stay as they are.

    Args:
        library: Where the queue's design is kept.
        queue: Token of the queue.
        dialogues: Keys of dialogues that are stored.
        categories: Names of the categories to ask at once; empty for the first one, or all where none is first.

    Returns:
        Items that are new; count.
    """
    row = queue_of(queue)
    design = library.design(row.design_id)
    names = list(categories) or ([design.first] if design.first else [one.name for one in design.categories])
    before = WorkItemRow.objects.filter(queue=row).count()
    for start in range(0, len(dialogues), CHUNK):
        found = list(DialogueRow.objects.filter(unit__key__in=dialogues[start : start + CHUNK]).select_related("unit"))
        _refuse_missing(set(dialogues[start : start + CHUNK]) - {one.unit.key for one in found})
        with transaction.atomic():
            add_items(row, design, found, names)
    return WorkItemRow.objects.filter(queue=row).count() - before


def _refuse_missing(keys: set[str]) -> None:
    if keys:
        message = f"no dialogue is stored under the key {min(keys)}; it must be kept before people annotate it"
        raise NotFound(message)


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
