"""Orders: which order a sitting shows, and from which end an annotator meets the queue; both stay as they are."""

from __future__ import annotations

from collections.abc import Iterable

from theodolite.assessment.queue.ordering import comes_backwards, next_order
from theodolite.domain.annotating.work import QueueDesign
from theodolite.domain.people.event import AnnotationProcess
from theodolite.domain.shown_order import NOT_VARIED, ShownOrder, shown_order_of
from theodolite.store.annotating.library import Library
from theodolite.store.models.annotating import QueueRow, ReservationRow, WorkItemRow


def order_of_next(library: Library, design: QueueDesign, item: WorkItemRow, participant: str) -> ShownOrder:
    """Return the order in which an annotator will be shown an item that is new to them.

    Args:
        library: Where guidelines are kept.
        design: What the queue asks.
        item: What is taken.
        participant: Opaque key of the annotator.
    """
    process = design.process
    if not process.order.is_varied:
        return NOT_VARIED
    mine = ReservationRow.objects.filter(item__queue_id=item.queue_id, item__category=item.category)
    return next_order(
        process,
        library.guideline(item.version).instrument,
        sitting=f"{item.dialogue.unit.key} {item.category} {participant}",
        of_dialogue=_orders(ReservationRow.objects.filter(item=item).values_list("shown", flat=True)),
        of_annotator=_orders(mine.filter(participant__key=participant).values_list("shown", flat=True)),
        backwards=from_the_end(item.queue, participant, process),
    )


def _orders(texts: Iterable[str]) -> list[ShownOrder]:
    return [shown_order_of(text) for text in texts if text]


def from_the_end(queue: QueueRow, participant: str, process: AnnotationProcess) -> bool | None:
    """Return whether an annotator meets the queue from its end; None where all meet it from its beginning.

    What an annotator began with, they go on with.
    """
    if not process.order.dialogues:
        return None
    told = ReservationRow.objects.filter(item__queue=queue, shown__contains="dialogues")
    ways = told.order_by().values_list("participant__key", "shown").distinct()
    found = {person: bool(shown_order_of(text).dialogues) for person, text in ways}
    own = found.pop(participant, None)
    return comes_backwards(process, participant, list(found.values())) if own is None else own
