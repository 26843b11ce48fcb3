"""Settled dialogues: those about which annotators have nothing left to say, so that others may see what they said."""

from __future__ import annotations

from django.db.models import Count, QuerySet

from theodolite.domain.annotating.work import ItemState
from theodolite.store.models.annotating import ResolutionRow, WorkItemRow


def unsettled(study: str) -> frozenset[str]:
    """Return the keys of the dialogues that wait for a pass, or for a review of answers that differ.

    Args:
        study: Name of the study.
    """
    items = WorkItemRow.objects.filter(queue__study=study)
    waiting = items.filter(state__in=[ItemState.OPEN.value, ItemState.ASIDE.value])
    return _keys(waiting) | _keys(_disputed(items))


def _disputed(items: QuerySet[WorkItemRow]) -> QuerySet[WorkItemRow]:
    """Return the items with a question that was not answered alike and of which no review has said anything."""
    resolved = ResolutionRow.objects.filter(item__in=items, current=True).values_list("item_id")
    n_resolved = dict(resolved.annotate(n=Count("id")))
    enough = [
        number
        for number, n_disputed in items.filter(disputed__gt=0).values_list("id", "disputed")
        if n_resolved.get(number, 0) >= n_disputed
    ]
    return items.filter(disputed__gt=0).exclude(id__in=enough)


def _keys(items: QuerySet[WorkItemRow]) -> frozenset[str]:
    return frozenset(items.values_list("dialogue__unit__key", flat=True))
