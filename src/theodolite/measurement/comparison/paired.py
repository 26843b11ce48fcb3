"""Paired differences: two systems on the same cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.beta_binomial import clustered_share
from theodolite.measurement.clustered_rate import clustered_ends
from theodolite.measurement.clusters import ClusterIds, cluster_codes, kept_clusters
from theodolite.measurement.interval import Ends, check_confidence, whole_count, wilson
from theodolite.measurement.scores import mean_estimate

Floats = NDArray[np.float64]
Direction = Literal["lower", "higher"]

DIFFERENCE: Final = "difference of means"
RATE_DIFFERENCE: Final = "difference of fractions of dialogues"

NEWCOMBE_CLUSTERS: Final = "Newcombe, paired, over clusters"
"""Name of the interval of paired rates in clusters."""

NO_CASE: Final = "No case has a result of both, so there is no pair to compare."
"""Why a paired difference of strangers is undefined."""


def paired_difference(
    a: Sequence[float | None],
    b: Sequence[float | None],
    *,
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the mean of `b` minus `a`, case by case.

    Two systems on the same cases share what is hard about them, so their
    difference is known far better than either mean. Yes and no get Newcombe's
    paired interval, in clusters with the intervals and the correlation of
    clusters in it; scores get the cluster-robust error with Student's t.

    Args:
        a: Result of each case for the first; a score, or 1 and 0; None or NaN = missing.
        b: Result of the same cases for the second; likewise.
        clusters: The cluster of each case; None = cases are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        The second's mean minus the first's; n counts cases with both. `Undefined`
        when there is none, or fewer than two clusters.

    Raises:
        InputError: If the lengths differ or there is not one cluster a case.

    Example:
        >>> before, after = [1] * 30 + [0] * 70, [1] * 10 + [0] * 90
        >>> change = paired_difference(before, after)
        >>> round(change.value, 2), round(change.low, 3), round(change.high, 3)
        (-0.2, -0.284, -0.12)

    Source:
        Miller (2024), Adding Error Bars to Evals, arXiv:2411.00640, section 3;
        yes and no: `newcombe_difference`, and in clusters the same squares and sums with intervals
        over clusters, after Zou, Donner (2008), Statistics in Medicine 27:1693-1702. Its coverage:
        benchmarks/COVERAGE.md. Golden values: tests/golden/comparison.json.
    """
    check_confidence(confidence)
    first, second, ids = both_results(a, b, clusters)
    n = len(first)
    if n == 0:
        return Undefined(reason=NO_CASE, unit=DIFFERENCE)
    is_rate = set(np.unique(np.concatenate((first, second)))) <= {0.0, 1.0}
    if ids is None and is_rate:
        table = [[int(np.sum((first == x) & (second == y))) for y in (1.0, 0.0)] for x in (1.0, 0.0)]
        return newcombe_difference(table[0][0], table[0][1], table[1][0], table[1][1], confidence=confidence)
    result = mean_estimate(second - first, clusters=ids, confidence=confidence, unit=DIFFERENCE)
    if isinstance(result, Estimate) and bool(np.all(first == second)):
        # No case differs: that no case ever would is more than n of them can say.
        return replace(result, low=None, high=None, method=f"{result.method}; no case differs, so no interval")
    if isinstance(result, Estimate) and is_rate and ids is not None:
        low, high = clustered_reach(first, second, ids, confidence)
        return replace(
            result,
            low=max(result.value - low, -1.0),
            high=min(result.value + high, 1.0),
            unit=RATE_DIFFERENCE,
            method=NEWCOMBE_CLUSTERS,
        )
    return result


def newcombe_difference(both: int, only_a: int, only_b: int, neither: int, *, confidence: float = 0.95) -> Estimate:
    """Estimate the difference of two rates on the same cases, `b` minus `a`.

    Wilson's intervals of both rates are put together with the correlation of
    the pairs; it holds its coverage where few cases change.

    Args:
        both: Cases with the defect under both; count.
        only_a: Cases with it under the first alone; count.
        only_b: Cases with it under the second alone; count.
        neither: Cases with it under neither; count.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        Unit: difference of fractions; n counts cases.

    Raises:
        InputError: If a count is below 0 or all are 0.

    Example:
        >>> change = newcombe_difference(36, 2, 12, 0)
        >>> round(change.value, 4), round(change.low, 4), round(change.high, 4)
        (0.2, 0.0569, 0.3404)

    Source:
        Newcombe (1998), Improved confidence intervals for the difference between
        binomial proportions based on paired data, Statistics in Medicine
        17:2635-2650, method 10.
    """
    check_confidence(confidence)
    counts = [whole_count(count, "counts") for count in (both, only_a, only_b, neither)]
    n = sum(counts)
    if n == 0:
        message = "`newcombe_difference` needs a case at least; got counts of 0 only"
        raise InputError(message)
    p_a, p_b = (both + only_a) / n, (both + only_b) / n
    ends_a, ends_b = wilson(both + only_a, n, confidence), wilson(both + only_b, n, confidence)
    value = (only_b - only_a) / n
    low, high = _together((p_a, ends_a), (p_b, ends_b), _phi(both, only_a, only_b, neither))
    return Estimate(
        value=value,
        low=max(min(value - low, value), -1.0),
        high=min(max(value + high, value), 1.0),
        confidence=confidence,
        n=n,
        unit=RATE_DIFFERENCE,
        method="Newcombe, paired",
    )


def _phi(both: int, only_a: int, only_b: int, neither: int) -> float:
    """Return the correlation of the pairs, drawn towards 0 as Newcombe does."""
    n = both + only_a + only_b + neither
    margins = math.sqrt((both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither))
    if margins == 0.0:
        return 0.0
    excess = both * neither - only_a * only_b
    return (max(excess - n / 2.0, 0.0) if excess > 0 else excess) / margins


def _together(a: tuple[float, Ends], b: tuple[float, Ends], phi: float) -> Ends:
    """Return how far the interval of b - a goes down and up."""
    (p_a, (low_a, high_a)), (p_b, (low_b, high_b)) = a, b

    def reach(of_b: float, of_a: float) -> float:
        return math.sqrt(max(of_b**2 - 2.0 * phi * of_b * of_a + of_a**2, 0.0))

    return reach(p_b - low_b, high_a - p_a), reach(high_b - p_b, p_a - low_a)


def clustered_reach(first: Floats, second: Floats, ids: ClusterIds, confidence: float) -> Ends:
    """Return how far the interval of the difference of two paired rates over clusters goes down and up.

    The beta-binomial intervals of both rates are put together by Newcombe's
    squares and sums, with the correlation of the two rates across clusters.

    Args:
        first: 1 or 0 of each case, shape (cases,).
        second: Likewise, of the same cases.
        ids: The cluster of each case.
        confidence: Coverage wanted; fraction in (0, 1).
    """
    _, codes = np.unique(cluster_codes(ids, len(first)), return_inverse=True)
    sizes = np.bincount(codes)
    counts = np.bincount(codes, first), np.bincount(codes, second)
    rates = [float(count.sum() / sizes.sum()) for count in counts]
    rests = [count - rate * sizes for count, rate in zip(counts, rates, strict=True)]
    spread = math.sqrt(float(rests[0] @ rests[0]) * float(rests[1] @ rests[1]))
    together = float(rests[0] @ rests[1]) / spread if spread > 0 else 0.0
    ends = []
    for count in counts:
        pairs = list(zip(count.astype(int).tolist(), sizes.tolist(), strict=True))
        ends.append(clustered_ends(pairs, clustered_share(pairs), confidence))
    return _together((rates[0], ends[0]), (rates[1], ends[1]), together)


def newcombe_unpaired(count_a: int, n_a: int, count_b: int, n_b: int, *, confidence: float = 0.95) -> Estimate:
    """Estimate the difference of two rates on different cases, `b` minus `a`.

    Args:
        count_a: Defects of the first; count.
        n_a: Cases of the first; count, at least 1.
        count_b: Defects of the second; count.
        n_b: Cases of the second; likewise.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        Unit: difference of fractions; n counts all cases.

    Raises:
        InputError: If a count is above its cases, or there are no cases.

    Example:
        >>> change = newcombe_unpaired(48, 80, 56, 70)
        >>> round(change.value, 2), round(change.low, 4), round(change.high, 4)
        (0.2, 0.0524, 0.3339)

    Source:
        Newcombe (1998), Interval estimation for the difference between
        independent proportions, Statistics in Medicine 17:873-890, method 10.
    """
    check_confidence(confidence)
    for count, n in ((count_a, n_a), (count_b, n_b)):
        if not 0 <= whole_count(count, "counts") <= whole_count(n, "cases") or n == 0:
            message = f"counts must be a part of the cases, of which there is one at least; got {count} of {n}"
            raise InputError(message)
    ends_a, ends_b = wilson(count_a, n_a, confidence), wilson(count_b, n_b, confidence)
    value = count_b / n_b - count_a / n_a
    low, high = _together((count_a / n_a, ends_a), (count_b / n_b, ends_b), 0.0)
    return Estimate(
        value=value,
        low=max(value - low, -1.0),
        high=min(value + high, 1.0),
        confidence=confidence,
        n=n_a + n_b,
        unit=RATE_DIFFERENCE,
        method="Newcombe, unpaired",
    )


def non_inferiority(difference: Estimate, margin: float, *, better: Direction = "lower") -> bool | None:
    """Tell whether the second is no worse than the first by a margin or more.

    "Not significantly worse" says nothing where data are few; this asks whether
    the interval rules the margin out.

    Args:
        difference: The second minus the first, with its interval.
        margin: The worsening that would matter; above 0, in the unit of the difference.
        better: Whether lower values are better (defects) or higher ones.

    Returns:
        True when the margin is ruled out, False when it is surely passed, None
        when the data leave it open or there is no interval.

    Raises:
        InputError: If the margin is not above 0.

    Example:
        >>> many, few = newcombe_difference(40, 8, 6, 446), newcombe_difference(0, 0, 1, 9)
        >>> non_inferiority(many, 0.05), non_inferiority(few, 0.05)
        (True, None)

    Source:
        Piaggio et al. (2012), Reporting of Noninferiority and Equivalence
        Randomized Trials, JAMA 308:2594-2604.
    """
    if not margin > 0.0:
        message = f"`margin` must be above 0, in the unit of the difference; got {margin!r}"
        raise InputError(message)
    if difference.low is None or difference.high is None:
        return None
    low, high = (difference.low, difference.high) if better == "lower" else (-difference.high, -difference.low)
    if high < margin:
        return True
    return False if low > margin else None


def both_results(
    a: Sequence[float | None], b: Sequence[float | None], clusters: ClusterIds | None
) -> tuple[Floats, Floats, ClusterIds | None]:
    """Return the results of the cases that have both, and their clusters.

    Raises:
        InputError: If the lengths differ or there is not one cluster a case.
    """
    if len(a) != len(b):
        message = (
            f"`a` and `b` must be results of the same cases; got {len(a)} and {len(b)}. Put None where one is missing"
        )
        raise InputError(message)
    first, second = (np.array([math.nan if x is None else float(x) for x in column]) for column in (a, b))
    kept = np.isfinite(first) & np.isfinite(second)
    return first[kept], second[kept], kept_clusters(clusters, kept.tolist())
