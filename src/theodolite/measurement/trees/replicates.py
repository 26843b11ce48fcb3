"""Replicates: what every node would be, had other dialogues been held.

Dialogues are drawn anew, never single answers. Each node over answers keeps one
histogram a dialogue; the weights of the replicates times these histograms are
the histograms of all replicates at once. A leaf that two nodes share moves in
both, since both are multiplied by the same weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.domain.trees.tree import (
    Edge,
    SummaryNode,
    TransformNode,
    TreeDesign,
    TreeNode,
    ValueRange,
)
from theodolite.measurement.trees.bundles import Bundle, bundles_of, moved
from theodolite.measurement.trees.checks import Kinds, kinds_of
from theodolite.measurement.trees.leaves import Ints, LeafTable
from theodolite.measurement.trees.methods import BUILT_IN, MEAN, Holds, Methods
from theodolite.measurement.trees.summaries import Floats, summarise

MOST_CELLS = 16_000_000
"""Weights that are held at once; count. More replicates than that are taken in turns."""

MOST_DRAWN = 50_000
"""Clusters that are drawn at once; count. The draws are the same for any number."""

MOST_COLUMNS = 512
"""Columns of histograms that are multiplied at once; count. Nodes of one level of testing have its dialogues
in common, so that few columns leave out the rows of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elements:
    """What one edge brings to a summary.

    Attributes:
        edge: The edge.
        levels: Values that occur, shape (levels,); None where dialogues bring weighted sums.
        content: Shape (dialogues, levels): weight of each level, or (dialogues, 2): weighted sum and weight.
    """

    edge: Edge
    levels: Floats | None
    content: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A design with its leaves, ready to be computed many times.

    Attributes:
        design: The tree.
        kinds: What each node holds.
        methods: The summaries.
        table: The leaves.
        bundles: Values of the nodes that hold several.
        elements: Name of a node that sums up answers, to what its edges to them bring.
        order: The nodes, each behind all those below it.
    """

    design: TreeDesign
    kinds: Kinds
    methods: Methods
    table: LeafTable
    bundles: Mapping[str, Bundle]
    elements: Mapping[str, tuple[Elements, ...]]
    order: tuple[TreeNode, ...]

    @property
    def n_sessions(self) -> int:
        """Dialogues; count."""
        return len(self.table.sessions)

    def range(self, name: str) -> ValueRange | None:
        """Return the range of a node's numbers."""
        return self.kinds[name].range

    def values(self, weights: Floats) -> dict[str, Floats]:
        """Return the number of each node that holds one.

        Args:
            weights: How often each dialogue counts, shape (replicates, dialogues).

        Returns:
            Name to numbers, shape (replicates,); NaN where there is no data.
        """
        return self._evaluated(self._products(weights), len(weights))

    def values_alone(self) -> dict[str, Floats]:
        """Return what each node would be, had one dialogue been held alone; name to shape (dialogues,)."""
        # Weights that pick one dialogue leave its own histogram as it is.
        own = {(name, each.edge.child): each.content for name, several in self.elements.items() for each in several}
        return self._evaluated(own, self.n_sessions)

    def _evaluated(self, products: Mapping[tuple[str, str], Floats], rows: int) -> dict[str, Floats]:
        values: dict[str, Floats] = {}
        for node in self.order:
            kind = self.kinds[node.name]
            if isinstance(node, SummaryNode) and kind.holds is Holds.NUMBERS:
                values[node.name] = self._summed(node, values, products, rows)
            elif isinstance(node, TransformNode) and node.of in values:
                values[node.name] = moved(node, self.range(node.of), kind.range, values[node.of])
        return values

    def _products(self, weights: Floats) -> dict[tuple[str, str], Floats]:
        """Return the histograms of all replicates, by node and child."""
        found: dict[tuple[str, str], Floats] = {}
        for batch in self._batches():
            content = np.concatenate([each.content for _, each in batch], axis=1)
            used = np.flatnonzero(content.any(axis=1))
            product = weights @ content if len(used) == len(content) else weights[:, used] @ content[used]
            at = 0
            for name, each in batch:
                width = each.content.shape[1]
                found[name, each.edge.child] = product[:, at : at + width]
                at += width
        return found

    def _batches(self) -> Iterator[list[tuple[str, Elements]]]:
        batch: list[tuple[str, Elements]] = []
        width = 0
        for name, several in self.elements.items():
            for each in several:
                if batch and width + each.content.shape[1] > MOST_COLUMNS:
                    yield batch
                    batch, width = [], 0
                batch.append((name, each))
                width += each.content.shape[1]
        if batch:
            yield batch

    def _summed(
        self, node: SummaryNode, values: Mapping[str, Floats], products: Mapping[tuple[str, str], Floats], rows: int
    ) -> Floats:
        method = self.methods[node.summary]
        highest = next((r.highest for edge in node.edges if (r := self.range(edge.child)) is not None), None)
        columns, weights = [np.empty((rows, 0))], [np.empty((rows, 0))]
        for each in self.elements.get(node.name, ()):
            product = products[node.name, each.edge.child]
            if each.levels is None:
                total = product[:, 1]
                columns.append(np.divide(product[:, 0], total, out=np.full(rows, np.nan), where=total > 0)[:, None])
                weights.append(total[:, None] * each.edge.weight)
            else:
                columns.append(np.broadcast_to(each.levels, product.shape))
                weights.append(product * each.edge.weight)
        single = [edge for edge in node.edges if edge.child in values]
        columns += [values[edge.child][:, None] for edge in single]
        weights += [np.full((rows, 1), edge.weight) for edge in single]
        stacked, shares = np.concatenate(columns, axis=1), np.concatenate(weights, axis=1)
        only_levels = not single and all(each.levels is not None for each in self.elements.get(node.name, ()))
        return summarise(method, stacked[:1] if only_levels else stacked, shares, highest=highest)


def compiled(design: TreeDesign, table: LeafTable, methods: Methods = BUILT_IN) -> Compiled:
    """Return a design with its leaves, ready to be computed.

    Raises:
        InputError: If the design holds faults.
    """
    kinds = kinds_of(design, methods)
    bundles = bundles_of(design, kinds, table, methods)
    elements = {
        node.name: tuple(_elements(node, kinds, bundles, methods, len(table.sessions)))
        for node in design.nodes
        if isinstance(node, SummaryNode) and kinds[node.name].holds is Holds.NUMBERS
    }
    return Compiled(
        design=design,
        kinds=kinds,
        methods=methods,
        table=table,
        bundles=bundles,
        elements={name: several for name, several in elements.items() if several},
        order=design.upwards(),
    )


def _elements(
    node: SummaryNode, kinds: Kinds, bundles: Mapping[str, Bundle], methods: Methods, n_sessions: int
) -> Iterator[Elements]:
    for edge in node.edges:
        if not kinds[edge.child].many or edge.weight == 0:
            continue
        bundle = bundles[edge.child]
        if methods[node.summary].name == MEAN:
            yield Elements(edge=edge, levels=None, content=bundle.sums(node.weigh, n_sessions))
        else:
            levels, content = bundle.histogram(node.weigh, n_sessions)
            yield Elements(edge=edge, levels=levels, content=content)


def resampled(table: LeafTable, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield how often each dialogue counts in some replicates, shape (replicates, dialogues), in turns.

    Whole clusters are drawn with replacement, as many of each stratum (level of
    testing and who held it) as there are: how many dialogues a level holds is
    planned and no chance.

    Args:
        table: The leaves.
        replicates: Replicates in all; count.
        seed: Of the draws.
    """
    for (weights,) in resampled_together([table], replicates, seed):
        yield weights


def resampled_together(tables: Sequence[LeafTable], replicates: int, seed: int) -> Iterator[tuple[Floats, ...]]:
    """Yield the weights of several tables' dialogues, clusters that they share drawn once for all of them.

    Clusters that only some tables have are strata of their own.
    """
    rng = np.random.default_rng(seed)
    keys = tuple(dict.fromkeys(key for table in tables for key in table.cluster_keys))
    places = {key: place for place, key in enumerate(keys)}
    homes = [frozenset(table.cluster_keys) for table in tables]
    strata: dict[tuple[object, ...], list[int]] = {}
    for place, key in enumerate(keys):
        strata.setdefault((key[:2], *(key in home for home in homes)), []).append(place)
    own = [np.array([places[key] for key in table.cluster_keys], dtype=np.int64)[table.clusters] for table in tables]
    groups = [np.array(members) for members in strata.values()]
    whole = np.arange(len(keys))
    step = max(1, MOST_CELLS // max(1, *(len(table.sessions) for table in tables)))
    for start in range(0, replicates, step):
        counts = _drawn(rng, groups, len(keys), min(step, replicates - start))
        yield tuple(counts if np.array_equal(place, whole) else counts[:, place] for place in own)


def _drawn(rng: np.random.Generator, groups: Sequence[Ints], n_clusters: int, rows: int) -> Floats:
    counts = np.zeros((rows, n_clusters))
    for members in groups:
        # A few rows at a time give the same draws as all at once, and the arrays stay in the processor's cache.
        step = max(1, MOST_DRAWN // len(members))
        for start in range(0, rows, step):
            n = min(step, rows - start)
            drawn = rng.integers(len(members), size=(n, len(members)))
            drawn += np.arange(n)[:, None] * len(members)
            cells = np.bincount(drawn.ravel(), minlength=n * len(members))
            counts[start : start + n, members] = cells.reshape(n, len(members))
    return counts


def replicated(tree: Compiled, replicates: int, seed: int) -> dict[str, Floats]:
    """Return the number of each node in every replicate; name to shape (replicates,), NaN without data."""
    parts = [tree.values(weights) for weights in resampled(tree.table, replicates, seed)]
    if not parts:
        return {}
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def point_values(tree: Compiled) -> dict[str, float]:
    """Return the number of each node; NaN without data."""
    values = tree.values(np.ones((1, tree.n_sessions)))
    return {name: float(number[0]) for name, number in values.items()}
