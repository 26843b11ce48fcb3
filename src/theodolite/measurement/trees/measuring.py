"""Measurement of a tree: the value, interval, outcomes and spread of every node."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from theodolite.domain.annotation import Outcome
from theodolite.domain.answers import OUTCOMES
from theodolite.domain.estimate import Estimate, Outcomes, Undefined
from theodolite.domain.tree import AnswersNode, Edge, Leaf, SummaryNode, TreeDesign, TreeNode
from theodolite.domain.tree_finding import NodeFinding, TreeFinding
from theodolite.domain.undefined_reasons import EMPTY_CHILDREN, NO_ANSWERS_BELOW, NOT_A_NUMBER, VALUE_PER_ANSWER
from theodolite.measurement.interval import check_confidence
from theodolite.measurement.trees.bounds import Bounds, TreeData
from theodolite.measurement.trees.leaves import ANSWERED, Ints, LeafTable, table_of
from theodolite.measurement.trees.methods import BUILT_IN, MAX, MEAN, Holds, Methods
from theodolite.measurement.trees.replicates import Compiled, compiled, point_values, replicated

REPLICATES = 1_000
"""Default number of replicates of a tree; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Settings of the replicates.

    Attributes:
        replicates: Number of replicates; count.
        seed: Seed of the random generator.
        confidence: Coverage of the intervals; fraction.
    """

    replicates: int = REPLICATES
    seed: int = 1
    confidence: float = 0.95


def measure_tree(
    design: TreeDesign,
    leaves: Iterable[Leaf] | LeafTable,
    *,
    application: str = "",
    nodes: Collection[str] = (),
    draws: Draws | None = None,
    methods: Methods = BUILT_IN,
) -> TreeFinding:
    """Return the finding of every node of a tree.

    Children without data are omitted and named; a node without any child with data is "no
    data" and never 0. Intervals come from resampling whole clusters of dialogues,
    with separate bounds where that fails; see `Bounds`.

    Args:
        design: The tree.
        leaves: Single answers, with any outcome.
        application: Name of the application of the leaves.
        nodes: Names of the requested nodes; empty for all.
        draws: Settings of the replicates.
        methods: The available summaries.

    Raises:
        InputError: If the design has errors, or leaves contradict each other.

    Source:
        Greenberg, Hall, Jensen, Greene, Amironesei (2025), "Branching Out: Broadening AI
        Measurement and Evaluation with Measurement Trees", arXiv:2509.26632. Resampling of
        clusters: Field, Welsh (2007), Journal of the Royal Statistical Society B 69:369-390.
        Bounds that hold together: Sidak (1967), Journal of the American Statistical
        Association 62:626-633.
    """
    draws = draws or Draws()
    check_confidence(draws.confidence)
    table = leaves if isinstance(leaves, LeafTable) else table_of(leaves)
    tree = compiled(design, table, methods)
    values = point_values(tree)
    sampled = replicated(tree, draws.replicates, draws.seed)
    data = TreeData(tree=tree, values=values, replicates=sampled)
    bounds = Bounds(data=data)
    builder = _FindingBuilder(
        tree=tree, coverage=NodeCoverage(tree=tree), data=data, bounds=bounds, confidence=draws.confidence
    )
    return TreeFinding(
        design=design,
        application=application,
        views=() if nodes else view_values(design, table, draws=draws, methods=methods),
        nodes=tuple(builder.finding(node) for node in design.nodes if not nodes or node.name in nodes),
        seed=draws.seed,
        replicates=draws.replicates,
    )


def view_values(
    design: TreeDesign, table: LeafTable, *, draws: Draws, methods: Methods = BUILT_IN
) -> tuple[NodeFinding, ...]:
    """Return the value of each view of a design: the weighted mean of its nodes, with an interval as of any mean.

    A node without data is omitted and named in `empty`; then only the other weights count.

    Raises:
        InputError: If a view weighs nodes without a single number, or with different ranges.
    """
    if not design.views:
        return ()
    names = {view.name: f"view: {view.name}" for view in design.views}
    added = tuple(
        SummaryNode(
            name=names[view.name],
            summary=MEAN,
            edges=tuple(Edge(child=name, weight=weight) for name, weight in view.weights.items()),
        )
        for view in design.views
    )
    extended = replace(design, nodes=(*added, *design.nodes), views=())
    result = measure_tree(extended, table, nodes=tuple(names.values()), draws=draws, methods=methods)
    own = {name: view for view, name in names.items()}
    return tuple(replace(node, node=own[node.node]) for node in result.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FindingBuilder:
    """Builds the finding of each node."""

    tree: Compiled
    coverage: NodeCoverage
    data: TreeData
    bounds: Bounds
    confidence: float

    def finding(self, node: TreeNode) -> NodeFinding:
        outcomes = self.coverage.outcomes(node.name)
        kind = self.tree.kinds[node.name]
        is_max = isinstance(node, SummaryNode) and node.summary == MAX
        return NodeFinding(
            node=node.name,
            result=self._result(node, outcomes.used),
            outcomes=outcomes,
            n_dialogues=self.data.n_sessions(node.name),
            conditional=outcomes.not_applicable > 0,
            empty=self._empty(node),
            worst=self._worst(node) if is_max and isinstance(node, SummaryNode) else (),
            worst_odds=self._odds(node) if is_max and isinstance(node, SummaryNode) else {},
            labels=self._labels(node) if kind.holds is Holds.LABELS and not kind.many else {},
            texts=self._texts(node) if kind.holds is Holds.TEXTS and not kind.many else (),
            spread=self.coverage.spread(node.name) if kind.holds is Holds.NUMBERS else None,
        )

    def _result(self, node: TreeNode, n: int) -> Estimate | Undefined:
        kind = self.tree.kinds[node.name]
        unit = f"points from {kind.range}" if kind.range else ""
        method = node.summary if isinstance(node, SummaryNode) else ""
        if kind.holds is not Holds.NUMBERS:
            return Undefined(reason=NOT_A_NUMBER if n else NO_ANSWERS_BELOW, n=n, method=method)
        if kind.many:
            return Undefined(reason=VALUE_PER_ANSWER if n else NO_ANSWERS_BELOW, n=n, unit=unit)
        value = self.data.values[node.name]
        if np.isnan(value):
            return Undefined(reason=EMPTY_CHILDREN if n else NO_ANSWERS_BELOW, n=n, unit=unit, method=method)
        bounded = self.bounds.of(node.name, self.confidence)
        low, high = bounded.ends or (None, None)
        return Estimate(
            value=value,
            low=low,
            high=high,
            confidence=self.confidence,
            n=n,
            unit=unit,
            method=f"{method}; {bounded.method}" if method else bounded.method,
            n_clusters=self.data.n_clusters(node.name),
        )

    def _empty(self, node: TreeNode) -> tuple[str, ...]:
        if not isinstance(node, SummaryNode):
            return ()
        return tuple(edge.child for edge in node.edges if edge.weight > 0 and self.data.is_empty(edge.child))

    def _worst(self, node: SummaryNode) -> tuple[str, ...]:
        highest = self.data.values[node.name]
        return tuple(e.child for e in node.edges if e.weight > 0 and self.data.values.get(e.child) == highest)

    def _odds(self, node: SummaryNode) -> dict[str, float]:
        """Return the share of the replicates in which each child is the highest; ties are split."""
        names = [e.child for e in node.edges if e.weight > 0 and not self.data.is_empty(e.child)]
        sampled = [self.data.replicates[name] for name in names if name in self.data.replicates]
        if len(sampled) < 2 or len(sampled) < len(names):
            return {}
        stacked = np.nan_to_num(np.stack(sampled), nan=-np.inf)
        reached = stacked == stacked.max(axis=0)
        shares = (reached / reached.sum(axis=0)).mean(axis=1)
        return {name: round(float(share), 6) for name, share in zip(names, shares, strict=True)}

    def _text_counts(self, node: TreeNode) -> Counter[str]:
        counts: Counter[str] = Counter()
        for name in self.coverage.value_groups(node.name):
            group = self.tree.value_groups[name]
            counts.update(group.texts[int(code)] for code in group.value)
        return counts

    def _labels(self, node: TreeNode) -> dict[str, int]:
        counts = dict(self._text_counts(node))
        method = self.tree.methods[node.summary] if isinstance(node, SummaryNode) else None
        return dict(method.describe(counts)) if method and method.describe else counts

    def _texts(self, node: TreeNode) -> tuple[str, ...]:
        return tuple(self._text_counts(node))


_UNREADABLE = OUTCOMES.index(Outcome.UNPARSEABLE)

_LEFT_OUT = OUTCOMES.index(Outcome.NOT_APPLICABLE)


@dataclass(frozen=True, kw_only=True)
class NodeCoverage:
    """The accounts of one tree's nodes.

    A leaf that a node reaches by two paths counts once. Children with a weight of
    0 do not affect a node, and their leaves are not in its account.

    Attributes:
        tree: The tree with its leaves.
    """

    tree: Compiled

    def outcomes(self, name: str) -> Outcomes:
        """Return the outcomes of the leaves below a node; counts.

        Answers that are not on the scale are unparseable; answers that a
        recoding omits are not applicable.
        """
        counts = np.zeros(len(OUTCOMES), dtype=np.int64)
        for value_groups in self._by_question(name).values():
            counts += self._counted(value_groups)
        by_outcome = dict(zip(OUTCOMES, (int(n) for n in counts), strict=True))
        return Outcomes(
            planned=sum(by_outcome.values()),
            used=by_outcome[Outcome.ANSWERED],
            missing=by_outcome[Outcome.MISSING],
            failed=by_outcome[Outcome.FAILED],
            refused=by_outcome[Outcome.REFUSED],
            unparseable=by_outcome[Outcome.UNPARSEABLE],
            not_applicable=by_outcome[Outcome.NOT_APPLICABLE],
        )

    def _counted(self, value_groups: tuple[str, ...]) -> np.ndarray:
        groups = [self.tree.value_groups[name] for name in value_groups]
        if len(groups) > 1:
            planned = np.unique(np.concatenate([group.planned for group in groups]))
            used = np.unique(np.concatenate([group.rows for group in groups]))
            unreadable = np.unique(np.concatenate([group.unreadable for group in groups]))
        else:
            planned, used, unreadable = groups[0].planned, groups[0].rows, groups[0].unreadable
        codes = self.tree.table.outcome[planned]
        counts = np.bincount(codes, minlength=len(OUTCOMES))
        left_out = counts[ANSWERED] - len(used) - len(unreadable)
        counts[ANSWERED] = len(used)
        counts[_UNREADABLE] += len(unreadable)
        counts[_LEFT_OUT] += left_out
        return counts

    def _by_question(self, name: str) -> Mapping[str, tuple[str, ...]]:
        by_question: defaultdict[str, list[str]] = defaultdict(list)
        for group in self._lowest[name]:
            leaf = self.tree.design.leaves_below(group)[0]
            node = self.tree.design.by_name[leaf]
            if isinstance(node, AnswersNode):
                by_question[node.question].append(group)
        return {question: tuple(dict.fromkeys(value_groups)) for question, value_groups in by_question.items()}

    @cached_property
    def _lowest(self) -> Mapping[str, tuple[str, ...]]:
        """Name of each node to the nodes of several values that enter it, each once."""
        lowest: dict[str, tuple[str, ...]] = {}
        for node in self.tree.order:
            if node.name in self.tree.value_groups:
                lowest[node.name] = (node.name,)
            elif isinstance(node, SummaryNode):
                below = [name for edge in node.edges if edge.weight > 0 for name in lowest[edge.child]]
                lowest[node.name] = tuple(dict.fromkeys(below))
            else:
                lowest[node.name] = lowest[node.children[0]]
        return lowest

    def value_groups(self, name: str) -> tuple[str, ...]:
        """Return the names of the nodes of several values that enter a node, each once."""
        return self._lowest[name]

    def rows(self, name: str) -> Ints:
        """Return the leaves of a node's value; rows of the table, each once."""
        parts = [self.tree.value_groups[group].rows for group in self._lowest[name]]
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *parts]))

    def spread(self, name: str) -> float | None:
        """Return the spread of several annotators' answers on one dialogue or turn.

        The pooled standard deviation of answers to one question about one
        dialogue or turn, in points of the node's scale; None without repeated annotation.
        """
        parts = [self._deviations(group) for group in self._lowest[name] if self._is_single(group)]
        squares, degrees = sum(part[0] for part in parts), sum(part[1] for part in parts)
        return float(np.sqrt(squares / degrees)) if degrees else None

    def _is_single(self, name: str) -> bool:
        group = self.tree.value_groups[name]
        return not group.texts and len(group.rows) == len(group.value)

    def _deviations(self, name: str) -> tuple[float, int]:
        if name not in self._known:
            self._known[name] = self._squares(name)
        return self._known[name]

    @cached_property
    def _known(self) -> dict[str, tuple[float, int]]:
        return {}

    def _squares(self, name: str) -> tuple[float, int]:
        group, table = self.tree.value_groups[name], self.tree.table
        turns = table.turn[group.rows] + 1
        cells = group.session * (int(turns.max(initial=0)) + 1) + turns
        counts = np.bincount(cells) if len(cells) else np.zeros(1, dtype=np.int64)
        if counts.max() < 2:
            return 0.0, 0
        _, cell, sizes = np.unique(cells, return_inverse=True, return_counts=True)
        means = np.bincount(cell, weights=group.value) / sizes
        squares = float(((group.value - means[cell]) ** 2).sum())
        return squares, int((sizes - 1).sum())
