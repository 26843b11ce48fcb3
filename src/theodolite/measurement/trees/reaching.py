"""Reaching: which dialogues a node speaks of, and which of them lift it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from theodolite.domain.trees.finding import NodeFinding, TreeFinding
from theodolite.domain.trees.leaf import Leaf
from theodolite.domain.trees.tree import AnswersNode, TreeDesign, TreeNode
from theodolite.measurement.trees.footing import sessions_below
from theodolite.measurement.trees.leaves import Flags, LeafTable
from theodolite.measurement.trees.listing import listed_answers
from theodolite.measurement.trees.methods import BUILT_IN, Methods
from theodolite.measurement.trees.replicates import compiled


def with_dialogues(
    finding: TreeFinding, design: TreeDesign, table: LeafTable, *, methods: Methods = BUILT_IN
) -> TreeFinding:
    """Return what a tree came to with the labels of the dialogues behind every node, and the answers behind leaves.

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

    raised = {node.node: named(lifting(node)) for node in finding.nodes}

    def answers(node: TreeNode) -> tuple[Leaf, ...]:
        if not isinstance(node, AnswersNode):
            return ()
        return listed_answers(node, table, _lifting_above(design, node.name, raised))

    return replace(
        finding,
        nodes=tuple(
            replace(
                node,
                dialogues=named(met[node.node]),
                raised=raised[node.node],
                answers=answers(design.by_name[node.node]),
            )
            for node in finding.nodes
        ),
    )


def _lifting_above(design: TreeDesign, name: str, raised: Mapping[str, Collection[str]]) -> set[str]:
    """Return the dialogues that lift what stands next above a node; steps that hold many answers lift nothing."""
    above = [one.name for one in design.nodes if name in one.children]
    found = {label for parent in above for label in raised[parent]}
    return found or {label for parent in above for label in _lifting_above(design, parent, raised)}
