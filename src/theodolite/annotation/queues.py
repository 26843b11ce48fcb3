"""Queues: open and fill one, read its submitted answers, route its dialogues."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, Max, OuterRef

from theodolite.annotation.cases import suspect, unseen
from theodolite.annotation.records import RecordCache
from theodolite.annotation.rules import Reviewed, discrepancies, queue_design, routed, sees_violation
from theodolite.domain.annotating.work import ItemState, QueueCategory, QueueDesign, ReservationState, Routed
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.study import Study
from theodolite.store.annotation_queue import add_edition, add_items, given_to, new_token, queue_of
from theodolite.store.contents import content_of
from theodolite.store.ledger import CHUNK, database_now, one_at_a_time
from theodolite.store.models import DialogueRow, TurnRow
from theodolite.store.models.annotating import (
    GoldRow,
    QueueRow,
    ReservationRow,
    RoutedRow,
    WorkItemRow,
)


def open_queue(records: RecordCache, name: str, study: Study, design: QueueDesign, *, by: str = "") -> str:
    """Open a queue, or bring the one of that name to this study and design; return its token.

    Args:
        records: Where study, guidelines and design are kept.
        name: What the queue is called on this server.
        study: Whose dialogues are annotated; its guidelines are the categories.
        design: What is asked of whom.
        by: Who says so; an account's name or an opaque key.
    """
    categories = [study.guideline(category.name) for category in design.categories]
    stored = [content_of(study), content_of(design), *map(content_of, categories)]
    with transaction.atomic():
        one_at_a_time(f"queue {name}")
        records.contents.keep(stored)
        row = QueueRow.objects.filter(name=name).first()
        if row is None:
            row = QueueRow(token=new_token(), name=name, salt=secrets.token_hex(16), created=database_now())
        row.study, row.study_content_id, changed = study.name, version_of(study), row.design_id != version_of(design)
        row.design_id = version_of(design)
        row.save()
        if changed:
            add_edition(row, by)
            _spread_passes(row, design)
            _renew(row, design)
    return str(row.token)


def _spread_passes(row: QueueRow, design: QueueDesign) -> None:
    """Give open items the wanted passes, never fewer than are taken; what is complete or gold stays as it is."""
    overlap = design.process.passes
    items = WorkItemRow.objects.filter(queue=row, state=ItemState.OPEN.value)
    items = items.exclude(id__in=GoldRow.objects.filter(item__queue=row).values("item_id"))
    for item in items.exclude(passes=overlap):
        item.passes = max(overlap, item.live)
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
    return tuple(QueueCategory(name=category.name, version=version_of(category)) for category in categories)


def queue_named(name: str) -> str:
    """Return the token of the queue of that name; empty where there is none."""
    return QueueRow.objects.filter(name=name).values_list("token", flat=True).first() or ""


def design_of(records: RecordCache, queue: str) -> QueueDesign:
    """Return what a queue asks of whom.

    Raises:
        NotFound: If there is none under that token.
    """
    return records.design(queue_of(queue).design_id)


def study_of(records: RecordCache, queue: str) -> Study:
    """Return the study of a queue, in the version that the queue was opened with last.

    Raises:
        NotFound: If there is none under that token.
    """
    return records.study(queue_of(queue).study_content_id)


def study_name(queue: str) -> str:
    """Return the name of the study whose dialogues a queue holds."""
    return str(queue_of(queue).study)


def has_item(queue: str, item: str) -> bool:
    """Return whether a work item belongs to a queue."""
    return WorkItemRow.objects.filter(token=item, queue__token=queue).exists()


def fill_queue(records: RecordCache, name: str, study: Study, *, by: str) -> int:
    """Put every stored dialogue of a study into the queue of that name; dialogues with withheld texts stay out.

    Programs look through new dialogues before annotators see them; their suspicions become cases.

    Args:
        records: Where study, guidelines and design are stored.
        name: Name of the queue on this server.
        study: The study as it was published last.
        by: Account or opaque key of the person who fills it.

    Returns:
        New items; count.

    Raises:
        Conflict: If the queue holds dialogues of another study.
        InputError: If the study has no schema.
    """
    known = QueueRow.objects.filter(name=name).first()
    if known is not None and known.study != study.name:
        message = f"the queue holds dialogues of `{known.study}`, and the study is called `{study.name}`"
        raise Conflict(message)
    queue = open_queue(records, name, study, queue_design(study), by=by)
    rows = DialogueRow.objects.filter(unit__run__study=study.name)
    silent = TurnRow.objects.exclude(withheld="").values("dialogue_id")
    keys = unseen(queue, list(rows.exclude(id__in=silent).values_list("unit__key", flat=True)))
    suspect(records, queue, keys)
    return add_dialogues(records, queue, keys)


def last_active_queues(most: int) -> list[str]:
    """Return the tokens of the queues in which somebody submitted last, at most so many."""
    submitted = ReservationRow.objects.filter(submitted__isnull=False).values_list("item__queue__token")
    latest = submitted.annotate(last=Max("submitted")).order_by("-last")[:most]
    return [token for token, _ in latest]


def add_dialogues(records: RecordCache, queue: str, dialogues: Sequence[str], *, categories: Sequence[str] = ()) -> int:
    """Put dialogues into a queue; those that are there already stay as they are.

    Args:
        records: Where the queue's design is kept.
        queue: Token of the queue.
        dialogues: Keys of dialogues that are stored.
        categories: Names of the categories to ask at once; empty for the first one, or all where none is first.

    Returns:
        Items that are new; count.
    """
    row = queue_of(queue)
    design = records.design(row.design_id)
    names = list(categories) or ([design.first] if design.first else [category.name for category in design.categories])
    before = WorkItemRow.objects.filter(queue=row).count()
    for start in range(0, len(dialogues), CHUNK):
        rows = list(DialogueRow.objects.filter(unit__key__in=dialogues[start : start + CHUNK]).select_related("unit"))
        _refuse_missing(set(dialogues[start : start + CHUNK]) - {row.unit.key for row in rows})
        with transaction.atomic():
            add_items(row, design, rows, names)
    return WorkItemRow.objects.filter(queue=row).count() - before


def _refuse_missing(keys: set[str]) -> None:
    if keys:
        message = f"no dialogue is stored under the key {min(keys)}; it must be kept before people annotate it"
        raise NotFound(message)


def n_waiting(queue: str) -> int:
    """Return the items of a queue that lack a pass; count.

    Args:
        queue: Token of the queue.
    """
    return WorkItemRow.objects.filter(queue__token=queue, state=ItemState.OPEN.value).count()


def n_submitted(queue: str) -> int:
    """Return the sittings of a queue that were submitted; count.

    Args:
        queue: Token of the queue.
    """
    return ReservationRow.objects.filter(item__queue__token=queue, state=ReservationState.SUBMITTED.value).count()


def salt_of(item: WorkItemRow) -> str:
    """Return what decides the order of positions at an item."""
    return f"{item.queue.salt} {item.pk}"


def count_disputed(records: RecordCache, item: WorkItemRow) -> int:
    """Write down how many questions the passes of an item did not answer alike, and return it; count."""
    result = discrepancies(records.guideline(item.version), given_to(item), salt_of(item))
    item.disputed = len(result)
    WorkItemRow.objects.filter(pk=item.pk).update(disputed=item.disputed)
    return item.disputed


def route_on(records: RecordCache, item: WorkItemRow, reviewed: Reviewed = Reviewed.NOT_YET) -> Routed | None:
    """Open the categories that follow a complete first one, and write down why; None where nothing follows.

    What was opened before is never closed again, even if a later revision of an answer would not have opened it.
    A dialogue that is annotated again went its way before.
    """
    design = records.design(item.queue.design_id)
    if item.category != design.first or item.again:
        return None
    decided = routed(_votes(records, item), design.process.route, reviewed)
    _record_route(item, decided)
    if decided.violation is not None:
        _open_following(item, design, violation=decided.violation)
    return decided


def _votes(records: RecordCache, item: WorkItemRow) -> list[bool]:
    """Return for each submitted pass whether it saw a violation."""
    guideline, groups = records.guideline(item.version), records.dialogue(item.dialogue.unit_id).groups
    return [sees_violation(guideline, answers, groups) for answers in given_to(item).values()]


def _record_route(item: WorkItemRow, decided: Routed) -> None:
    rows = RoutedRow.objects.filter(queue=item.queue, dialogue=item.dialogue)
    RoutedRow.objects.create(
        queue=item.queue,
        dialogue=item.dialogue,
        number=(rows.aggregate(last=Max("number"))["last"] or 0) + 1,
        violation=decided.violation,
        disputed=decided.disputed,
        reason=decided.reason,
        created=database_now(),
    )


def _open_following(item: WorkItemRow, design: QueueDesign, *, violation: bool) -> None:
    dialogue = DialogueRow.objects.select_related("unit").get(pk=item.dialogue_id)
    add_items(item.queue, design, [dialogue], design.after(violation=violation))
