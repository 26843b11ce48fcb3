"""How far a work item has come."""

from __future__ import annotations

import pytest

from theodolite.annotation.rules import stage_of
from theodolite.domain.annotating.listing import ItemStage
from theodolite.domain.annotating.work import ItemState

STAGES = [
    (ItemState.OPEN, 0, 0, 0, ItemStage.WAITING),
    (ItemState.OPEN, 1, 0, 0, ItemStage.IN_WORK),
    (ItemState.COMPLETE, 2, 0, 0, ItemStage.ANNOTATED),
    (ItemState.COMPLETE, 2, 3, 3, ItemStage.DISPUTED),
    (ItemState.FROZEN, 2, 3, 2, ItemStage.UNDER_REVIEW),
    (ItemState.FROZEN, 2, 3, 3, ItemStage.FINAL),
    (ItemState.FROZEN, 2, 0, 0, ItemStage.FINAL),
    (ItemState.ASIDE, 1, 3, 0, ItemStage.ASIDE),
]


@pytest.mark.parametrize(("state", "n_live", "n_disputed", "n_resolved", "stage"), STAGES)
def test_the_stage_follows_from_where_an_item_stands(state, n_live, n_disputed, n_resolved, stage):
    assert stage_of(state, n_live=n_live, n_disputed=n_disputed, n_resolved=n_resolved) is stage
