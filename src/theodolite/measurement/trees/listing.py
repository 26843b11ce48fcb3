"""Listing: the single answers behind a leaf of a tree, those of dialogues that lift it first."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from theodolite.domain.trees.leaf import Leaf
from theodolite.domain.trees.tree import AnswersNode
from theodolite.measurement.trees.leaves import ANSWERED, NO_TURN, OUTCOMES, LeafTable

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
    return tuple(_leaf(node.question, table, int(row)) for row in first)


def _leaf(question: str, table: LeafTable, row: int) -> Leaf:
    session, turn, text = table.sessions[table.session[row]], int(table.turn[row]), int(table.text[row])
    by, kind = table.answerers[table.answerer[row]]
    return Leaf(
        question=question,
        session=session.label,
        value=None if text < 0 else table.texts[text],
        outcome=OUTCOMES[table.outcome[row]],
        by=by,
        kind=kind,
        turn=None if turn == NO_TURN else turn,
        cluster=session.cluster,
        level=session.level,
        held_by=session.held_by,
        groups=dict(session.groups),
    )
