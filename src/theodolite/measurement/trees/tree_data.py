"""Values of a tree with their replicates, and the dialogues behind each node."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from theodolite.domain.trees.finding import NodeFinding, TreeFinding
from theodolite.domain.trees.leaf import Leaf
from theodolite.domain.trees.tree import AnswersNode, SummaryNode, TransformNode, TreeDesign, TreeNode
from theodolite.measurement.trees.leaves import Flags, LeafTable, listed_answers
from theodolite.measurement.trees.methods import BUILT_IN, MAX, Methods
from theodolite.measurement.trees.replicates import Compiled, compiled
from theodolite.measurement.trees.summaries import Floats

FEW_CLUSTERS: Final = 20
"""Clusters below which replicates of a mean promise more than they keep; count."""


@dataclass(frozen=True, kw_only=True)
class TreeData:
    """The values of one tree with their replicates.

    Attributes:
        tree: The tree with its leaves.
        values: Name to number; NaN without data.
        replicates: Name to numbers of the replicates.
    """

    tree: Compiled
    values: Mapping[str, float]
    replicates: Mapping[str, Floats]

    def is_empty(self, name: str) -> bool:
        """Tell whether a node has no data."""
        return bool(np.isnan(self.values[name])) if name in self.values else not self.n_sessions(name)

    def is_regular(self, name: str) -> bool:
        """Tell whether replicates of a node can be trusted: many clusters below, some variety, and no `max`."""
        if name not in self._regular:
            self._regular[name] = self._is_regular(name)
        return self._regular[name]

    @cached_property
    def _regular(self) -> dict[str, bool]:
        return {}

    def _is_regular(self, name: str) -> bool:
        node = self.tree.design.by_name[name]
        if isinstance(node, TransformNode):
            return self.is_regular(node.of)
        if not isinstance(node, SummaryNode) or node.summary == MAX:
            return False
        single = [e.child for e in node.edges if e.weight > 0 and not np.isnan(self.values.get(e.child, np.nan))]
        if node.name in self.tree.elements and not (self.n_clusters(name) >= FEW_CLUSTERS and self._varies(name)):
            return False
        return all(self.is_regular(child) for child in single)

    def n_clusters(self, name: str) -> int:
        """Return how many clusters of dialogues have an answer below a node; count."""
        return self._n_clusters[name]

    def n_sessions(self, name: str) -> int:
        """Return how many dialogues have an answer below a node; count."""
        return int(self._sessions[name].sum())

    @cached_property
    def _n_clusters(self) -> Mapping[str, int]:
        clusters = self.tree.table.clusters
        return {
            name: int(np.count_nonzero(np.bincount(clusters[answered]))) for name, answered in self._sessions.items()
        }

    @cached_property
    def _sessions(self) -> Mapping[str, Flags]:
        return sessions_below(self.tree)

    def _varies(self, name: str) -> bool:
        sampled = self.replicates[name]
        sampled = sampled[~np.isnan(sampled)]
        return len(sampled) > 0 and bool(np.ptp(sampled) > 0)


def sessions_below(tree: Compiled) -> Mapping[str, Flags]:
    """Return the name of each node to whether a dialogue has an answer below it, shape (dialogues,)."""
    flags: dict[str, Flags] = {}
    for node in tree.order:
        answered = np.zeros(tree.n_sessions, dtype=bool)
        if node.name in tree.value_groups:
            answered[tree.value_groups[node.name].session] = True
        elif isinstance(node, SummaryNode):
            for edge in node.edges:
                if edge.weight > 0:
                    answered |= flags[edge.child]
        else:
            answered |= flags[node.children[0]]
        flags[node.name] = answered
    return flags


def with_dialogues(
    finding: TreeFinding, design: TreeDesign, table: LeafTable, *, methods: Methods = BUILT_IN
) -> TreeFinding:
    """Return the finding of a tree with the dialogues behind every node and the answers behind leaves.

    A dialogue lifts a node if the node, computed from it alone, is above the
    lowest value of its range: for a rate these are the defects, for points on a
    scale all that are not at its good end.
    """
    tree = compiled(design, table, methods)
    answered, alone = sessions_below(tree), tree.values_alone()

    def named(flags: Flags) -> tuple[str, ...]:
        return tuple(table.sessions[position].label for position in np.flatnonzero(flags))

    def lifting(node: NodeFinding) -> Flags:
        scale = tree.range(node.node)
        if node.node not in alone or scale is None:
            return np.zeros(tree.n_sessions, dtype=bool)
        return np.asarray(answered[node.node] & (np.nan_to_num(alone[node.node], nan=scale.lowest) > scale.lowest))

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
                dialogues=named(answered[node.node]),
                raised=raised[node.node],
                answers=answers(design.by_name[node.node]),
            )
            for node in finding.nodes
        ),
    )


def _lifting_above(design: TreeDesign, name: str, raised: Mapping[str, Collection[str]]) -> set[str]:
    """Return the dialogues that raise the next node above; nodes of many answers are skipped."""
    above = [node.name for node in design.nodes if name in node.children]
    labels = {label for parent in above for label in raised[parent]}
    return labels or {label for parent in above for label in _lifting_above(design, parent, raised)}
