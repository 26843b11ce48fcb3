"""Splits: nodes for parts of the dialogues, without telling who the few are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from theodolite.domain.trees.finding import NodeSplit
from theodolite.domain.trees.tree import SummaryNode, TreeDesign
from theodolite.measurement.comparison.multiplicity import adjust_p_values
from theodolite.measurement.trees.leaves import Flags, Ints, LeafTable
from theodolite.measurement.trees.measuring import Draws, measure_tree
from theodolite.measurement.trees.methods import BUILT_IN, Holds, Methods
from theodolite.measurement.trees.replicates import Compiled, compiled
from theodolite.measurement.trees.summaries import Floats

FEWEST: Final = 5
"""Dialogues below which a part's value is withheld: it would speak of single people; count."""

REPLICATES: Final = 300
"""Replicates of a part at most; count."""

MOST_CELLS: Final = 8_000_000
"""Weights that are held at once; count."""

SHUFFLES: Final = 499
"""Times that parts are drawn by lot; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """How the dialogues of a table fall into parts.

    Attributes:
        group: Name of what is split by.
        names: Names of the parts.
        place: Place of each dialogue's part in `names`; -1 where none is stated. Shape (dialogues,).
    """

    group: str
    names: tuple[str, ...]
    place: Ints

    def members(self, number: int) -> Flags:
        """Return which dialogues belong to a part."""
        return np.asarray(self.place == number)


def split_tree(
    design: TreeDesign,
    table: LeafTable,
    groups: Sequence[str],
    *,
    nodes: Sequence[str] = (),
    draws: Draws | None = None,
    methods: Methods = BUILT_IN,
) -> tuple[NodeSplit, ...]:
    """Return nodes by part of the dialogues: by type of user, by group of testers.

    A part with fewer than five dialogues below a node is named with its count
    and without its value. Whether parts differ is tested by drawing them by
    lot, whole clusters at a time and within a level of testing; p-values are
    corrected for all nodes and groups at once (Holm).

    Args:
        design: The tree.
        table: Its leaves.
        groups: Names of the groups to split by.
        nodes: Names of the nodes; all that hold one number where empty.
        draws: How replicates are drawn.
        methods: The summaries that there are.

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
    return tuple(replace(each, p_value=corrected.get((each.group, each.node))) for each in splits)


def parts_of(table: LeafTable, group: str) -> Parts:
    """Return how the dialogues fall into parts of a group; `level` splits by level of testing."""
    values = [one.level if group == "level" else dict(one.groups).get(group, "") for one in table.sessions]
    names = tuple(sorted({value for value in values if value}))
    place = [names.index(value) if value else -1 for value in values]
    return Parts(group=group, names=names, place=np.array(place, dtype=np.int64))


def _summaries(tree: Compiled) -> Iterator[str]:
    for node in tree.design.nodes:
        if isinstance(node, SummaryNode) and tree.kinds[node.name].holds is Holds.NUMBERS:
            yield node.name


def _split(tree: Compiled, parts: Parts, nodes: Sequence[str], draws: Draws) -> Iterator[NodeSplit]:
    fewer = replace(draws, replicates=min(draws.replicates, REPLICATES))
    for number, part in enumerate(parts.names):
        table = tree.table.only(parts.members(number))
        finding = measure_tree(tree.design, table, nodes=nodes, draws=fewer, methods=tree.methods)
        for found in finding.nodes:
            shown = found if found.n_dialogues >= FEWEST else None
            yield NodeSplit(node=found.node, group=parts.group, part=part, n_dialogues=found.n_dialogues, finding=shown)


def _p_values(tree: Compiled, parts: Parts, nodes: Sequence[str], seed: int) -> Mapping[str, float]:
    """Return for each node the chance of parts this different; nodes without two parts to show are left out."""
    if len(parts.names) < 2 or not tree.n_sessions:
        return {}
    rng = np.random.default_rng(seed)
    real = _variances(tree, parts.place[None, :], len(parts.names), nodes)[0]
    as_large = np.zeros(len(nodes))
    shuffling = _Shuffling.of(tree.table, parts.place)
    step = max(1, MOST_CELLS // (tree.n_sessions * len(parts.names)))
    for start in range(0, SHUFFLES, step):
        rows = min(step, SHUFFLES - start)
        drawn = np.stack([shuffling.draw(rng) for _ in range(rows)])
        found = _variances(tree, drawn, len(parts.names), nodes)
        as_large += (~(found < real * (1 - 1e-9))).sum(axis=0)  # NaN counts as no smaller
    chances = (as_large + 1) / (SHUFFLES + 1)
    return {name: float(p) for name, p, was in zip(nodes, chances, real, strict=True) if not np.isnan(was)}


def _variances(tree: Compiled, places: Ints, n_parts: int, nodes: Sequence[str]) -> Floats:
    """Return how far parts lie apart at each node, weighted by their dialogues; NaN with fewer than two parts.

    Args:
        tree: The tree with its leaves.
        places: Part of each dialogue, one drawing a row, shape (drawings, dialogues).
        n_parts: Parts; count.
        nodes: Names of the nodes.

    Returns:
        Shape (drawings, nodes).
    """
    weights = (places[:, None, :] == np.arange(n_parts)[:, None]).astype(np.float64)
    values = tree.values(weights.reshape(-1, places.shape[1]))
    sizes = weights.sum(axis=2)
    found = np.full((len(places), len(nodes)), np.nan)
    for at, name in enumerate(nodes):
        value = values[name].reshape(len(places), n_parts)
        shares = np.where(~np.isnan(value) & (sizes >= FEWEST), sizes, 0.0)
        known = np.nan_to_num(value)
        total = shares.sum(axis=1, keepdims=True)
        mean = np.divide((shares * known).sum(axis=1, keepdims=True), total, out=np.zeros_like(total), where=total > 0)
        apart = (shares * (known - mean) ** 2).sum(axis=1)
        found[:, at] = np.where((shares > 0).sum(axis=1) >= 2, apart, np.nan)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shuffling:
    """How parts are drawn by lot: whole clusters where all of a cluster is of one part, within a stratum.

    Attributes:
        unit: What is drawn for each dialogue: its cluster, or itself; shape (dialogues,).
        part: Part of each unit; shape (units,).
        strata: The units of each stratum.
    """

    unit: Ints
    part: Ints
    strata: tuple[Ints, ...]

    @classmethod
    def of(cls, table: LeafTable, place: Ints) -> _Shuffling:
        """Return how the parts of a table's dialogues are drawn."""
        first = np.zeros(len(table.cluster_keys), dtype=np.int64)
        first[table.clusters] = place
        whole = bool((first[table.clusters] == place).all())
        keys = [key[:2] for key in table.cluster_keys] if whole else [(s.level, s.held_by) for s in table.sessions]
        codes = {key: code for code, key in enumerate(dict.fromkeys(keys))}
        stratum = np.array([codes[key] for key in keys], dtype=np.int64)
        return cls(
            unit=table.clusters if whole else np.arange(len(place)),
            part=first if whole else place,
            strata=tuple(np.flatnonzero(stratum == code) for code in codes.values()),
        )

    def draw(self, rng: np.random.Generator) -> Ints:
        """Return the part of each dialogue in one drawing; shape (dialogues,)."""
        drawn = self.part.copy()
        for members in self.strata:
            drawn[members] = rng.permutation(self.part[members])
        return np.asarray(drawn[self.unit])
