"""Rankings: agreement of a judge's ranking of units with people's ranking."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from scipy.special import lambertw

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.order import FEWEST_SCORES, Chance, RankingAgreement
from theodolite.domain.undefined_reasons import EQUAL_SCORES_OF, TOO_FEW_RANKED, TOO_MANY_TIES
from theodolite.measurement.interval import check_confidence
from theodolite.measurement.labels import ClusterIds, cluster_codes, selected_clusters
from theodolite.measurement.order_profile import FEWEST_DRAWS, Null, null_of, rising_of_rows, trend_chance
from theodolite.measurement.scores import Correlation, correlation
from theodolite.measurement.sequences import (
    Floats,
    Whole,
    all_triples_entropy,
    as_scores,
    inversion_count,
    longest_increasing_subsequence,
    permutation_entropy,
    ranks,
)

PAIRS: Final = "fraction of pairs of units"
CHAIN: Final = "units in the longest common chain"

_CELLS = 400_000_000
"""Cells of all tables of random orders; count."""

_TABLE = 1_000_000
"""Maximum number of table cells in memory; count."""


def ranking_agreement(
    human: Sequence[float | None],
    judge: Sequence[float | None],
    *,
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
    n_points: int | None = None,
    seed: int = 0,
) -> RankingAgreement:
    """Return the agreement of a judge's scores with the order of people's scores.

    This is the original purpose of PEN, CIN and LIS: people's ranking is the order
    in which the judge's scores are read, so 0 inversions mean full agreement.
    Equal scores are not a disagreement: CIN counts the pairs that the two put in
    opposite order, and LIS is the longest chain that increases strictly for both.

    Args:
        human: People's scores; shape (units,), None or NaN for missing scores.
        judge: The judge's scores of the same units, in the same form.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage of the intervals; fraction in (0, 1).
        n_points: Points of the scale, which no chain can exceed; count, None if it has none.
        seed: Seed of random orders, if there are too many to enumerate.

    Returns:
        Entropy in nats; CIN and LIS are counts; tau-b and rho in -1..1.

    Raises:
        InputError: If the two do not score the same units, or fewer than three.

    Example:
        >>> found = ranking_agreement([1, 2, 3, 4, 5], [3, 1, 2, 5, 4])
        >>> found.cin, found.lis, round(found.tau.value, 2), round(found.spearman.value, 2)
        (3, 3, 0.4, 0.6)
        >>> round(found.opposed_pairs.value, 2), round(found.common_chain.low, 2), found.common_chain.high
        (0.3, 1.0, 5)

    Source:
        Ning et al. (2024), PiCO: Peer review in LLMs based on consistency
        optimization, arXiv:2402.01830. tau-b, rho: `correlation`. Interval of
        LIS: Boucheron, Lugosi, Massart (2000), A sharp concentration inequality
        with applications, Random Structures & Algorithms 16:277-292. ADR-0058.
        Golden values: tests/golden/order.json.
    """
    check_confidence(confidence)
    people, scores, ids = _both(human, judge, clusters)
    opposed, lis = _opposed(people, scores), _common_chain(people, scores)
    aligned = scores[np.lexsort((scores, people))].tolist()
    chance_cin, chance_lis = _chance(people, scores, opposed, seed)
    tau = _tau(people, scores, ids, confidence)
    return RankingAgreement(
        n=len(people),
        n_missing=len(human) - len(people),
        pen=permutation_entropy(aligned),
        pen_all_triples=all_triples_entropy(aligned),
        cin=opposed,
        lis=lis,
        tau=tau,
        spearman=_correlation(people, scores, "spearman", ids, confidence),
        opposed_pairs=_opposed_pairs(people, scores, opposed, tau),
        common_chain=_chain(lis, len(people), ids, confidence, n_points),
        chance_cin=chance_cin,
        chance_lis=chance_lis,
    )


def ranking_or_reason(
    human: Sequence[float | None],
    judge: Sequence[float | None],
    *,
    clusters: ClusterIds | None = None,
    n_points: int | None = None,
) -> RankingAgreement | Undefined:
    """Return a judge's rank correlation with people, or why it is undefined: fewer than eight units have both.

    Args:
        human: People's scores; shape (units,), None if one is missing.
        judge: The judge's scores of the same units, in the same form.
        clusters: The cluster of each unit; None = units are independent.
        n_points: Points of the scale; count, None if it has none.
    """
    n = sum(one is not None and other is not None for one, other in zip(human, judge, strict=True))
    if n < FEWEST_SCORES:
        units = "1 unit" if n == 1 else f"{n} units"
        reason = TOO_FEW_RANKED.format(units=units, fewest=FEWEST_SCORES)
        return Undefined(reason=reason, n=n, method=ranking_agreement.__name__)
    return ranking_agreement(human, judge, clusters=clusters, n_points=n_points)


def _both(
    human: Sequence[float | None], judge: Sequence[float | None], clusters: ClusterIds | None
) -> tuple[Floats, Floats, ClusterIds | None]:
    """Return the scores of the units that both scored, and the clusters of these units."""
    if len(human) != len(judge):
        message = f"`human` and `judge` must score the same units; got {len(human)} and {len(judge)} scores"
        raise InputError(message)
    first, second = (np.array([math.nan if x is None else float(x) for x in row]) for row in (human, judge))
    selected = ~np.isnan(first) & ~np.isnan(second)
    if selected.sum() < 3:
        message = f"a ranking needs 3 units that people and judge both scored; got {selected.sum()} of {len(human)}"
        raise InputError(message)
    return (
        as_scores(first[selected], "human"),
        as_scores(second[selected], "judge"),
        selected_clusters(clusters, selected.tolist()),
    )


def _opposed(people: Floats, scores: Floats) -> int:
    """Count the pairs in opposite order; units of equal human score are first put in the judge's order."""
    return inversion_count(scores[np.lexsort((scores, people))].tolist())


def _common_chain(people: Floats, scores: Floats) -> int:
    """Return the longest chain that increases for both; units of equal human score are first put in falling order."""
    return longest_increasing_subsequence(scores[np.lexsort((-scores, people))].tolist())


def _tau(people: Floats, scores: Floats, clusters: ClusterIds | None, confidence: float) -> Estimate | Undefined:
    flat = [who for who, row in (("people", people), ("the judge", scores)) if np.ptp(row) == 0.0]
    if flat:
        return Undefined(reason=EQUAL_SCORES_OF.format(side=flat[0]), n=len(people))
    result = _correlation(people, scores, "kendall", clusters, confidence)
    return replace(result, chance=0.0) if isinstance(result, Estimate) else result


def _correlation(
    people: Floats, scores: Floats, method: Correlation, clusters: ClusterIds | None, confidence: float
) -> Estimate | Undefined:
    return correlation(people.tolist(), scores.tolist(), method=method, clusters=clusters, confidence=confidence)


def _opposed_pairs(people: Floats, scores: Floats, opposed: int, tau: Estimate | Undefined) -> Estimate | Undefined:
    """Return CIN as a share of all pairs; its interval is that of tau-b, given the observed ties.

    tau-b = (concordant - opposed) / scale, and concordant + opposed are the pairs without
    ties, so each end of tau-b gives a count of opposed pairs. So two intervals
    of one order cannot contradict each other.
    """
    if isinstance(tau, Undefined):
        return replace(tau, unit=PAIRS, method="")
    n = len(people)
    pairs = n * (n - 1) // 2
    tied_people, tied_scores = _tied(ranks(people)), _tied(ranks(scores))
    both = _tied(ranks(people) * (int(ranks(scores).max()) + 1) + ranks(scores))
    untied = pairs - tied_people - tied_scores + both
    scale = math.sqrt((pairs - tied_people) * (pairs - tied_scores))

    def share(end: float | None) -> float | None:
        return None if end is None else min(max((untied - end * scale) / 2.0, 0.0), untied) / pairs

    low, high = share(tau.high), share(tau.low)
    return Estimate(
        value=opposed / pairs,
        low=None if low is None else min(low, opposed / pairs),
        high=None if high is None else max(high, opposed / pairs),
        confidence=tau.confidence,
        n=n,
        unit=PAIRS,
        method=f"from the interval of {tau.method}",
        n_clusters=tau.n_clusters,
        count=opposed,
    )


def _chain(lis: int, n: int, clusters: ClusterIds | None, confidence: float, n_points: int | None) -> Estimate:
    """Return LIS as an estimate of the chain in the same number of other units, with a bound on both sides.

    The longest chain counts units of a property that every part of a chain
    has, so its tails are no heavier than those of a Poisson variable with the same
    mean m: the interval contains all m with m - L + L ln(L / m) <= ln(2 / alpha),
    with L the observed length. Over clusters, L is first divided by the size of the largest one.
    """
    codes = cluster_codes(clusters, n)
    most = int(np.bincount(np.unique(codes, return_inverse=True)[1]).max())
    result, reach = lis / most, math.log(2.0 / (1.0 - confidence))
    start = -math.exp(-1.0 - reach / result)
    low, high = (-most * result * float(lambertw(start, branch).real) for branch in (0, -1))
    return Estimate(
        value=float(lis),
        low=min(max(low, 1.0), lis),
        high=max(min(high, n, n_points or n), lis),
        confidence=confidence,
        n=n,
        unit=CHAIN,
        method="Poisson-tail bound on configuration functions",
        n_clusters=None if clusters is None else len(np.unique(codes)),
        count=lis,
    )


def _tied(rank: Whole) -> int:
    """Return the number of pairs of equal ranks; count."""
    sizes = np.unique(rank, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())


def _chance(people: Floats, scores: Floats, opposed: int, seed: int) -> tuple[Chance | Undefined, Chance | Undefined]:
    """Return the values of judges with scores independent of people's."""
    null = null_of(scores, seed=seed)
    if isinstance(null, Undefined):
        return null, null
    return _opposed_chance(null, people, scores, opposed), _chain_chance(null, people, scores)


def _opposed_chance(null: Null, people: Floats, scores: Floats, opposed: int) -> Chance | Undefined:
    """Return chance levels of CIN: in closed form where one of the two has no ties, else by random orders."""
    for order, row in ((people, scores), (scores, people)):
        if len(np.unique(order)) == len(order):
            return trend_chance(row[np.argsort(order)], opposed)
    groups = _groups(people)
    cells = (int(groups.max()) + 1) * (int(null.rows.max()) + 1)
    n_rows = min(len(null.rows), _CELLS // cells)
    if n_rows < FEWEST_DRAWS and not null.exact:
        reason = TOO_MANY_TIES.format(n=f"{len(people):,}")
        return Undefined(reason=reason, n=len(people), method="permutation")
    sampled = null if null.exact else replace(null, rows=null.rows[:n_rows])
    return sampled.of(lambda rows: _opposed_rows(rows, groups), opposed)


def _groups(people: Floats) -> Whole:
    return np.sort(ranks(people))


def _opposed_rows(rows: Whole, groups: Whole) -> Floats:
    """Return the pairs in opposite order of each row; counts. Rows are processed in blocks, to bound memory."""
    n_groups, n_values = int(groups.max()) + 1, int(rows.max()) + 1
    at_once = max(1, _TABLE // (n_groups * n_values))
    parts = [rows[start : start + at_once] for start in range(0, len(rows), at_once)]
    return np.concatenate([_opposed_tables(part, groups, n_groups, n_values) for part in parts])


def _opposed_tables(rows: Whole, groups: Whole, n_groups: int, n_values: int) -> Floats:
    cells = np.arange(len(rows))[:, None] * (n_groups * n_values) + groups * n_values + rows
    counts = np.bincount(cells.ravel(), minlength=len(rows) * n_groups * n_values)
    table = counts.reshape(len(rows), n_groups, n_values).astype(np.float64)
    # A unit is opposed to units of lower groups with a higher value.
    higher = table.sum(axis=2, keepdims=True) - np.cumsum(table, axis=2)
    before = np.cumsum(higher, axis=1) - higher
    return np.asarray((table * before).sum(axis=(1, 2)))


def _chain_chance(null: Null, people: Floats, scores: Floats) -> Chance:
    groups = _groups(people)

    def chains(rows: Whole) -> Floats:
        keys = groups * (int(rows.max()) + 2) - rows
        ordered = np.take_along_axis(rows, np.argsort(keys, axis=1), axis=1)
        return rising_of_rows(ordered)

    return null.of(chains, _common_chain(people, scores))
