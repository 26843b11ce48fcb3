"""One's own: how far one annotator is in each category, and nobody else's figures."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q

from theodolite.domain.work import ReservationState
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.qualified import qualified_for
from theodolite.store.annotating.queues import queue_of
from theodolite.store.annotating.taking import candidates
from theodolite.store.ledger import database_now
from theodolite.store.models.annotating import ReservationRow


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryCount:
    """How far one annotator is in a category.

    Attributes:
        name: Name of the category.
        version: Content hash of its guideline.
        is_qualified: Whether the annotator may work in it.
        n_done: Dialogues submitted; count.
        n_today: The same since midnight UTC; count.
        n_left: Dialogues that they may take now; count.
        is_held: Whether they hold one now.
    """

    name: str
    version: str
    is_qualified: bool
    n_done: int = 0
    n_today: int = 0
    n_left: int = 0
    is_held: bool = False


def own_counts(library: Library, queue: str, participant: str) -> tuple[CategoryCount, ...]:
    """Return how far an annotator is in each category of a queue, in the queue's order.

    Args:
        library: Where the queue's design is kept.
        queue: Token of the queue.
        participant: Opaque key of the annotator.
    """
    row = queue_of(queue)
    qualified = qualified_for(library, row, participant)
    mine = ReservationRow.objects.filter(item__queue=row, participant__key=participant)
    is_done = Q(state=ReservationState.SUBMITTED.value)
    midnight = database_now().replace(hour=0, minute=0, second=0, microsecond=0)
    done = {
        name: counts
        for name, *counts in mine.values_list("item__category").annotate(
            done=Count("id", filter=is_done),
            today=Count("id", filter=is_done & Q(submitted__gte=midnight)),
            held=Count("id", filter=Q(state=ReservationState.RESERVED.value)),
        )
    }
    waiting = candidates(library, row, participant).order_by().values_list("category").annotate(n=Count("id"))
    left = dict(waiting)
    return tuple(
        CategoryCount(
            name=one.name,
            version=one.version,
            is_qualified=one.name in qualified,
            n_done=done.get(one.name, [0])[0],
            n_today=done.get(one.name, [0, 0])[1],
            n_left=left.get(one.name, 0),
            is_held=bool(done.get(one.name, [0, 0, 0])[2]),
        )
        for one in library.design(row.design_id).categories
    )
