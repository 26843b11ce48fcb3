"""Waiting: how much of a queue is still to be done, whoever does it."""

from __future__ import annotations

from theodolite.domain.annotating.work import ItemState, ReservationState
from theodolite.store.models.annotating import ReservationRow, WorkItemRow


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
