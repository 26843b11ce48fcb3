"""One's own: how far one annotator is in each category, and nobody else's figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Min, Q

from theodolite.assessment.queue.pacing import minutes_at_work, minutes_left
from theodolite.domain.annotating.work import ReservationState
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.qualified import qualified_for
from theodolite.store.annotating.queues import queue_of
from theodolite.store.annotating.taking import candidates
from theodolite.store.ledger import database_now
from theodolite.store.models.annotating import DraftRow, ReservationEventRow, ReservationRow

LATELY_H = 12
"""How far back one looks for a break; hours."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPace:
    """How one annotator works.

    Attributes:
        at_work: How long they have been at it without a break; minutes.
        left: How long what waits for them takes at their pace so far; minutes, None where too little is known.
    """

    at_work: float
    left: float | None


def own_pace(queue: str, participant: str, n_left: int) -> OwnPace:
    """Return how an annotator works in a queue.

    Args:
        queue: Token of the queue.
        participant: Opaque key of the annotator.
        n_left: Dialogues that wait for them; count.
    """
    mine = Q(reservation__item__queue__token=queue, reservation__participant__key=participant)
    now = database_now()
    lately = mine & Q(created__gte=now - timedelta(hours=LATELY_H))
    acts = ReservationEventRow.objects.filter(lately).exclude(state=ReservationState.EXPIRED.value)
    answers = DraftRow.objects.filter(lately)
    moments = [*acts.values_list("created", flat=True), *answers.values_list("created", flat=True)]
    times = ReservationEventRow.objects.filter(mine, reservation__state=ReservationState.SUBMITTED.value)
    spans = times.values_list("reservation_id").annotate(
        begun=Min("created", filter=Q(state=ReservationState.RESERVED.value)),
        ended=Min("created", filter=Q(state=ReservationState.SUBMITTED.value)),
    )
    spent = [(ended - begun).total_seconds() / 60 for _, begun, ended in spans if begun and ended]
    return OwnPace(at_work=minutes_at_work(moments, now), left=minutes_left(spent, n_left))


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
