"""Measuring a tree: from leaves to what every node came to, with its uncertainty and its account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.trees.finding import NodeFinding, TreeFinding
from theodolite.domain.trees.leaf import Leaf
from theodolite.domain.trees.tree import SummaryNode, TreeDesign, TreeNode
from theodolite.measurement.interval import check_confidence
from theodolite.measurement.trees.accounts import Accounts
from theodolite.measurement.trees.bounds import Bounds
from theodolite.measurement.trees.footing import Footing
from theodolite.measurement.trees.leaves import LeafTable, table_of
from theodolite.measurement.trees.methods import BUILT_IN, MAX, Holds, Methods
from theodolite.measurement.trees.replicates import Compiled, compiled, point_values, replicated

REPLICATES = 1_000
"""Replicates of a tree where nothing else is asked for; count."""

NO_DATA = "No data: none of the answers that this node rests on is there."
"""Why an empty node has no number; it is not 0."""

NO_PARTS = "No data: all its children are empty, or matter nothing to it."
"""Why a node has no number where the weights are all 0."""

SEVERAL = "It holds one value for each answer; the node above sums them up."
"""Why answers and what is done to each of them have no number of their own."""

IN_WORDS = "It is told in words, not as a number."
"""Why a set or a collection of texts has no number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """How replicates are drawn.

    Attributes:
        replicates: Replicates; count.
        seed: Of the draws.
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
    """Return what every node of a tree came to.

    Children without data are left out and named; a node without any is "no
    data" and never 0. Intervals come from drawing whole clusters of dialogues
    anew, with bounds of their own where that fails; see `Bounds`.

    Args:
        design: The tree.
        leaves: Single answers, whatever became of them.
        application: Name of the application that they are about.
        nodes: Names of the nodes that are wanted; all where empty.
        draws: How replicates are drawn.
        methods: The summaries that there are.

    Raises:
        InputError: If the design holds faults, or leaves contradict each other.

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
    drawn = replicated(tree, draws.replicates, draws.seed)
    footing = Footing(tree=tree, values=values, replicates=drawn)
    bounds = Bounds(footing=footing)
    scribe = _Scribe(
        tree=tree, accounts=Accounts(tree=tree), footing=footing, bounds=bounds, confidence=draws.confidence
    )
    return TreeFinding(
        design=design,
        application=application,
        nodes=tuple(scribe.finding(node) for node in design.nodes if not nodes or node.name in nodes),
        seed=draws.seed,
        replicates=draws.replicates,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scribe:
    """Writes down what each node came to."""

    tree: Compiled
    accounts: Accounts
    footing: Footing
    bounds: Bounds
    confidence: float

    def finding(self, node: TreeNode) -> NodeFinding:
        outcomes = self.accounts.outcomes(node.name)
        kind = self.tree.kinds[node.name]
        is_max = isinstance(node, SummaryNode) and node.summary == MAX
        return NodeFinding(
            node=node.name,
            result=self._result(node, outcomes.used),
            outcomes=outcomes,
            n_dialogues=self.footing.n_sessions(node.name),
            conditional=outcomes.not_applicable > 0,
            empty=self._empty(node),
            worst=self._worst(node) if is_max and isinstance(node, SummaryNode) else (),
            worst_odds=self._odds(node) if is_max and isinstance(node, SummaryNode) else {},
            labels=self._labels(node) if kind.holds is Holds.LABELS and not kind.many else {},
            texts=self._texts(node) if kind.holds is Holds.TEXTS and not kind.many else (),
            spread=self.accounts.spread(node.name) if kind.holds is Holds.NUMBERS else None,
        )

    def _result(self, node: TreeNode, n: int) -> Estimate | Undefined:
        kind = self.tree.kinds[node.name]
        unit = f"points from {kind.range}" if kind.range else ""
        method = node.summary if isinstance(node, SummaryNode) else ""
        if kind.holds is not Holds.NUMBERS:
            return Undefined(reason=IN_WORDS if n else NO_DATA, n=n, method=method)
        if kind.many:
            return Undefined(reason=SEVERAL if n else NO_DATA, n=n, unit=unit)
        value = self.footing.values[node.name]
        if np.isnan(value):
            return Undefined(reason=NO_PARTS if n else NO_DATA, n=n, unit=unit, method=method)
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
            n_clusters=self.footing.n_clusters(node.name),
        )

    def _empty(self, node: TreeNode) -> tuple[str, ...]:
        if not isinstance(node, SummaryNode):
            return ()
        return tuple(edge.child for edge in node.edges if edge.weight > 0 and self.footing.is_empty(edge.child))

    def _worst(self, node: SummaryNode) -> tuple[str, ...]:
        highest = self.footing.values[node.name]
        return tuple(e.child for e in node.edges if e.weight > 0 and self.footing.values.get(e.child) == highest)

    def _odds(self, node: SummaryNode) -> dict[str, float]:
        """Return in which share of the replicates each child is the highest; equal ones share."""
        names = [e.child for e in node.edges if e.weight > 0 and not self.footing.is_empty(e.child)]
        drawn = [self.footing.replicates[name] for name in names if name in self.footing.replicates]
        if len(drawn) < 2 or len(drawn) < len(names):
            return {}
        stacked = np.nan_to_num(np.stack(drawn), nan=-np.inf)
        reached = stacked == stacked.max(axis=0)
        shares = (reached / reached.sum(axis=0)).mean(axis=1)
        return {name: round(float(share), 6) for name, share in zip(names, shares, strict=True)}

    def _words(self, node: TreeNode) -> Counter[str]:
        found: Counter[str] = Counter()
        for name in self.accounts.bundles(node.name):
            bundle = self.tree.bundles[name]
            found.update(bundle.words[int(place)] for place in bundle.value)
        return found

    def _labels(self, node: TreeNode) -> dict[str, int]:
        counts = dict(self._words(node))
        method = self.tree.methods[node.summary] if isinstance(node, SummaryNode) else None
        return dict(method.describe(counts)) if method and method.describe else counts

    def _texts(self, node: TreeNode) -> tuple[str, ...]:
        return tuple(self._words(node))
