"""Routes: what a dialogue's first category opens once it is complete."""

from __future__ import annotations

from django.db.models import Max

from theodolite.assessment.queue.category_routing import Reviewed, routed, sees_violation
from theodolite.domain.annotating.work import QueueDesign, Routed
from theodolite.store.annotating.given import given_to
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.queues import add_items
from theodolite.store.ledger import database_now
from theodolite.store.models import DialogueRow
from theodolite.store.models.annotating import RoutedRow, WorkItemRow


def route_on(library: Library, item: WorkItemRow, reviewed: Reviewed = Reviewed.NOT_YET) -> Routed | None:
    """Open the categories that follow a complete first one, and write down why; None where nothing follows.

    What was opened before is never closed again, even if a later revision of an answer would not have opened it.
    A dialogue that is annotated again went its way before.
    """
    design = library.design(item.queue.design_id)
    if item.category != design.first or item.again:
        return None
    decided = routed(_votes(library, item), design.process.route, reviewed)
    _enter(item, decided)
    if decided.violation is not None:
        _open(item, design, violation=decided.violation)
    return decided


def _votes(library: Library, item: WorkItemRow) -> list[bool]:
    """Return for each submitted pass whether it saw a violation."""
    guideline, groups = library.guideline(item.version), library.dialogue(item.dialogue.unit_id).groups
    return [sees_violation(guideline, answers, groups) for answers in given_to(item).values()]


def _enter(item: WorkItemRow, decided: Routed) -> None:
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


def _open(item: WorkItemRow, design: QueueDesign, *, violation: bool) -> None:
    dialogue = DialogueRow.objects.select_related("unit").get(pk=item.dialogue_id)
    add_items(item.queue, design, [dialogue], design.after(violation=violation))
