"""Standings: how several applications stand to each other on one tree, without a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from theodolite.domain.trees.finding import TreeStanding
from theodolite.measurement.trees.comparing import Tabled, compare_tabled
from theodolite.measurement.trees.linking import pareto_front
from theodolite.measurement.trees.measuring import Draws
from theodolite.measurement.trees.methods import BUILT_IN, Methods
from theodolite.measurement.trees.replicates import Compiled, compiled, point_values, resampled_together
from theodolite.measurement.trees.summaries import Floats

MOST_PAIRS: Final = 15
"""Pairs that are compared node by node; count. Beyond that each is compared with the first alone."""

REPLICATES: Final = 400
"""Replicates at most; count."""


def standing_of(
    applications: Sequence[Tabled],
    dimensions: Sequence[str],
    *,
    draws: Draws | None = None,
    methods: Methods = BUILT_IN,
) -> TreeStanding:
    """Return how applications stand to each other: pairwise, and as a front.

    Only dimensions on which every application has data enter the front.
    Clusters of dialogues that applications share are drawn together.

    Args:
        applications: One tree with the leaves of each application; at least one.
        dimensions: Names of the nodes that are its dimensions.
        draws: How replicates are drawn.
        methods: The summaries that there are.

    Source:
        Fronts: Pareto (1906), Manuale di economia politica. Order of trees: Greenberg, Hall, Jensen,
        Greene, Amironesei (2025), arXiv:2509.26632.
    """
    draws = draws or Draws()
    fewer = replace(draws, replicates=min(draws.replicates, REPLICATES))
    trees = [compiled(each.design, each.table, methods) for each in applications]
    points = [point_values(tree) for tree in trees]
    known = tuple(name for name in dimensions if all(not np.isnan(values.get(name, np.nan)) for values in points))
    values = {
        each.application: [found[name] for name in known] for each, found in zip(applications, points, strict=True)
    }
    odds = _front_odds(_drawn(trees, applications, known, fewer)) if known and fewer.replicates else np.empty(0)
    return TreeStanding(
        tree=applications[0].design.name,
        dimensions=known,
        comparisons=tuple(
            compare_tabled(applications[one], applications[other], draws=fewer, methods=methods)
            for one, other in _pairs(len(applications))
        ),
        front=pareto_front(values) if known else (),
        front_odds={each.application: float(share) for each, share in zip(applications, odds, strict=False)},
    )


def _pairs(n: int) -> Sequence[tuple[int, int]]:
    """Return which of so many applications are compared node by node."""
    pairs = list(combinations(range(n), 2))
    return pairs if len(pairs) <= MOST_PAIRS else [(0, other) for other in range(1, n)]


def _drawn(trees: Sequence[Compiled], applications: Sequence[Tabled], known: Sequence[str], draws: Draws) -> Floats:
    """Return replicates of some dimensions, drawn together; shape (applications, dimensions, replicates)."""
    drawn: list[Floats] = []
    for weights in resampled_together([each.table for each in applications], draws.replicates, draws.seed):
        found = [tree.values(own) for tree, own in zip(trees, weights, strict=True)]
        drawn.append(np.array([[one[name] for name in known] for one in found]).reshape(len(trees), len(known), -1))
    return np.concatenate(drawn, axis=2)


def _front_odds(drawn: Floats) -> Floats:
    """Return in which share of replicates nobody outdoes each application.

    Args:
        drawn: Values, shape (applications, dimensions, replicates).
    """
    outdone = np.zeros((drawn.shape[0], drawn.shape[2]), dtype=bool)
    for one in range(len(drawn)):
        for other in range(len(drawn)):
            if one != other:
                no_higher = (drawn[other] <= drawn[one]).all(axis=0)
                outdone[one] |= no_higher & (drawn[other] < drawn[one]).any(axis=0)
    return np.asarray(1.0 - outdone.mean(axis=1), dtype=np.float64)
