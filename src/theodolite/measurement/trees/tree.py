"""A measurement tree, a design with its leaves, and comparisons of measured trees."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final

import numpy as np
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.identity import Json
from theodolite.domain.instrument import Orientation
from theodolite.domain.tree import Leaf, TreeDesign
from theodolite.domain.tree_finding import NodeDifference, TreeComparison, TreeFinding, TreeStanding
from theodolite.domain.tree_form import LeafSet, TreeFile, tree_file_document, tree_file_of
from theodolite.domain.undefined_reasons import METHOD_WITHOUT_DATA, SIDE_WITHOUT_DATA
from theodolite.measurement.interval import Ends
from theodolite.measurement.trees.association import pareto_front
from theodolite.measurement.trees.bounds import BOOTSTRAP, Bounds, TreeData
from theodolite.measurement.trees.checks import kinds_of
from theodolite.measurement.trees.leaves import LeafTable, table_of
from theodolite.measurement.trees.measuring import Draws, measure_tree
from theodolite.measurement.trees.methods import BUILT_IN, Methods
from theodolite.measurement.trees.replicates import (
    Compiled,
    Floats,
    compiled,
    point_values,
    replicated,
    resampled_together,
)


@dataclass(frozen=True, kw_only=True)
class MeasurementTree:
    """A tree or directed graph of summaries over single answers.

    Attributes:
        design: Topology, summaries, weights and transforms.
        leaves: The answers of one application, or their columns.
        application: Name of the application.
        scenarios: Names of the scenarios that the dialogues belong to.
        versions: Content hashes of the instruments by name.
        methods: The available summaries.

    Example:
        >>> tree = MeasurementTree.from_text('''
        ... tree: small
        ... nodes:
        ...   risk: {summary: max, of: [first, second]}
        ...   first: {summary: scale-normalised median, of: a}
        ...   second: {summary: scale-normalised median, of: b}
        ...   a: {answers: a, scale: 0-5, orientation: higher_is_worse}
        ...   b: {answers: b, scale: 0-5, orientation: higher_is_worse}
        ... ''')
        >>> leaves = [Leaf(question="a", session=f"d{value}", value=value) for value in "135"]
        >>> tree.with_leaves(leaves).evaluate()
        {'first': 0.6, 'second': None, 'risk': 0.6}

    Source:
        Greenberg, Hall, Jensen, Greene, Amironesei (2025), "Branching Out: Broadening AI
        Measurement and Evaluation with Measurement Trees", arXiv:2509.26632.
    """

    design: TreeDesign
    leaves: tuple[Leaf, ...] | LeafTable = ()
    application: str = ""
    scenarios: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    methods: Methods = field(default_factory=lambda: BUILT_IN, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Reject a design with errors; lists all of them."""
        kinds_of(self.design, self.methods)

    @classmethod
    def from_text(cls, text: str, *, application: str = "", methods: Methods = BUILT_IN) -> MeasurementTree:
        """Return the tree of a YAML or JSON text.

        Args:
            text: A design, or a tree file with leaves.
            application: Application of the leaves; may be omitted if there is only one.
            methods: The available summaries.

        Raises:
            InputError: If the text is neither, or the design has errors.
        """
        return cls.from_dict(plain_of(text), application=application, methods=methods)

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, Any], *, application: str = "", methods: Methods = BUILT_IN
    ) -> MeasurementTree:
        """Return the tree of a plain form; see `from_text`."""
        file = tree_file_of(plain)
        chosen = file.of(application) if file.sets else LeafSet(application=application, leaves=())
        return cls(
            design=file.design,
            leaves=chosen.leaves,
            application=chosen.application,
            scenarios=chosen.scenarios,
            versions=chosen.versions,
            methods=methods,
        )

    def to_dict(self) -> dict[str, Json]:
        """Return the plain form; `from_dict` reads it back to an equal tree."""
        return tree_file_document(TreeFile(design=self.design, sets=(self._leaf_set(),)))

    def with_leaves(self, leaves: Iterable[Leaf]) -> MeasurementTree:
        """Return the design over other answers."""
        return replace(self, leaves=tuple(leaves))

    def evaluate(self) -> dict[str, float | None]:
        """Return the number of each node that has one; None without data."""
        values = self._values()
        return {name: None if np.isnan(value) else value for name, value in values.items()}

    def bootstrap(self, *, replicates: int = 1_000, seed: int = 1, confidence: float = 0.95) -> TreeFinding:
        """Return the finding of every node; see `measure_tree`."""
        draws = Draws(replicates=replicates, seed=seed, confidence=confidence)
        return measure_tree(self.design, self.leaves, application=self.application, draws=draws, methods=self.methods)

    def compare(self, other: MeasurementTree, *, replicates: int = 1_000, seed: int = 1) -> TreeComparison:
        """Return the relation of this tree to another, node by node; see `compare_trees`."""
        draws = Draws(replicates=replicates, seed=seed)
        first, second = (self.design, self._leaf_set()), (other.design, other._leaf_set())
        return compare_trees(first, second, draws=draws, methods=self.methods)

    def equals(self, other: MeasurementTree) -> bool:
        """Return whether topology, summaries and all values above the leaves are the same."""
        return same_tree(self._values(), other._values(), (self.design, other.design))

    def _values(self) -> dict[str, float]:
        table = self.leaves if isinstance(self.leaves, LeafTable) else table_of(self.leaves)
        return point_values(compiled(self.design, table, self.methods))

    def _leaf_set(self) -> LeafSet:
        if isinstance(self.leaves, LeafTable):
            message = "leaves in columns cannot be written or compared; give them as records"
            raise InputError(message)
        return LeafSet(
            application=self.application, leaves=self.leaves, scenarios=self.scenarios, versions=self.versions
        )


def plain_of(text: str) -> Mapping[str, Any]:
    """Return the mapping in a YAML or JSON text.

    Raises:
        InputError: If it is neither, or not a mapping.
    """
    try:
        is_json = text.lstrip().startswith("{")
        plain = json.loads(text) if is_json else YAML(typ="safe", pure=True).load(text)
    except (json.JSONDecodeError, YAMLError, RecursionError) as error:
        message = f"expected a tree in YAML or JSON, but it cannot be read: {' '.join(str(error).split())}"
        raise InputError(message) from error
    if not isinstance(plain, Mapping):
        message = f"expected a tree: a mapping with `tree` and `nodes`; got {type(plain).__name__}"
        raise InputError(message)
    return plain


EQUAL: Final = "equal"

LOWER: Final = "lower"

HIGHER: Final = "higher"

INCOMPARABLE: Final = "incomparable"

MOVER: Final = "difference of two intervals"
"""Name of an interval that is combined from two intervals."""

SAME = 1e-12
"""Values closer than this are equal, because such differences are rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeComparisonTable:
    """A tree with its leaves in columns.

    Attributes:
        design: The tree.
        table: Its leaves.
        application: Name of the application.
        scenarios: Names of the scenarios that the dialogues belong to.
        versions: Content hashes of the instruments by name.
    """

    design: TreeDesign
    table: LeafTable
    application: str
    scenarios: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTree:
    """One of the two trees with its values.

    Attributes:
        data: The tree's values and their dialogues.
        bounds: Their bounds.
    """

    data: TreeData
    bounds: Bounds

    def value(self, name: str) -> float | None:
        """Return a node's value; None without data."""
        value = self.data.values.get(name, math.nan)
        return None if math.isnan(value) else value


def compare_trees(
    first: tuple[TreeDesign, LeafSet],
    second: tuple[TreeDesign, LeafSet],
    *,
    draws: Draws | None = None,
    methods: Methods = BUILT_IN,
) -> TreeComparison:
    """Compare two applications, or one at two times, on the nodes of both trees.

    The first is lower if none of its nodes is riskier and at least one is less risky;
    if some are lower and some higher, neither is better: they are
    incomparable, and no overall score decides. Trees are ordered only
    if scenarios, methods and instruments are the same.

    Clusters of dialogues of both (the same personas or scripts) are
    resampled together, so that shared difficulty does not count as a
    difference. If replicates of a node cannot be trusted, the interval
    is combined from the intervals of the two nodes.

    Args:
        first: Design and leaves of the first.
        second: Of the other.
        draws: Settings of the replicates.
        methods: The available summaries.

    Source:
        Order and equality of measurement trees: Greenberg, Hall, Jensen, Greene, Amironesei
        (2025), arXiv:2509.26632. Intervals put together from two: Zou, Donner (2008), Statistics
        in Medicine 27:1693-1702.
    """
    tables = [_tree_table(design, leaves) for design, leaves in (first, second)]
    return compare_tables(tables[0], tables[1], draws=draws, methods=methods)


def _tree_table(design: TreeDesign, leaves: LeafSet) -> TreeComparisonTable:
    return TreeComparisonTable(
        design=design,
        table=table_of(leaves.leaves),
        application=leaves.application,
        scenarios=leaves.scenarios,
        versions=leaves.versions,
    )


def compare_tables(
    first: TreeComparisonTable, second: TreeComparisonTable, *, draws: Draws | None = None, methods: Methods = BUILT_IN
) -> TreeComparison:
    """Compare trees with leaves in columns; see `compare_trees`."""
    draws = draws or Draws()
    left, right, n_pairs = _sides(first, second, draws, methods)
    names = [name for name in left.data.values if name in right.data.values]
    differences = tuple(_difference(name, left, right, draws.confidence) for name in names)
    warnings = tuple(_warnings(first, second))
    lower = tuple(d.node for d in differences if _sign(d, left) < 0)
    higher = tuple(d.node for d in differences if _sign(d, left) > 0)
    return TreeComparison(
        first=first.application,
        second=second.application,
        order="" if warnings else _order(differences, lower, higher),
        differences=differences,
        lower=lower,
        higher=higher,
        warnings=warnings,
        n_pairs=n_pairs,
    )


def rescored(
    old: TreeDesign, new: TreeDesign, leaves: LeafSet, *, draws: Draws | None = None, methods: Methods = BUILT_IN
) -> TreeComparison:
    """Compare two methods on the same leaves, at the nodes of both trees.

    Every replicate draws the same clusters for both trees, so the interval contains the variation of the difference
    between methods over other dialogues, but not that of the dialogues themselves.

    Args:
        old: The old tree.
        new: The new tree.
        leaves: Leaves for the computation of both.
        draws: Settings of the replicates.
        methods: The available summaries.

    Source:
        Paired bootstrap of clusters: Davison, Hinkley (1997), Bootstrap Methods and their Application, sections
        3.8 and 5.3.
    """
    draws = draws or Draws()
    table = table_of(leaves.leaves)
    trees = [compiled(design, table, methods) for design in (old, new)]
    values = [point_values(tree) for tree in trees]
    sampled = [replicated(tree, draws.replicates, draws.seed) for tree in trees]
    data = TreeData(tree=trees[1], values=values[1], replicates=sampled[1])
    differences = tuple(
        _method_difference(name, (values[0][name], values[1][name]), sampled[1][name] - sampled[0][name], data, draws)
        for name in values[0]
        if name in values[1]
    )
    warnings = (
        () if old.method_version == new.method_version else ("The trees do not compute all values in the same way.",)
    )
    return TreeComparison(
        first="old method",
        second="new method",
        order="",
        differences=differences,
        warnings=warnings,
        n_pairs=len(table.cluster_keys),
    )


def _method_difference(
    name: str, values: tuple[float, float], sampled: Floats, data: TreeData, draws: Draws
) -> NodeDifference:
    first, second = (None if math.isnan(value) else value for value in values)
    scale = data.tree.kinds[name].range
    unit = f"points from {scale}" if scale else ""
    if first is None or second is None:
        reason = METHOD_WITHOUT_DATA
        return NodeDifference(node=name, first=first, second=second, difference=Undefined(reason=reason, unit=unit))
    known = sampled[~np.isnan(sampled)]
    tail = (1 - draws.confidence) / 2
    ends = np.quantile(known, [tail, 1 - tail]) if len(known) else np.full(2, second - first)
    difference = Estimate(
        value=second - first,
        low=min(float(ends[0]), second - first),
        high=max(float(ends[1]), second - first),
        confidence=draws.confidence,
        n=data.n_sessions(name),
        unit=unit,
        method="paired bootstrap of clusters",
        n_clusters=data.n_clusters(name),
    )
    return NodeDifference(node=name, first=first, second=second, difference=difference)


def same_tree(first: Mapping[str, float], second: Mapping[str, float], designs: tuple[TreeDesign, TreeDesign]) -> bool:
    """Return whether two measured trees are equal: same topology, same summaries, same values above the leaves.

    Args:
        first: Node to value of the first; NaN without data.
        second: Of the other.
        designs: Their designs.

    Source:
        Greenberg, Hall, Jensen, Greene, Amironesei (2025), arXiv:2509.26632: leaves may differ.
    """
    if designs[0].method_version != designs[1].method_version or set(first) != set(second):
        return False
    return all(_close(value, second[name]) for name, value in first.items())


def _close(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or abs(a - b) <= SAME


def _sides(
    first: TreeComparisonTable, second: TreeComparisonTable, draws: Draws, methods: Methods
) -> tuple[MeasuredTree, MeasuredTree, int]:
    trees = [compiled(side.design, side.table, methods) for side in (first, second)]
    parts: list[list[dict[str, Floats]]] = [[], []]
    for weights in resampled_together([tree.table for tree in trees], draws.replicates, draws.seed):
        for tree, part, own in zip(trees, parts, weights, strict=True):
            part.append(tree.values(own))
    sides = []
    for tree, part in zip(trees, parts, strict=True):
        sampled = (
            {name: np.concatenate([part_values[name] for part_values in part]) for name in part[0]} if part else {}
        )
        data = TreeData(tree=tree, values=point_values(tree), replicates=sampled)
        sides.append(MeasuredTree(data=data, bounds=Bounds(data=data)))
    shared = {tree.table.cluster_keys for tree in trees}
    n_pairs = len(set.intersection(*(set(keys) for keys in shared))) if len(shared) > 1 else len(set(shared.pop()))
    return sides[0], sides[1], n_pairs


def _difference(name: str, left: MeasuredTree, right: MeasuredTree, confidence: float) -> NodeDifference:
    a, b = left.value(name), right.value(name)
    return NodeDifference(node=name, first=a, second=b, difference=_estimate(name, left, right, confidence))


def _estimate(name: str, left: MeasuredTree, right: MeasuredTree, confidence: float) -> Estimate | Undefined:
    a, b = left.value(name), right.value(name)
    scale = left.data.tree.kinds[name].range
    unit = f"points from {scale}" if scale else ""
    if a is None or b is None:
        empty = "Neither has" if a is None and b is None else f"The {'first' if a is None else 'second'} has no"
        return Undefined(reason=SIDE_WITHOUT_DATA.format(sides=empty), unit=unit)
    ends, method = _ends(name, left, right, (a, b), confidence)
    low, high = ends or (None, None)
    return Estimate(
        value=b - a,
        low=low,
        high=high,
        confidence=confidence,
        n=left.data.n_sessions(name) + right.data.n_sessions(name),
        unit=unit,
        method=method,
        n_clusters=left.data.n_clusters(name) + right.data.n_clusters(name),
    )


def _ends(
    name: str, left: MeasuredTree, right: MeasuredTree, values: tuple[float, float], confidence: float
) -> tuple[Ends | None, str]:
    a, b = values
    if left.data.is_regular(name) and right.data.is_regular(name):
        sampled = right.data.replicates[name] - left.data.replicates[name]
        sampled = sampled[~np.isnan(sampled)]
        if len(sampled):
            tail = (1 - confidence) / 2
            low, high = (float(end) for end in np.quantile(sampled, [tail, 1 - tail]))
            return (min(low, b - a), max(high, b - a)), BOOTSTRAP
    first, second = left.bounds.of(name, confidence).ends, right.bounds.of(name, confidence).ends
    if first is None or second is None:
        return None, "no interval"
    low = b - a - math.hypot(b - second[0], first[1] - a)
    high = b - a + math.hypot(second[1] - b, a - first[0])
    return (low, high), MOVER


def _sign(difference: NodeDifference, side: MeasuredTree) -> int:
    """Return -1 if the first is less risky at a node, 1 if it is riskier, else 0."""
    if difference.first is None or difference.second is None:
        return 0
    change = difference.first - difference.second
    if abs(change) <= SAME:
        return 0
    better_low = side.data.tree.kinds[difference.node].orientation is not Orientation.LOWER_IS_WORSE
    return int(math.copysign(1, change)) * (1 if better_low else -1)


def _order(differences: Iterable[NodeDifference], lower: tuple[str, ...], higher: tuple[str, ...]) -> str:
    half_empty = any((difference.first is None) != (difference.second is None) for difference in differences)
    if half_empty or (lower and higher):
        return INCOMPARABLE
    return LOWER if lower else HIGHER if higher else EQUAL


def _warnings(first: TreeComparisonTable, second: TreeComparisonTable) -> Iterator[str]:
    if first.design.method_version != second.design.method_version:
        yield "The trees are not computed by the same method: topology, summaries, weights or transforms differ."
    if sorted(first.scenarios) != sorted(second.scenarios):
        named = ", ".join(first.scenarios) or "not stated", ", ".join(second.scenarios) or "not stated"
        yield f"Scenarios differ ({named[0]}; {named[1]}): what the task does and what the application does is one."
    both = {*first.versions, *second.versions}
    changed = sorted(name for name in both if first.versions.get(name) != second.versions.get(name))
    if changed:
        yield f"Instruments differ: {', '.join(changed)}. A change may be theirs and not the application's."


MOST_PAIRS: Final = 15
"""Maximum number of pairs that are compared node by node; count. Beyond it, each is compared only with the first."""

REPLICATES: Final = 400
"""Maximum number of replicates; count."""


def compare_applications(
    applications: Sequence[TreeComparisonTable],
    dimensions: Sequence[str],
    *,
    draws: Draws | None = None,
    methods: Methods = BUILT_IN,
) -> TreeStanding:
    """Return the comparison of applications: pairwise, and as a Pareto front.

    Only dimensions with data of every application count for the front.
    Clusters of dialogues that applications share are resampled together.

    Args:
        applications: One tree with the leaves of each application; at least one.
        dimensions: Names of the nodes that are its dimensions.
        draws: Settings of the replicates.
        methods: The available summaries.

    Source:
        Fronts: Pareto (1906), Manuale di economia politica. Order of trees: Greenberg, Hall, Jensen,
        Greene, Amironesei (2025), arXiv:2509.26632.
    """
    draws = draws or Draws()
    fewer = replace(draws, replicates=min(draws.replicates, REPLICATES))
    trees = [compiled(tree_table.design, tree_table.table, methods) for tree_table in applications]
    points = [point_values(tree) for tree in trees]
    known = tuple(name for name in dimensions if all(not np.isnan(values.get(name, np.nan)) for values in points))
    values = {
        tree_table.application: [node_values[name] for name in known]
        for tree_table, node_values in zip(applications, points, strict=True)
    }
    odds = _front_odds(_sampled(trees, applications, known, fewer)) if known and fewer.replicates else np.empty(0)
    return TreeStanding(
        tree=applications[0].design.name,
        dimensions=known,
        comparisons=tuple(
            compare_tables(applications[first], applications[second], draws=fewer, methods=methods)
            for first, second in _pairs(len(applications))
        ),
        front=pareto_front(values) if known else (),
        front_odds={
            tree_table.application: float(share) for tree_table, share in zip(applications, odds, strict=False)
        },
    )


def _pairs(n: int) -> Sequence[tuple[int, int]]:
    """Return the pairs of a number of applications that are compared node by node."""
    pairs = list(combinations(range(n), 2))
    return pairs if len(pairs) <= MOST_PAIRS else [(0, other) for other in range(1, n)]


def _sampled(
    trees: Sequence[Compiled], applications: Sequence[TreeComparisonTable], known: Sequence[str], draws: Draws
) -> Floats:
    """Return replicates of some dimensions, resampled together; shape (applications, dimensions, replicates)."""
    sampled: list[Floats] = []
    for weights in resampled_together([tree_table.table for tree_table in applications], draws.replicates, draws.seed):
        values = [tree.values(own) for tree, own in zip(trees, weights, strict=True)]
        sampled.append(
            np.array([[node_values[name] for name in known] for node_values in values]).reshape(
                len(trees), len(known), -1
            )
        )
    return np.concatenate(sampled, axis=2)


def _front_odds(sampled: Floats) -> Floats:
    """Return the share of replicates in which no other dominates each application.

    Args:
        sampled: Values, shape (applications, dimensions, replicates).
    """
    outdone = np.zeros((sampled.shape[0], sampled.shape[2]), dtype=bool)
    for candidate in range(len(sampled)):
        for rival in range(len(sampled)):
            if candidate != rival:
                no_higher = (sampled[rival] <= sampled[candidate]).all(axis=0)
                outdone[candidate] |= no_higher & (sampled[rival] < sampled[candidate]).any(axis=0)
    return np.asarray(1.0 - outdone.mean(axis=1), dtype=np.float64)
