"""Replicates: the value of every node for resampled dialogues.

Dialogues are resampled, never single answers. Each node over answers keeps one
histogram per dialogue; the weights of the replicates times these histograms are
the histograms of all replicates. A leaf that two nodes share varies in
both, because both are multiplied by the same weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.annotation import Outcome
from theodolite.domain.answers import OUTCOMES
from theodolite.domain.choices import Per, TransformForm, Weighing
from theodolite.domain.tree import (
    AnswersNode,
    CollapseNode,
    Edge,
    SummaryNode,
    TransformNode,
    TreeDesign,
    TreeNode,
    ValueRange,
)
from theodolite.measurement.trees.checks import Kinds, NodeKind, kinds_of
from theodolite.measurement.trees.leaves import ANSWERED, NO_TURN, Ints, LeafTable
from theodolite.measurement.trees.methods import (
    BUILT_IN,
    MAX,
    MEAN,
    MEDIAN,
    PRODUCT,
    SCALE_NORMALISED_MEDIAN,
    Combine,
    Holds,
    Methods,
    SummaryMethod,
)

MOST_CELLS = 16_000_000
"""Maximum number of weights in memory; count. Further replicates are processed in chunks."""

MOST_DRAWN = 50_000
"""Number of clusters per draw; count. The draws are the same for any number."""

MOST_COLUMNS = 512
"""Number of histogram columns per multiplication; count. Nodes of one level of testing have its dialogues
in common, so few columns skip the rows of other levels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elements:
    """The values that one edge contributes to a summary.

    Attributes:
        edge: The edge.
        levels: Observed values, shape (levels,); None if dialogues have weighted sums.
        content: Shape (dialogues, levels): weight of each level, or (dialogues, 2): weighted sum and weight.
    """

    edge: Edge
    levels: Floats | None
    content: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A design with its leaves, prepared for repeated computation.

    Attributes:
        design: The tree.
        kinds: Type of value of each node.
        methods: The summaries.
        table: The leaves.
        value_groups: Values of the nodes that hold several.
        elements: Name of a node that summarises answers to the contributions of its edges.
        order: The nodes; each follows all nodes below it.
    """

    design: TreeDesign
    kinds: Kinds
    methods: Methods
    table: LeafTable
    value_groups: Mapping[str, ValueGroup]
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
        """Return the number of each node that has one.

        Args:
            weights: How often each dialogue counts, shape (replicates, dialogues).

        Returns:
            Numbers by name, shape (replicates,); NaN without data.
        """
        return self._evaluated(self._products(weights), len(weights))

    def values_alone(self) -> dict[str, Floats]:
        """Return the value of each node for single dialogues; name to shape (dialogues,)."""
        # Weights that select one dialogue leave its own histogram unchanged.
        own = {
            (name, element.edge.child): element.content
            for name, several in self.elements.items()
            for element in several
        }
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
        result: dict[tuple[str, str], Floats] = {}
        for batch in self._batches():
            content = np.concatenate([element.content for _, element in batch], axis=1)
            used = np.flatnonzero(content.any(axis=1))
            product = weights @ content if len(used) == len(content) else weights[:, used] @ content[used]
            at = 0
            for name, element in batch:
                width = element.content.shape[1]
                result[name, element.edge.child] = product[:, at : at + width]
                at += width
        return result

    def _batches(self) -> Iterator[list[tuple[str, Elements]]]:
        batch: list[tuple[str, Elements]] = []
        width = 0
        for name, several in self.elements.items():
            for element in several:
                if batch and width + element.content.shape[1] > MOST_COLUMNS:
                    yield batch
                    batch, width = [], 0
                batch.append((name, element))
                width += element.content.shape[1]
        if batch:
            yield batch

    def _summed(
        self, node: SummaryNode, values: Mapping[str, Floats], products: Mapping[tuple[str, str], Floats], rows: int
    ) -> Floats:
        method = self.methods[node.summary]
        highest = next((r.highest for edge in node.edges if (r := self.range(edge.child)) is not None), None)
        columns, weights = [np.empty((rows, 0))], [np.empty((rows, 0))]
        for element in self.elements.get(node.name, ()):
            product = products[node.name, element.edge.child]
            if element.levels is None:
                total = product[:, 1]
                columns.append(np.divide(product[:, 0], total, out=np.full(rows, np.nan), where=total > 0)[:, None])
                weights.append(total[:, None] * element.edge.weight)
            else:
                columns.append(np.broadcast_to(element.levels, product.shape))
                weights.append(product * element.edge.weight)
        single = [edge for edge in node.edges if edge.child in values]
        columns += [values[edge.child][:, None] for edge in single]
        weights += [np.full((rows, 1), edge.weight) for edge in single]
        stacked, shares = np.concatenate(columns, axis=1), np.concatenate(weights, axis=1)
        only_levels = not single and all(element.levels is not None for element in self.elements.get(node.name, ()))
        return summarise(method, stacked[:1] if only_levels else stacked, shares, highest=highest)


def compiled(design: TreeDesign, table: LeafTable, methods: Methods = BUILT_IN) -> Compiled:
    """Return a design with its leaves, prepared for computation.

    Raises:
        InputError: If the design has errors.
    """
    kinds = kinds_of(design, methods)
    value_groups = value_groups_of(design, kinds, table, methods)
    elements = {
        node.name: tuple(_elements(node, kinds, value_groups, methods, len(table.sessions)))
        for node in design.nodes
        if isinstance(node, SummaryNode) and kinds[node.name].holds is Holds.NUMBERS
    }
    return Compiled(
        design=design,
        kinds=kinds,
        methods=methods,
        table=table,
        value_groups=value_groups,
        elements={name: several for name, several in elements.items() if several},
        order=design.upwards(),
    )


def _elements(
    node: SummaryNode, kinds: Kinds, value_groups: Mapping[str, ValueGroup], methods: Methods, n_sessions: int
) -> Iterator[Elements]:
    for edge in node.edges:
        if not kinds[edge.child].many or edge.weight == 0:
            continue
        group = value_groups[edge.child]
        if methods[node.summary].name == MEAN:
            yield Elements(edge=edge, levels=None, content=group.sums(node.weigh, n_sessions))
        else:
            levels, content = group.histogram(node.weigh, n_sessions)
            yield Elements(edge=edge, levels=levels, content=content)


def resampled(table: LeafTable, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield how often each dialogue counts in replicates, in chunks of shape (replicates, dialogues).

    Whole clusters are drawn with replacement, as many of each stratum (level of
    testing and tester type) as there are, because the number of dialogues of a level is
    planned and no chance.

    Args:
        table: The leaves.
        replicates: Total number of replicates; count.
        seed: Seed of the random generator.
    """
    for (weights,) in resampled_together([table], replicates, seed):
        yield weights


def resampled_together(tables: Sequence[LeafTable], replicates: int, seed: int) -> Iterator[tuple[Floats, ...]]:
    """Yield the weights of several tables' dialogues; shared clusters are drawn once for all tables.

    Clusters of only some tables are separate strata.
    """
    rng = np.random.default_rng(seed)
    keys = tuple(dict.fromkeys(key for table in tables for key in table.cluster_keys))
    index_of = {key: index for index, key in enumerate(keys)}
    owners = [frozenset(table.cluster_keys) for table in tables]
    strata: dict[tuple[object, ...], list[int]] = {}
    for index, key in enumerate(keys):
        strata.setdefault((key[:2], *(key in owner for owner in owners)), []).append(index)
    own = [np.array([index_of[key] for key in table.cluster_keys], dtype=np.int64)[table.clusters] for table in tables]
    groups = [np.array(members) for members in strata.values()]
    whole = np.arange(len(keys))
    step = max(1, MOST_CELLS // max(1, *(len(table.sessions) for table in tables)))
    for start in range(0, replicates, step):
        counts = _resampled(rng, groups, len(keys), min(step, replicates - start))
        yield tuple(counts if np.array_equal(index, whole) else counts[:, index] for index in own)


def _resampled(rng: np.random.Generator, groups: Sequence[Ints], n_clusters: int, rows: int) -> Floats:
    counts = np.zeros((rows, n_clusters))
    for members in groups:
        # A few rows at a time give the same draws as all at once, and the arrays stay in the processor's cache.
        step = max(1, MOST_DRAWN // len(members))
        for start in range(0, rows, step):
            n = min(step, rows - start)
            picks = rng.integers(len(members), size=(n, len(members)))
            picks += np.arange(n)[:, None] * len(members)
            cells = np.bincount(picks.ravel(), minlength=n * len(members))
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


NOBODY: Final = -1
"""Code for the source of a value if that is several annotators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueGroup:
    """Values with the dialogue that each belongs to.

    Attributes:
        session: Index of the dialogue in the table, shape (values,).
        turn: Number of the turn; `NO_TURN` for the dialogue as a whole. Shape (values,).
        answerer: Index of the annotator in the table; `NOBODY` for several. Shape (values,).
        value: Numbers; for labels and texts their index in `texts`. Shape (values,).
        texts: Labels or texts; empty for numbers.
        rows: Rows of the table behind the values; shape (leaves used,).
        planned: Rows of the table that should have a value; shape (leaves,).
        unreadable: Rows with a value that is not on the scale; among `planned`.
    """

    session: Ints
    turn: Ints
    answerer: Ints
    value: Floats
    texts: tuple[str, ...]
    rows: Ints
    planned: Ints
    unreadable: Ints

    def weights(self, weigh: Weighing) -> Floats:
        """Return the weight of each value: 1, or its part of a dialogue with weight 1; shape (values,)."""
        if weigh is Weighing.ANSWER or not len(self.session):
            return np.ones(len(self.session))
        answers = np.bincount(self.session)
        return 1.0 / answers[self.session]

    def histogram(self, weigh: Weighing, n_sessions: int) -> tuple[Floats, Floats]:
        """Return the observed levels, shape (levels,), and their weight in each dialogue, (sessions, levels)."""
        levels, level = np.unique(self.value, return_inverse=True)
        cells = self.session * len(levels) + level
        flat = np.bincount(cells, weights=self.weights(weigh), minlength=n_sessions * len(levels))
        return levels, flat.reshape(n_sessions, len(levels)).astype(np.float64)

    def sums(self, weigh: Weighing, n_sessions: int) -> Floats:
        """Return weighted sum and weight of each dialogue, shape (sessions, 2)."""
        weights = self.weights(weigh)
        summed = np.bincount(self.session, weights=weights * self.value, minlength=n_sessions)
        return np.stack([summed, np.bincount(self.session, weights=weights, minlength=n_sessions)], axis=1)


def value_groups_of(design: TreeDesign, kinds: Kinds, table: LeafTable, methods: Methods) -> Mapping[str, ValueGroup]:
    """Return the values of every node with several, by name."""
    numbers: dict[tuple[int, ValueRange], Floats] = {}
    values: dict[str, ValueGroup] = {}
    for node in design.upwards():
        kind = kinds[node.name]
        if isinstance(node, AnswersNode):
            values[node.name] = _answers(node, kind, table, numbers)
        elif isinstance(node, TransformNode) and kind.many:
            values[node.name] = _transformed(node, kinds[node.of], kind, values[node.of])
        elif isinstance(node, CollapseNode):
            values[node.name] = _collapsed(node, methods[node.summary], kinds[node.of], values[node.of], table)
    return values


def _answers(
    node: AnswersNode, kind: NodeKind, table: LeafTable, numbers: dict[tuple[int, ValueRange], Floats]
) -> ValueGroup:
    planned = table.rows_of(node)
    rows = planned[table.outcome[planned] == ANSWERED]
    if kind.holds is Holds.NUMBERS and kind.range is not None:
        texts: tuple[str, ...] = ()
        key = (id(table), kind.range)
        lookup = numbers.setdefault(key, _numbers(table.texts, kind.range))
    elif kind.holds is Holds.TEXTS:
        texts, lookup = table.texts, np.arange(len(table.texts), dtype=np.float64)
    else:
        texts = kind.labels
        lookup = np.array([texts.index(text) if text in texts else np.nan for text in table.texts])
    values = lookup[table.text[rows]] if len(rows) else np.empty(0)
    readable = ~np.isnan(values)
    return ValueGroup(
        session=table.session[rows[readable]],
        turn=table.turn[rows[readable]],
        answerer=table.answerer[rows[readable]],
        value=values[readable],
        texts=texts,
        rows=rows[readable],
        planned=planned,
        unreadable=rows[~readable],
    )


def _numbers(texts: tuple[str, ...], scale: ValueRange) -> Floats:
    """Return each text as a number; NaN if it is not a number on the scale."""
    return np.array([_number(text, scale) for text in texts], dtype=np.float64)


def _number(text: str, scale: ValueRange) -> float:
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if scale.lowest <= number <= scale.highest else math.nan


def _transformed(node: TransformNode, before: NodeKind, after: NodeKind, group: ValueGroup) -> ValueGroup:
    if node.form is TransformForm.RECODE:
        return _recoded(node, group)
    return replace(group, value=moved(node, before.range, after.range, group.value))


def moved(node: TransformNode, before: ValueRange | None, after: ValueRange | None, values: Floats) -> Floats:
    """Return reversed or rescaled numbers.

    Args:
        node: The step: `reverse` or `rescale`.
        before: Range of the numbers.
        after: Range of the result.
        values: Numbers, any shape.
    """
    if before is None or after is None:
        return values
    if node.form is TransformForm.REVERSE:
        return before.lowest + before.highest - values
    # Computed from the top, so that the ends of one range map exactly to the ends of the other.
    share = (values - before.lowest) / before.width
    return np.asarray(after.lowest * (1 - share) + after.highest * share)


def _recoded(node: TransformNode, group: ValueGroup) -> ValueGroup:
    levels, level_of = np.unique(group.value, return_inverse=True)
    texts = [group.texts[int(level)] if group.texts else f"{level:.15g}" for level in levels]
    numbers = [node.recoded.get(text) for text in texts]
    value = np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)[level_of]
    is_left = ~np.isnan(value)
    one_each = len(group.rows) == len(group.value)
    return replace(
        group,
        session=group.session[is_left],
        turn=group.turn[is_left],
        answerer=group.answerer[is_left],
        value=value[is_left],
        texts=(),
        rows=group.rows[is_left] if one_each else _rows_in(group, is_left),
    )


def _rows_in(group: ValueGroup, is_left: NDArray[np.bool_]) -> Ints:
    """Return all rows if values are collapsed and cannot be distinguished; empty if nothing is left."""
    return group.rows if is_left.any() else group.rows[:0]


def _collapsed(
    node: CollapseNode, method: SummaryMethod, below: NodeKind, group: ValueGroup, table: LeafTable
) -> ValueGroup:
    highest = below.range.highest if below.range else None
    if node.per is Per.ANNOTATOR and method.name == MAX:
        group = _with_known_maximum(group, highest, table)
    own = group.turn if node.per is Per.TURN else group.answerer if node.per is Per.ANNOTATOR else None
    n_cells = 1 if own is None else int(own.max(initial=0)) + 2  # the first cell is that of the code -1
    cells = group.session if own is None else group.session * n_cells + own + 1
    occupied, cell = np.unique(cells, return_inverse=True)
    packed = replace(group, session=cell.astype(np.int64))
    if method.name == MEAN:
        sums = packed.sums(Weighing.ANSWER, len(occupied))
        values = sums[:, 0] / sums[:, 1]
    else:
        levels, weights = packed.histogram(Weighing.ANSWER, len(occupied))
        values = summarise(method, levels[None, :], weights, highest=highest) if len(occupied) else np.empty(0)
    is_left = ~np.isnan(values)
    codes = occupied[is_left] % n_cells - 1
    return replace(
        group,
        session=occupied[is_left] // n_cells,
        turn=codes if node.per is Per.TURN else np.full(len(codes), NO_TURN),
        answerer=codes if node.per is Per.ANNOTATOR else np.full(len(codes), NOBODY),
        value=values[is_left],
    )


def _with_known_maximum(group: ValueGroup, highest: float | None, table: LeafTable) -> ValueGroup:
    """Return the values without dialogues of which an annotator knows only some turns: an unknown turn may be highest.

    As in defect rates (rule 4 of `theodolite.domain.answer_rules`), a turn at the top of the scale decides alone.
    """
    codes = np.arange(len(OUTCOMES))
    is_unknown = ~np.isin(codes, [ANSWERED, OUTCOMES.index(Outcome.NOT_APPLICABLE)])[table.outcome[group.planned]]
    rows = np.concatenate([group.planned[is_unknown], group.unreadable])
    n_answerers = len(table.answerers)
    cells = group.session * n_answerers + group.answerer
    unknown = np.isin(cells, table.session[rows] * n_answerers + table.answerer[rows])
    top = cells[group.value == highest]
    is_left = ~unknown | np.isin(cells, top)
    return replace(
        group,
        session=group.session[is_left],
        turn=group.turn[is_left],
        answerer=group.answerer[is_left],
        value=group.value[is_left],
        rows=group.rows[is_left] if len(group.rows) == len(is_left) else group.rows,
    )


Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""Relative tolerance for equal weights, because thirds do not add up to one in floats."""


def summarise(method: SummaryMethod, values: Floats, weights: Floats, *, highest: float | None) -> Floats:
    """Return one number per row; NaN without data.

    A weight of 0 removes a child from any summary: it does not affect
    this node. NaN among the values means a child without data, which is also omitted.

    Args:
        method: The summary.
        values: Shape (rows, children), or (1, children) if all rows are equal.
        weights: Shape (rows, children).
        highest: Top of the children's scale; for the scale-normalised median.
    """
    rows = max(values.shape[0], weights.shape[0])
    if not values.shape[1]:
        return np.full(rows, np.nan)
    if method.combine is not None:
        return _combined(method.combine, values, weights, rows)
    result = _ROWWISE[method.name](values, weights)
    return np.asarray(result / highest) if method.name == SCALE_NORMALISED_MEDIAN and highest else result


def _present(values: Floats, weights: Floats) -> NDArray[np.bool_]:
    return (weights > 0) & ~np.isnan(values)


def _means(values: Floats, weights: Floats) -> Floats:
    selected = np.where(_present(values, weights), weights, 0.0)
    total = selected.sum(axis=1)
    summed = np.einsum("ij,ij->i", np.broadcast_to(np.nan_to_num(values), selected.shape), selected)
    means: Floats = np.divide(summed, total, out=np.full(total.shape, np.nan), where=total > 0)
    return means


def _maxima(values: Floats, weights: Floats) -> Floats:
    highest = np.where(_present(values, weights), values, -np.inf).max(axis=1)
    return np.asarray(np.where(np.isneginf(highest), np.nan, highest))


def _medians(values: Floats, weights: Floats) -> Floats:
    """Return weighted medians; if exactly half the weight is below, the mean of the two in the middle."""
    selected = np.where(_present(values, weights), weights, 0.0)
    order = np.argsort(values, axis=1, kind="stable")  # NaN goes last, with weight 0
    if values.shape[0] == 1:
        ordered, selected = values[:, order[0]], selected[:, order[0]]
    else:
        ordered, selected = np.take_along_axis(values, order, axis=1), np.take_along_axis(selected, order, axis=1)
    running = np.cumsum(selected, axis=1)
    total = running[:, -1:]
    below = np.argmax(running >= total * (0.5 - ROUNDING), axis=1)[:, None]
    above = np.argmax(running > total * (0.5 + ROUNDING), axis=1)[:, None]
    ordered = np.broadcast_to(ordered, selected.shape)
    # With a first weight of 0, the position at half of zero would count as a value.
    middle = (np.take_along_axis(ordered, below, axis=1) + np.take_along_axis(ordered, above, axis=1))[:, 0] / 2
    return np.where(total[:, 0] > 0, middle, np.nan)


def _products(values: Floats, weights: Floats) -> Floats:
    """Return products; a factor of 0 makes the product 0, and otherwise any factor without data makes it undefined.

    Without a release, its magnitude is undefined, but the risk is still 0. ADR-0050.
    """
    factors = np.where(weights > 0, np.broadcast_to(values, weights.shape), 1.0)
    products = np.where((factors == 0).any(axis=1), 0.0, factors.prod(axis=1))
    return np.where((weights > 0).any(axis=1), products, np.nan)


_ROWWISE: Mapping[str, Callable[[Floats, Floats], Floats]] = MappingProxyType(
    {MEAN: _means, MAX: _maxima, MEDIAN: _medians, SCALE_NORMALISED_MEDIAN: _medians, PRODUCT: _products}
)


def _combined(combine: Combine, values: Floats, weights: Floats, rows: int) -> Floats:
    results = np.full(rows, np.nan)
    present = np.broadcast_to(_present(values, weights), (rows, values.shape[1]))
    wide, shares = np.broadcast_to(values, present.shape), np.broadcast_to(weights, present.shape)
    for row in range(rows):
        selected = present[row]
        if selected.any():
            number = combine(wide[row, selected].tolist(), shares[row, selected].tolist())
            results[row] = np.nan if number is None else number
    return results
