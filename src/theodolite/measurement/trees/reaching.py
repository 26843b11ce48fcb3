"""Reaching: which dialogues a node speaks of, and which of them lift it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from theodolite.domain.tree import TreeDesign
from theodolite.domain.tree_finding import NodeFinding, TreeFinding
from theodolite.measurement.trees.footing import sessions_below
from theodolite.measurement.trees.leaves import Flags, LeafTable
from theodolite.measurement.trees.methods import BUILT_IN, Methods
from theodolite.measurement.trees.replicates import compiled


def with_dialogues(
    finding: TreeFinding, design: TreeDesign, table: LeafTable, *, methods: Methods = BUILT_IN
) -> TreeFinding:
    """Return what a tree came to with the labels of the dialogues behind every node.

    A dialogue lifts a node if the node, computed from it alone, is above the
    lowest value of its range: for a rate these are the defects, for points on a
    scale all that are not at its good end.

    Args:
        finding: What the tree came to.
        design: The tree.
        table: Its leaves.
        methods: The summaries that there are.
    """
    tree = compiled(design, table, methods)
    met, alone = sessions_below(tree), tree.values_alone()

    def named(flags: Flags) -> tuple[str, ...]:
        return tuple(table.sessions[place].label for place in np.flatnonzero(flags))

    def lifting(node: NodeFinding) -> Flags:
        scale = tree.range(node.node)
        if node.node not in alone or scale is None:
            return np.zeros(tree.n_sessions, dtype=bool)
        return np.asarray(met[node.node] & (np.nan_to_num(alone[node.node], nan=scale.lowest) > scale.lowest))

    return replace(
        finding,
        nodes=tuple(
            replace(node, dialogues=named(met[node.node]), raised=named(lifting(node))) for node in finding.nodes
        ),
    )
