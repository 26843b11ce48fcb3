"""Stages: how far a dialogue has come in a category.

As with the order of the queue, the rule is written twice: here, where it can be
read, and as an expression of the store's list, which a test holds to this one.
"""

from __future__ import annotations

from theodolite.domain.annotating.listing import ItemStage
from theodolite.domain.annotating.work import ItemState


def stage_of(state: ItemState, *, n_live: int, n_disputed: int, n_resolved: int) -> ItemStage:
    """Return how far a work item has come.

    An item on which all agree may still be changed by its annotators: it is final
    only once a review was begun, and has dealt with every discrepancy there is.

    Args:
        state: Where it stands in the queue.
        n_live: Passes that are reserved or submitted; count.
        n_disputed: Places that its passes did not answer alike; count.
        n_resolved: Places of which a review has said something; count.

    Example:
        >>> stage_of(ItemState.COMPLETE, n_live=2, n_disputed=1, n_resolved=0).value
        'disputed'
    """
    match state:
        case ItemState.ASIDE:
            return ItemStage.ASIDE
        case ItemState.OPEN:
            return ItemStage.IN_WORK if n_live else ItemStage.WAITING
        case ItemState.COMPLETE:
            return ItemStage.DISPUTED if n_disputed else ItemStage.ANNOTATED
        case ItemState.FROZEN:
            return ItemStage.UNDER_REVIEW if n_resolved < n_disputed else ItemStage.FINAL
