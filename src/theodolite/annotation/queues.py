"""Queues: open and fill one, read its submitted answers, route its dialogues."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import Exists, Max, OuterRef

from theodolite.annotation.records import Library
from theodolite.annotation.rules import Reviewed, discrepancies, routed, sees_violation
from theodolite.domain.annotating.work import ItemState, QueueCategory, QueueDesign, ReservationState, Routed
from theodolite.domain.annotation import Answer
from theodolite.domain.errors import NotFound
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.study import Study
from theodolite.store.annotating.queues import add_edition, add_items, new_token, queue_of
from theodolite.store.annotating.reservations import SUBMITTED
from theodolite.store.annotations import annotations_in
from theodolite.store.contents import content_of
from theodolite.store.ledger import CHUNK, database_now, one_at_a_time
from theodolite.store.models import AnnotationRow, DialogueRow
from theodolite.store.models.annotating import (
    GoldRow,
    QueueRow,
    ReservationRow,
    RoutedRow,
    WorkItemRow,
)


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
            add_edition(row, by)
            _spread_passes(row, design)
            _renew(row, design)
    return str(row.token)


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


def given_to(item: WorkItemRow) -> Mapping[str, tuple[Answer, ...]]:
    """Return the answers of the submitted passes of an item, latest revisions, by participant."""
    rows = ReservationRow.objects.filter(item=item, state=SUBMITTED, annotation__isnull=False).order_by("id")
    people = dict(rows.values_list("annotation_id", "participant__key"))
    found = AnnotationRow.objects.filter(id__in=list(people)).order_by("id")
    return {people[row.pk]: one.answers for row, one in zip(found, annotations_in(list(found)), strict=True)}


def salt_of(item: WorkItemRow) -> str:
    """Return what decides the order of positions at an item."""
    return f"{item.queue.salt} {item.pk}"


def count_disputed(library: Library, item: WorkItemRow) -> int:
    """Write down how many questions the passes of an item did not answer alike, and return it; count."""
    found = discrepancies(library.guideline(item.version), given_to(item), salt_of(item))
    item.disputed = len(found)
    WorkItemRow.objects.filter(pk=item.pk).update(disputed=item.disputed)
    return item.disputed


def route_on(library: Library, item: WorkItemRow, reviewed: Reviewed = Reviewed.NOT_YET) -> Routed | None:
    """Open the categories that follow a complete first one, and write down why; None where nothing follows.

    What was opened before is never closed again, even if a later revision of an answer would not have opened it.
    A dialogue that is annotated again went its way before.
    """
    design = library.design(item.queue.design_id)
    if item.category != design.first or item.again:
        return None
    decided = routed(_votes(library, item), design.process.route, reviewed)
    _record_route(item, decided)
    if decided.violation is not None:
        _open_following(item, design, violation=decided.violation)
    return decided


def _votes(library: Library, item: WorkItemRow) -> list[bool]:
    """Return for each submitted pass whether it saw a violation."""
    guideline, groups = library.guideline(item.version), library.dialogue(item.dialogue.unit_id).groups
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
