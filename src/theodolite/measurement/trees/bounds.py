"""Values of a tree with their replicates, and intervals of a node's value by kind of summary."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from theodolite.domain.choices import Weighing
from theodolite.domain.estimate import Estimate
from theodolite.domain.tree import AnswersNode, Edge, Leaf, SummaryNode, TransformNode, TreeDesign, TreeNode, ValueRange
from theodolite.domain.tree_finding import NodeFinding, TreeFinding
from theodolite.measurement.interval import ClusteredShare, Ends, clustered_share
from theodolite.measurement.proportion import BETA_BINOMIAL, defect_rate
from theodolite.measurement.trees.leaves import Flags, LeafTable, listed_answers
from theodolite.measurement.trees.methods import BUILT_IN, MAX, MEAN, MEDIAN, SCALE_NORMALISED_MEDIAN, Holds, Methods
from theodolite.measurement.trees.replicates import Compiled, Floats, compiled, moved, summarise

FEWEST_CLUSTERS: Final = 6
"""Number of clusters below which no order statistic gives an interval of .95: 2 * .5**n is above .05."""

MANY_CLUSTERS: Final = 40
"""Number of clusters from which the bootstrap of a mean of graded answers is used alone."""

BOOTSTRAP: Final = "bootstrap of clusters"

SQUARES: Final = "combined intervals of the parts (MOVER)"

SIDAK: Final = "simultaneous intervals of the parts (Sidak)"

NO_INTERVAL: Final = "no interval"

NO_VARIATION: Final = 1e-9
"""Lengths of replicates below this are rounding."""


@dataclass(frozen=True, kw_only=True)
class Bounded:
    """Bounds with their method; `ends` is None if no honest bounds exist.

    Attributes:
        ends: Lower and upper end.
        method: Name of the method.
    """

    ends: Ends | None
    method: str


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Bounds of the nodes of one tree.

    The percentile bootstrap is used where it keeps its coverage: for means and
    medians of answers over many clusters, and smooth functions of them. Few
    clusters, or equal answers, leave it nothing to resample; there
    the beta-binomial posterior replaces it. A mean of nodes adds the squares
    of its children's half-widths, with the correlation of their replicates, so it is
    as certain as its children, for any number of clusters, and a node with one
    child has that child's bounds. A `max` is biased upwards and its bootstrap
    always misses on one side; the largest of the children's bounds, each at
    Sidak's level, holds. Nodes above such a node are bounded by its
    children's bounds too.

    Source:
        Squares: Zou, Donner (2008), Construction of confidence limits about effect measures: a general
        approach, Statistics in Medicine 27:1693-1702. Sidak (1967), Journal of the American Statistical
        Association 62:626-633. Their coverage: benchmarks/COVERAGE.md.

    Attributes:
        data: The tree's values and their dialogues.
        cache: Bounds that are already known.
    """

    data: TreeData
    cache: dict[tuple[str, float], Bounded] = field(default_factory=dict)

    def of(self, name: str, confidence: float) -> Bounded:
        """Return the bounds of a node with a number."""
        key = (name, confidence)
        if key not in self.cache:
            self.cache[key] = self._bounded(name, confidence)
        return self.cache[key]

    def _bounded(self, name: str, confidence: float) -> Bounded:
        node = self.data.tree.design.by_name[name]
        if isinstance(node, TransformNode):
            return self._moved(node, confidence)
        if not isinstance(node, SummaryNode):
            return Bounded(ends=None, method=NO_INTERVAL)
        if node.name in self.data.tree.elements:
            return self._collated(node, confidence)
        present = self._present_edges(node)
        if len(present) > 1 and node.summary == MEAN and not self._has_max(name):
            return self._squared(present, name, confidence)
        if len(present) > 1 and node.summary != MAX and self.data.is_regular(name):
            return Bounded(ends=self._percentiles(name, confidence), method=BOOTSTRAP)
        return self._carried(node, present, confidence)

    def _present_edges(self, node: SummaryNode) -> list[Edge]:
        """Return the edges to children with a number and a weight."""
        return [e for e in node.edges if e.weight > 0 and not np.isnan(self.data.values.get(e.child, np.nan))]

    def _has_max(self, name: str) -> bool:
        node = self.data.tree.design.by_name[name]
        return (isinstance(node, SummaryNode) and node.summary == MAX) or any(map(self._has_max, node.children))

    def _squared(self, present: Sequence[Edge], name: str, confidence: float) -> Bounded:
        """Return bounds of a weighted mean: the root of the sum of w_i w_j r_ij times the half-widths of i and j.

        The correlation r_ij is that of the replicates; 0 if a child shows no variation.
        """
        below = [self.of(edge.child, confidence).ends for edge in present]
        if any(ends is None for ends in below):
            return Bounded(ends=None, method=NO_INTERVAL)
        values = np.array([self.data.values[edge.child] for edge in present])
        ends = np.array([ends for ends in below if ends is not None])
        weights = np.array([edge.weight for edge in present])
        parts = weights[:, None] / weights.sum() * np.abs(ends - values[:, None])
        together = self._correlations([edge.child for edge in present])
        down, up = np.sqrt(np.maximum(np.einsum("ik,ij,jk->k", parts, together, parts), 0.0))
        value = self.data.values[name]
        scale = self.data.tree.kinds[name].range
        low, high = float(value - down), float(value + up)
        if scale is not None:
            low, high = max(low, min(scale.lowest, value)), min(high, max(scale.highest, value))
        return Bounded(ends=(low, high), method=SQUARES)

    def _correlations(self, names: Sequence[str]) -> Floats:
        """Return the correlations of nodes' replicates, shape (nodes, nodes); negative ones count as 0.

        Over few clusters they are only noise and would narrow the bounds.
        """
        sampled = np.stack([self.data.replicates[name] for name in names])
        sampled = sampled[:, ~np.isnan(sampled).any(axis=0)]
        if sampled.shape[1] < 2:
            return np.eye(len(names))
        rest = sampled - sampled.mean(axis=1, keepdims=True)
        lengths = np.sqrt((rest**2).sum(axis=1))
        scale = np.where(lengths > NO_VARIATION, lengths, np.inf)
        together: Floats = np.maximum(rest @ rest.T / np.outer(scale, scale), 0.0)
        np.fill_diagonal(together, 1.0)
        return together

    def _percentiles(self, name: str, confidence: float) -> Ends | None:
        sampled = self.data.replicates[name]
        sampled = sampled[~np.isnan(sampled)]
        if not len(sampled):
            return None
        tail = (1 - confidence) / 2
        low, high = np.quantile(sampled, [tail, 1 - tail])
        return min(float(low), self.data.values[name]), max(float(high), self.data.values[name])

    def _collated(self, node: SummaryNode, confidence: float) -> Bounded:
        """Return the bounds of a node that summarises single answers."""
        if any(edge.child in self.data.values for edge in node.edges):
            return self._mixed(node, confidence)
        if node.summary == MEAN:
            return self._mean(node, confidence)
        middling = node.summary in {MEDIAN, SCALE_NORMALISED_MEDIAN}
        if self.data.n_clusters(node.name) >= (FEWEST_CLUSTERS if middling else FEW_CLUSTERS) and node.summary != MAX:
            return Bounded(ends=self._percentiles(node.name, confidence), method=BOOTSTRAP)
        return Bounded(ends=None, method=NO_INTERVAL)

    def _mixed(self, node: SummaryNode, confidence: float) -> Bounded:
        if self.data.is_regular(node.name):
            return Bounded(ends=self._percentiles(node.name, confidence), method=BOOTSTRAP)
        return Bounded(ends=None, method=NO_INTERVAL)

    def _mean(self, node: SummaryNode, confidence: float) -> Bounded:
        """Return bounds of a mean over answers; binary answers are a share, and their interval is one for shares."""
        scale = self.data.tree.kinds[node.name].range
        if scale is None:
            return Bounded(ends=None, method=NO_INTERVAL)
        if is_share(self.data, node):
            return self._share(node, scale, confidence)
        sampled, part = None, 0.0
        if self.data.is_regular(node.name):
            sampled = self._percentiles(node.name, confidence)
            part = min((self.data.n_clusters(node.name) - FEW_CLUSTERS) / (MANY_CLUSTERS - FEW_CLUSTERS), 1.0)
        if sampled is not None and part >= 1.0:
            return Bounded(ends=sampled, method=BOOTSTRAP)
        value = (self.data.values[node.name] - scale.lowest) / scale.width
        low, high = self._posterior_ends(node.name, tallies(self.data, node), value, confidence)
        ends = scale.lowest + low * scale.width, scale.lowest + high * scale.width
        if sampled is None or part <= 0.0:
            return Bounded(ends=ends, method=BETA_BINOMIAL)
        # From few to many clusters, the posterior is blended into the bootstrap gradually, so that one cluster
        # more or less changes the bounds only slightly.
        low, high = (part * new + (1.0 - part) * old for new, old in zip(sampled, ends, strict=True))
        return Bounded(ends=(low, high), method=f"{BETA_BINOMIAL} and {BOOTSTRAP}")

    def _share(self, node: SummaryNode, scale: ValueRange, confidence: float) -> Bounded:
        """Return the interval of the defect rate of the same dialogues, so that a tree never contradicts a rate."""
        hits, sizes = tallies(self.data, node)
        weight = float(sizes.sum()) / self.data.n_sessions(node.name)  # that of the edge, which no share depends on
        clusters = [(round(hit), round(size)) for hit, size in zip(hits / weight, sizes / weight, strict=True)]
        n_hits, n = (sum(column) for column in zip(*clusters, strict=True))
        rate = defect_rate(n_hits, n, clusters=clusters, confidence=confidence)
        if not isinstance(rate, Estimate) or rate.low is None or rate.high is None:
            return Bounded(ends=None, method=NO_INTERVAL)
        ends = scale.lowest + rate.low * scale.width, scale.lowest + rate.high * scale.width
        return Bounded(ends=ends, method=rate.method)

    def _posterior_ends(self, name: str, tallies: tuple[Floats, Floats], value: float, confidence: float) -> Ends:
        if name not in self._posteriors:
            pairs = zip(*(column.round(6).tolist() for column in tallies), strict=True)
            self._posteriors[name] = clustered_share(pairs)
        low, high = self._posteriors[name].ends(confidence)
        return min(low, value), max(high, value)

    @cached_property
    def _posteriors(self) -> dict[str, ClusteredShare]:
        return {}

    def _moved(self, node: TransformNode, confidence: float) -> Bounded:
        below = self.of(node.of, confidence)
        if below.ends is None:
            return below
        ends = moved(
            node, self.data.tree.kinds[node.of].range, self.data.tree.kinds[node.name].range, np.array(below.ends)
        )
        return Bounded(ends=(float(ends.min()), float(ends.max())), method=below.method)

    def _carried(self, node: SummaryNode, present: Sequence[Edge], confidence: float) -> Bounded:
        """Return the summary of the children's bounds, each at Sidak's level, so that all hold simultaneously."""
        method = self.data.tree.methods[node.summary]
        if not present or not method.is_monotone or self.data.tree.kinds[node.name].holds is not Holds.NUMBERS:
            return Bounded(ends=None, method=NO_INTERVAL)
        level = confidence ** (1 / len(present))
        below = [self.of(edge.child, level) for edge in present]
        ends = [bounded.ends for bounded in below if bounded.ends is not None]
        if len(ends) < len(below):
            return Bounded(ends=None, method=NO_INTERVAL)
        weights = np.array([[edge.weight for edge in present]] * 2)
        scale = self.data.tree.kinds[present[0].child].range
        low, high = summarise(method, np.array(ends).T, weights, highest=scale.highest if scale else None)
        return Bounded(ends=(float(low), float(high)), method=SIDAK if len(present) > 1 else below[0].method)


def tallies(data: TreeData, node: SummaryNode) -> tuple[Floats, Floats]:
    """Return for each cluster, on a scale of 0 to 1, the sum of values and the number of dialogues.

    Values between the ends count as parts of a defect. Their variance is at
    most that of a share, so the bounds are conservative.
    """
    scale = data.tree.kinds[node.name].range
    content = np.zeros((data.tree.n_sessions, 2))
    for element in data.tree.elements[node.name]:
        content += element.content * element.edge.weight
    total, n_dialogues = float(content[:, 1].sum()), data.n_sessions(node.name)
    if total > n_dialogues:  # several questions about one dialogue are no further dialogues
        content *= n_dialogues / total
    clusters = data.tree.table.clusters
    sizes = np.bincount(clusters, weights=content[:, 1]).astype(np.float64)
    hits = np.bincount(clusters, weights=content[:, 0]).astype(np.float64)
    if scale is not None:
        hits = (hits - scale.lowest * sizes) / scale.width
    used = sizes > 0
    return np.maximum(hits[used], 0.0), sizes[used]


def is_share(data: TreeData, node: SummaryNode) -> bool:
    """Return whether the value of every dialogue is one of the scale's two ends."""
    scale = data.tree.kinds[node.name].range
    elements = data.tree.elements.get(node.name, ())
    if scale is None or len(elements) != 1 or node.weigh is not Weighing.DIALOGUE:
        return False
    sums = elements[0].content
    present = sums[sums[:, 1] > 0]
    means = present[:, 0] / present[:, 1]
    return bool(np.isin(means, (scale.lowest, scale.highest)).all())


FEW_CLUSTERS: Final = 20
"""Number of clusters below which replicates of a mean are too narrow; count."""


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
        """Return whether a node has no data."""
        return bool(np.isnan(self.values[name])) if name in self.values else not self.n_sessions(name)

    def is_regular(self, name: str) -> bool:
        """Return whether replicates of a node can be trusted: many clusters below, some variation, and no `max`."""
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
        """Return the number of clusters of dialogues with an answer below a node; count."""
        return self._n_clusters[name]

    def n_sessions(self, name: str) -> int:
        """Return the number of dialogues with an answer below a node; count."""
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
    """Return, by name of the node, whether each dialogue has an answer below it; shape (dialogues,)."""
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

    A dialogue raises a node if the node, computed from it alone, is above the
    lowest value of its range: for a rate these are the defects, for points on a
    scale, all dialogues that are not at its good end.
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
