"""Association of dimensions: correlations, effects of single children, and splits by group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
from scipy.special import betainc

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.tree import AnswersNode, SummaryNode, TreeDesign
from theodolite.domain.tree_finding import NodeLink, NodeSplit, NodeWithout
from theodolite.domain.undefined_reasons import NO_VARIATION, TOO_FEW_WITH_BOTH
from theodolite.measurement.comparison import adjust_p_values
from theodolite.measurement.scores import average_ranks
from theodolite.measurement.trees.leaves import Flags, Ints, LeafTable
from theodolite.measurement.trees.measuring import Draws, measure_tree
from theodolite.measurement.trees.methods import BUILT_IN, Holds, Methods
from theodolite.measurement.trees.replicates import Compiled, Floats, compiled, point_values, resampled, summarise

FEWEST_PAIRS = 6
"""Minimum number of dialogues with both nodes for a meaningful correlation; count."""


def by_dialogue(tree: Compiled, nodes: Sequence[str]) -> Floats:
    """Return the value of each node for single dialogues; shape (nodes, dialogues), NaN without data."""
    alone = tree.values_alone()
    return np.stack([alone[name] for name in nodes]) if nodes else np.empty((0, tree.n_sessions))


def link_nodes(
    design: TreeDesign,
    table: LeafTable,
    nodes: Sequence[str],
    *,
    draws: Draws | None = None,
    methods: Methods = BUILT_IN,
) -> tuple[NodeLink, ...]:
    """Return the association of every two nodes across dialogues.

    Spearman's correlation of the nodes' values for single dialogues, with an
    interval by resampling clusters and a p-value corrected for all pairs (Benjamini, Hochberg); its
    partial form, given the other nodes; and the numbers of dialogues in which both,
    one or none are above their lowest value. Questions of both nodes
    are named, because they alone cause a correlation.

    Args:
        design: The tree.
        table: Its leaves.
        nodes: Names of the nodes, e.g. the dimensions.
        draws: Settings of the replicates.
        methods: The available summaries.

    Source:
        Spearman (1904), American Journal of Psychology 15:72-101. Partial correlations from the
        inverse of the matrix: Whittaker (1990), Graphical Models in Applied Multivariate Statistics.
        Odds ratios with halves added: Haldane (1956), Annals of Human Genetics 20:309-311.
    """
    draws = draws or Draws()
    tree = compiled(design, table, methods)
    values = by_dialogue(tree, nodes)
    partial = _partials(values)
    raw: list[NodeLink] = []
    chances: list[float] = []
    for i, j in combinations(range(len(nodes)), 2):
        rank, p_value = _ranked(table, values[[i, j]], draws)
        raw.append(_link(tree, (nodes[i], nodes[j]), values[[i, j]], rank, partial[i, j]))
        chances.append(p_value)
    known = [at for at, p in enumerate(chances) if not math.isnan(p)]
    corrected = dict(zip(known, adjust_p_values([chances[at] for at in known], method="bh"), strict=True))
    return tuple(replace(link, p_value=corrected.get(at)) for at, link in enumerate(raw))


def spearman(first: Floats, second: Floats) -> float:
    """Return Spearman's correlation of two sequences without gaps; NaN if one does not vary."""
    a, b = average_ranks(first), average_ranks(second)
    a, b = a - a.mean(), b - b.mean()
    scale = math.sqrt(float((a**2).sum()) * float((b**2).sum()))
    return float((a * b).sum()) / scale if scale > 0 else math.nan


def _ranked(table: LeafTable, values: Floats, draws: Draws) -> tuple[Estimate | Undefined, float]:
    """Return the correlation with its interval and p-value."""
    has_both = np.asarray(~np.isnan(values).any(axis=0))
    n = int(has_both.sum())
    value = spearman(values[0, has_both], values[1, has_both]) if n >= FEWEST_PAIRS else math.nan
    unit, method = "rank correlation", "spearman; bootstrap of clusters"
    n_clusters = len(np.unique(table.clusters[has_both])) if n else 0
    if math.isnan(value):
        reason = NO_VARIATION if n >= FEWEST_PAIRS else TOO_FEW_WITH_BOTH.format(n=n)
        return Undefined(reason=reason, n=n, unit=unit, method=method, n_clusters=n_clusters), math.nan
    resampled_values = [d for d in _redrawn(table, values, has_both, draws) if not math.isnan(d)]
    tail = (1 - draws.confidence) / 2
    low, high = np.quantile(resampled_values, [tail, 1 - tail]) if len(resampled_values) > 1 else (value, value)
    estimate = Estimate(
        value=value,
        low=min(float(low), value),
        high=max(float(high), value),
        confidence=draws.confidence,
        n=n,
        unit=unit,
        method=method,
        n_clusters=n_clusters,
    )
    return estimate, _chance(value, n_clusters)


def _redrawn(table: LeafTable, values: Floats, has_both: np.ndarray, draws: Draws) -> Iterator[float]:
    for weights in resampled(table, min(draws.replicates, 400), draws.seed):
        for row in weights:
            times = row.astype(np.int64) * has_both
            again = np.repeat(values, times, axis=1)
            yield spearman(again[0], again[1]) if again.shape[1] > 2 else math.nan


def _chance(value: float, n: int) -> float:
    """Return the two-sided p-value of a correlation by Student's distribution, with clusters as units."""
    degrees = n - 2
    if degrees < 1:
        return math.nan
    share = 1 - value**2
    return float(betainc(degrees / 2, 0.5, share)) if share > 0 else 0.0


def _partials(values: Floats) -> Floats:
    """Return partial rank correlations over dialogues with every node; NaN if they cannot be computed."""
    n_nodes = len(values)
    partials = np.full((n_nodes, n_nodes), np.nan)
    whole = values[:, ~np.isnan(values).any(axis=0)]
    if n_nodes < 3 or whole.shape[1] <= n_nodes + 2 or (np.ptp(whole, axis=1) == 0).any():
        return partials
    matrix = np.corrcoef([average_ranks(row) for row in whole])
    if np.linalg.cond(matrix) > 1e8:  # one is a sum of the others
        return partials
    inverse = np.linalg.inv(matrix)
    scale = np.sqrt(np.diag(inverse))
    return np.asarray(-inverse / np.outer(scale, scale))


def _link(
    tree: Compiled, names: tuple[str, str], values: Floats, rank: Estimate | Undefined, partial: float
) -> NodeLink:
    complete = values[:, ~np.isnan(values).any(axis=0)]
    floors = np.array([(r.lowest if (r := tree.kinds[name].range) else 0.0) for name in names])[:, None]
    above = complete > floors
    both, first = int((above[0] & above[1]).sum()), int((above[0] & ~above[1]).sum())
    second, neither = int((~above[0] & above[1]).sum()), int((~above[0] & ~above[1]).sum())
    questions = [_questions(tree.design, name) for name in names]
    odds = (both + 0.5) * (neither + 0.5) / ((first + 0.5) * (second + 0.5))
    return NodeLink(
        first=names[0],
        second=names[1],
        rank=rank,
        partial=None if math.isnan(partial) else float(partial),
        shared=tuple(question for question in questions[0] if question in questions[1]),
        both=both,
        first_only=first,
        second_only=second,
        neither=neither,
        odds_ratio=odds if complete.shape[1] else None,
    )


def _questions(design: TreeDesign, name: str) -> tuple[str, ...]:
    leaves = (design.by_name[leaf] for leaf in design.leaves_below(name))
    return tuple(dict.fromkeys(leaf.question for leaf in leaves if isinstance(leaf, AnswersNode)))


def without_children(design: TreeDesign, table: LeafTable, *, methods: Methods = BUILT_IN) -> tuple[NodeWithout, ...]:
    """Return the value of each node over several numbers without one of its children.

    A child whose removal raises a node was hiding the others; one whose removal
    lowers it carries the risk.
    """
    tree = compiled(design, table, methods)
    values = point_values(tree)
    return tuple(finding for node in design.nodes for finding in _without(tree, node, values))


def _without(tree: Compiled, node: object, values: Mapping[str, float]) -> Iterator[NodeWithout]:
    if not isinstance(node, SummaryNode) or tree.kinds[node.name].holds is not Holds.NUMBERS:
        return
    single = [edge for edge in node.edges if edge.weight > 0 and not math.isnan(values.get(edge.child, math.nan))]
    if len(single) < 2 or node.name in tree.elements:
        return
    scale = tree.kinds[single[0].child].range
    for left_out in single:
        rest = [edge for edge in single if edge is not left_out]
        numbers = np.array([[values[edge.child] for edge in rest]])
        weights = np.array([[edge.weight for edge in rest]])
        summary = summarise(tree.methods[node.summary], numbers, weights, highest=scale.highest if scale else None)
        value = None if math.isnan(summary[0]) else float(summary[0])
        change = None if value is None else value - values[node.name]
        yield NodeWithout(node=node.name, child=left_out.child, value=value, change=change)


def pareto_front(values: Mapping[str, Sequence[float]]) -> tuple[str, ...]:
    """Return the applications that no other dominates: no other is as low everywhere and lower somewhere.

    Args:
        values: Application to its values, one per dimension; lower is better. NaN excludes
            an application from comparisons on that dimension, so no other dominates it.

    Example:
        >>> pareto_front({"a": [0.1, 0.9], "b": [0.2, 0.2], "c": [0.3, 0.3]})
        ('a', 'b')
    """
    numbers = {name: np.asarray(row, dtype=np.float64) for name, row in values.items()}
    return tuple(
        name
        for name, own in numbers.items()
        if not any(bool((row <= own).all() and (row < own).any()) for other, row in numbers.items() if other != name)
    )


FEWEST: Final = 5
"""Minimum number of dialogues of a reported part; fewer would identify people; count."""

REPLICATES: Final = 300
"""Maximum number of replicates of a part; count."""

MOST_CELLS: Final = 8_000_000
"""Maximum number of weights in memory; count."""

SHUFFLES: Final = 499
"""Number of random assignments to parts; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of a table's dialogues.

    Attributes:
        group: Name of the attribute to split by.
        names: Names of the parts.
        part_of: Index of each dialogue's part in `names`; -1 if none is stated. Shape (dialogues,).
    """

    group: str
    names: tuple[str, ...]
    part_of: Ints

    def members(self, number: int) -> Flags:
        """Return which dialogues belong to a part."""
        return np.asarray(self.part_of == number)


def split_tree(
    design: TreeDesign,
    table: LeafTable,
    groups: Sequence[str],
    *,
    nodes: Sequence[str] = (),
    draws: Draws | None = None,
    methods: Methods = BUILT_IN,
) -> tuple[NodeSplit, ...]:
    """Return nodes by part of the dialogues, e.g. by type of user or group of testers.

    A part with fewer than five dialogues below a node is named with its count
    but without its value. Differences between parts are tested by random
    assignment of whole clusters within a level of testing; p-values are
    corrected for all nodes and groups together (Holm).

    Args:
        design: The tree.
        table: Its leaves.
        groups: Names of the groups to split by.
        nodes: Names of the nodes; empty for all with one number.
        draws: Settings of the replicates.
        methods: The available summaries.

    Source:
        Permutation of clusters: Phipson, Smyth (2010), Statistical Applications in Genetics and
        Molecular Biology 9:39 (p is never 0). Holm (1979), Scandinavian Journal of Statistics 6:65-70.
    """
    draws = draws or Draws()
    tree = compiled(design, table, methods)
    chosen = tuple(nodes) or tuple(name for name in _summaries(tree))
    splits: list[NodeSplit] = []
    raw: dict[tuple[str, str], float] = {}
    for parts in (parts_of(table, group) for group in groups):
        raw |= {(parts.group, name): p for name, p in _p_values(tree, parts, chosen, draws.seed).items()}
        splits += _split(tree, parts, chosen, draws)
    corrected = dict(zip(raw, adjust_p_values(list(raw.values())), strict=True))
    return tuple(replace(split, p_value=corrected.get((split.group, split.node))) for split in splits)


def parts_of(table: LeafTable, group: str) -> Parts:
    """Return the parts of the dialogues by a group; `level` splits by level of testing."""
    values = [session.level if group == "level" else dict(session.groups).get(group, "") for session in table.sessions]
    names = tuple(sorted({value for value in values if value}))
    codes = [names.index(value) if value else -1 for value in values]
    return Parts(group=group, names=names, part_of=np.array(codes, dtype=np.int64))


def _summaries(tree: Compiled) -> Iterator[str]:
    for node in tree.design.nodes:
        if isinstance(node, SummaryNode) and tree.kinds[node.name].holds is Holds.NUMBERS:
            yield node.name


def _split(tree: Compiled, parts: Parts, nodes: Sequence[str], draws: Draws) -> Iterator[NodeSplit]:
    fewer = replace(draws, replicates=min(draws.replicates, REPLICATES))
    for number, part in enumerate(parts.names):
        table = tree.table.only(parts.members(number))
        finding = measure_tree(tree.design, table, nodes=nodes, draws=fewer, methods=tree.methods)
        for node in finding.nodes:
            shown = node if node.n_dialogues >= FEWEST else None
            yield NodeSplit(node=node.node, group=parts.group, part=part, n_dialogues=node.n_dialogues, finding=shown)


def _p_values(tree: Compiled, parts: Parts, nodes: Sequence[str], seed: int) -> Mapping[str, float]:
    """Return the p-value of the differences between parts by node; nodes without two reportable parts are omitted."""
    if len(parts.names) < 2 or not tree.n_sessions:
        return {}
    rng = np.random.default_rng(seed)
    real = _variances(tree, parts.part_of[None, :], len(parts.names), nodes)[0]
    as_large = np.zeros(len(nodes))
    shuffling = _Shuffling.of(tree.table, parts.part_of)
    step = max(1, MOST_CELLS // (tree.n_sessions * len(parts.names)))
    for start in range(0, SHUFFLES, step):
        rows = min(step, SHUFFLES - start)
        shuffled = np.stack([shuffling.draw(rng) for _ in range(rows)])
        variances = _variances(tree, shuffled, len(parts.names), nodes)
        as_large += (~(variances < real * (1 - 1e-9))).sum(axis=0)  # NaN counts as no smaller
    chances = (as_large + 1) / (SHUFFLES + 1)
    return {name: float(p) for name, p, was in zip(nodes, chances, real, strict=True) if not np.isnan(was)}


def _variances(tree: Compiled, parts: Ints, n_parts: int, nodes: Sequence[str]) -> Floats:
    """Return the spread of parts at each node, weighted by their dialogues; NaN for fewer than two parts.

    Args:
        tree: The tree with its leaves.
        parts: Part of each dialogue, one random assignment per row, shape (draws, dialogues).
        n_parts: Parts; count.
        nodes: Names of the nodes.

    Returns:
        Shape (drawings, nodes).
    """
    weights = (parts[:, None, :] == np.arange(n_parts)[:, None]).astype(np.float64)
    values = tree.values(weights.reshape(-1, parts.shape[1]))
    sizes = weights.sum(axis=2)
    variances = np.full((len(parts), len(nodes)), np.nan)
    for at, name in enumerate(nodes):
        value = values[name].reshape(len(parts), n_parts)
        shares = np.where(~np.isnan(value) & (sizes >= FEWEST), sizes, 0.0)
        known = np.nan_to_num(value)
        total = shares.sum(axis=1, keepdims=True)
        mean = np.divide((shares * known).sum(axis=1, keepdims=True), total, out=np.zeros_like(total), where=total > 0)
        apart = (shares * (known - mean) ** 2).sum(axis=1)
        variances[:, at] = np.where((shares > 0).sum(axis=1) >= 2, apart, np.nan)
    return variances


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shuffling:
    """The random assignment to parts, within strata: of whole clusters if a cluster is of one part.

    Attributes:
        unit: Unit drawn for each dialogue: its cluster, or itself; shape (dialogues,).
        part: Part of each unit; shape (units,).
        strata: The units of each stratum.
    """

    unit: Ints
    part: Ints
    strata: tuple[Ints, ...]

    @classmethod
    def of(cls, table: LeafTable, part_of: Ints) -> _Shuffling:
        """Return the random assignment for the parts of a table's dialogues."""
        first = np.zeros(len(table.cluster_keys), dtype=np.int64)
        first[table.clusters] = part_of
        whole = bool((first[table.clusters] == part_of).all())
        keys = [key[:2] for key in table.cluster_keys] if whole else [(s.level, s.held_by) for s in table.sessions]
        codes = {key: code for code, key in enumerate(dict.fromkeys(keys))}
        stratum = np.array([codes[key] for key in keys], dtype=np.int64)
        return cls(
            unit=table.clusters if whole else np.arange(len(part_of)),
            part=first if whole else part_of,
            strata=tuple(np.flatnonzero(stratum == code) for code in codes.values()),
        )

    def draw(self, rng: np.random.Generator) -> Ints:
        """Return the part of each dialogue in one random assignment; shape (dialogues,)."""
        parts = self.part.copy()
        for members in self.strata:
            parts[members] = rng.permutation(self.part[members])
        return np.asarray(parts[self.unit])
