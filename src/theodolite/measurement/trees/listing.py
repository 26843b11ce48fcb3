"""Listing: the single answers behind a leaf of a tree, those of dialogues that lift it first."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from theodolite.domain.trees.leaf import Leaf
from theodolite.domain.trees.tree import AnswersNode
from theodolite.measurement.trees.leaves import ANSWERED, LeafTable

MOST_LISTED: Final = 50
"""Answers that are listed for a leaf and an application at most; the tree file holds all of them. Count."""


def listed_answers(node: AnswersNode, table: LeafTable, raised: Collection[str]) -> tuple[Leaf, ...]:
    """Return the first answers of a leaf: of dialogues that lift what stands above it, then others, then those without.

    Args:
        node: The leaf.
        table: All leaves of the tree.
        raised: Labels of the dialogues that lift what stands above the leaf.
    """
    rows = table.rows_of(node)
    if not len(rows):
        return ()
    lifts = np.array([one.label in raised for one in table.sessions], dtype=bool)
    answered = table.outcome[rows] == ANSWERED
    rank = np.where(~answered, 2, np.where(lifts[table.session[rows]], 0, 1))
    first = rows[np.argsort(rank, kind="stable")][:MOST_LISTED]
    return tuple(table.leaf(int(row)) for row in first)
