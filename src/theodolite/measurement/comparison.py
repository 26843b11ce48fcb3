"""Differences between two applications or versions, paired or unpaired, and tests of significance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, chdtrc

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.number import Significance
from theodolite.domain.undefined_reasons import (
    DIFFERENT_UNITS,
    NO_CASE,
    NO_DIFFERENCE,
    NO_VALUE_ON_A_SIDE,
    TOO_FEW_TESTERS_OF_ALL,
)
from theodolite.measurement.interval import (
    Ends,
    check_confidence,
    clustered_share,
    student_quantile,
    whole_count,
    wilson,
    zero_count_bound,
)
from theodolite.measurement.labels import ClusterIds, Scale, check_scale, cluster_codes, score_column, selected_clusters
from theodolite.measurement.scores import mean_estimate

Floats = NDArray[np.float64]

Direction = Literal["lower", "higher"]

DIFFERENCE: Final = "difference of means"

RATE_DIFFERENCE: Final = "difference of fractions of dialogues"

CLUSTERED_PAIRS: Final = "cluster-robust, Student's t, corrected for skewness and few changes"
"""Name of the interval of paired rates in clusters."""


def paired_difference(
    a: Sequence[float | None],
    b: Sequence[float | None],
    *,
    clusters: ClusterIds | None = None,
    scale: Scale | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the mean of `b` minus `a`, case by case.

    Two systems on the same cases share the difficulty of these cases, so their
    difference is known far better than either mean. Yes-or-no results get Newcombe's
    paired interval, in clusters that of `clustered_reach`; scores get the
    cluster-robust error with Student's t. If all scores differ by the same
    amount there is no error; the interval then is that of `ends_of_constant`.

    Args:
        a: Result of each case for the first; a score, or 1 and 0; None or NaN = missing.
        b: Result of the same cases for the second; likewise.
        clusters: The cluster of each case; None = cases are independent.
        scale: Lowest and highest possible score; None = unknown. Only
            scores that all differ by the same amount need it; without it they
            have no interval.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        The second's mean minus the first's; n counts cases with both. `Undefined`
        when there is none, or fewer than two clusters.

    Raises:
        InputError: If the lengths differ, there is not one cluster a case, or a
            score is infinite or outside of the scale.

    Example:
        >>> before, after = [1] * 30 + [0] * 70, [1] * 10 + [0] * 90
        >>> change = paired_difference(before, after)
        >>> round(change.value, 2), round(change.low, 3), round(change.high, 3)
        (-0.2, -0.284, -0.12)

    Source:
        Miller (2024), Adding Error Bars to Evals, arXiv:2411.00640, section 3;
        yes and no: `newcombe_difference`, in clusters `clustered_reach`.
        Golden values: tests/golden/comparison.json.
    """
    check_confidence(confidence)
    first, second, ids = both_results(a, b, clusters)
    check_scale(scale, first, second)
    n = len(first)
    if n == 0:
        return Undefined(reason=NO_CASE, unit=DIFFERENCE)
    is_rate = set(np.unique(np.concatenate((first, second)))) <= {0.0, 1.0}
    if ids is None and is_rate:
        table = [[int(np.sum((first == x) & (second == y))) for y in (1.0, 0.0)] for x in (1.0, 0.0)]
        return newcombe_difference(table[0][0], table[0][1], table[1][0], table[1][1], confidence=confidence)
    width = None if scale is None else (scale[0] - scale[1], scale[1] - scale[0])
    result = mean_estimate(second - first, clusters=ids, confidence=confidence, unit=DIFFERENCE, scale=width)
    if isinstance(result, Estimate) and is_rate and ids is not None:
        low, high = clustered_reach(first, second, ids, confidence)
        return replace(
            result,
            low=max(result.value - low, -1.0),
            high=min(result.value + high, 1.0),
            unit=RATE_DIFFERENCE,
            method=CLUSTERED_PAIRS,
        )
    return result


def newcombe_difference(both: int, only_a: int, only_b: int, neither: int, *, confidence: float = 0.95) -> Estimate:
    """Estimate the difference of two rates on the same cases, `b` minus `a`.

    Wilson's intervals of both rates are combined with the correlation of
    the pairs; the coverage holds if few cases change.

    Args:
        both: Cases with the defect under both; count.
        only_a: Cases with the property only under the first; count.
        only_b: Cases with the property only under the second; count.
        neither: Cases with the property under neither; count.
        confidence: Coverage; fraction in (0, 1).

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
    """Return the correlation of the pairs, shrunk towards 0 as in Newcombe's method."""
    n = both + only_a + only_b + neither
    margins = math.sqrt((both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither))
    if margins == 0.0:
        return 0.0
    excess = both * neither - only_a * only_b
    return (max(excess - n / 2.0, 0.0) if excess > 0 else excess) / margins


def _together(a: tuple[float, Ends], b: tuple[float, Ends], phi: float) -> Ends:
    """Return the lower and upper half-widths of the interval of b - a."""
    (p_a, (low_a, high_a)), (p_b, (low_b, high_b)) = a, b

    def reach(of_b: float, of_a: float) -> float:
        return math.sqrt(max(of_b**2 - 2.0 * phi * of_b * of_a + of_a**2, 0.0))

    return reach(p_b - low_b, high_a - p_a), reach(high_b - p_b, p_a - low_a)


def clustered_reach(first: Floats, second: Floats, ids: ClusterIds, confidence: float) -> Ends:
    """Return the lower and upper half-widths of the interval of the difference of two paired rates over clusters.

    Student's t times the cluster-robust error, with two corrections for few
    changed cases:

    - Changes in one direction make the difference skewed. The side of the longer
      tail is extended by Johnson's correction; the other side is not shortened.
    - No side is shorter than the share of changed cases that a sample without a
      changed case allows. It is averaged over the prior of the correlation within
      clusters, or over its posterior given the changed cases where that is shorter.

    Args:
        first: 1 or 0 of each case, shape (cases,).
        second: Likewise, of the same cases.
        ids: The cluster of each case; two different ones at least.
        confidence: Coverage; fraction in (0, 1).

    Source:
        Cluster-robust error: Miller (2024), arXiv:2411.00640, section 3. Skewness: Johnson (1978), Modified t
        tests and confidence intervals for asymmetrical populations, Journal of the American Statistical
        Association 73:536-544. Without a change: `zero_count_bound`. Its coverage: benchmarks/COVERAGE.md.
    """
    _, codes = np.unique(cluster_codes(ids, len(first)), return_inverse=True)
    sizes, changes = np.bincount(codes), np.bincount(codes, second - first)
    rest = changes - changes.sum() / sizes.sum() * sizes
    worth = float(sizes.sum()) ** 2 / float(sizes @ sizes)
    quantile = student_quantile(confidence, max(worth - 1.0, 1.0))
    square = float(rest @ rest)
    n_clusters = len(sizes)
    error = math.sqrt(square * n_clusters / (n_clusters - 1)) / float(sizes.sum())
    shift = _skewness(rest) * (1.0 + 2.0 * quantile**2) / 6.0 / math.sqrt(n_clusters) * error if square > 0 else 0.0
    changed = np.bincount(codes, first != second).astype(int)
    posterior = clustered_share(zip(changed.tolist(), sizes.tolist(), strict=True))
    tail = (1.0 - confidence) / 2.0
    least = min(zero_count_bound(posterior.sizes, tail), posterior.zero_count_bound(tail))
    return max(quantile * error - min(shift, 0.0), least), max(quantile * error + max(shift, 0.0), least)


def _skewness(rest: Floats) -> float:
    """Return the skewness of numbers with mean 0, corrected for their number: G1; 0 for fewer than three."""
    n = len(rest)
    if n < 3:
        return 0.0
    spread = math.sqrt(float(np.mean(rest**2))) ** 3
    return float(np.mean(rest**3)) / spread * math.sqrt(n * (n - 1)) / (n - 2)


def newcombe_unpaired(count_a: int, n_a: int, count_b: int, n_b: int, *, confidence: float = 0.95) -> Estimate:
    """Estimate the difference of two rates on different cases, `b` minus `a`.

    Args:
        count_a: Defects of the first; count.
        n_a: Cases of the first; count, at least 1.
        count_b: Defects of the second; count.
        n_b: Cases of the second; count, at least 1.
        confidence: Coverage; fraction in (0, 1).

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
    """Return whether the second is no worse than the first by a margin or more.

    "Not significantly worse" is uninformative for few data; this tests whether
    the interval rules the margin out.

    Args:
        difference: The second minus the first, with its interval.
        margin: The smallest worsening that matters; above 0, in the unit of the difference.
        better: Whether lower values are better (defects) or higher values.

    Returns:
        True if the margin is ruled out, False if it is certainly exceeded, None
        if the data do not decide or there is no interval.

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
    """Return the results of the cases with both results, and their clusters.

    Raises:
        InputError: If the lengths differ, there is not one cluster a case, or a score is infinite.
    """
    if len(a) != len(b):
        message = (
            f"`a` and `b` must be results of the same cases; got {len(a)} and {len(b)}. Put None where one is missing"
        )
        raise InputError(message)
    first, second = score_column(a, "a"), score_column(b, "b")
    selected = ~(np.isnan(first) | np.isnan(second))
    return first[selected], second[selected], selected_clusters(clusters, selected.tolist())


UNPAIRED = "square-and-add of both intervals"
"""Name of the interval."""


def unpaired_difference(a: Estimate | Undefined, b: Estimate | Undefined) -> Estimate | Undefined:
    """Estimate `b` minus `a` from the intervals that both have.

    Each interval accounts for its own clusters and bounds, and so does the difference:
    it needs neither normal estimates nor equal variances, only independent cases of
    the two.

    Args:
        a: The first number.
        b: The second, in the same unit and with the same confidence.

    Returns:
        In the unit of both; n counts all cases. `Undefined` if one of them is
        undefined or has another unit or confidence; without ends if one of them has none.

    Example:
        >>> from theodolite.measurement.proportion import defect_rate
        >>> change = unpaired_difference(defect_rate(48, 80), defect_rate(56, 70))
        >>> round(change.value, 2), round(change.low, 4), round(change.high, 4)
        (0.2, 0.0524, 0.3339)

    Source:
        Zou, Donner (2008), Construction of confidence limits about effect
        measures: a general approach, Statistics in Medicine 27:1693-1702; for
        two Wilson intervals it is `newcombe_unpaired`.
    """
    n = a.n + b.n
    unit = f"difference of {a.unit}" if a.unit == b.unit else ""
    if isinstance(a, Undefined) or isinstance(b, Undefined):
        return Undefined(reason=NO_VALUE_ON_A_SIDE, n=n, unit=unit, method=UNPAIRED)
    if a.unit != b.unit or a.confidence != b.confidence:
        return Undefined(reason=DIFFERENT_UNITS, n=n, method=UNPAIRED)
    value = b.value - a.value
    plain = Estimate(
        value=value,
        low=None,
        high=None,
        confidence=a.confidence,
        n=n,
        unit=unit,
        method=f"{UNPAIRED}; one of both has no interval",
    )
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return plain
    return replace(
        plain,
        low=value - math.hypot(b.value - b.low, a.high - a.value),
        high=value + math.hypot(b.high - b.value, a.value - a.low),
        method=UNPAIRED,
    )


McNemar = Literal["exact", "mid-p", "chi2", "chi2, corrected"]

ALL_SIGNS: Final = 16
"""Largest number of clusters with enumeration of all sign flips: 65,536 of them."""

AT_ONCE: Final = 1_000_000
"""Maximum number of values in memory while signs are flipped."""

ROUNDING: Final = 1e-9
"""Tolerance, so that a sum as far from 0 as the observed one counts in any order of addition."""


def mcnemar(only_a: int, only_b: int, *, method: McNemar = "exact") -> Significance:
    """Test whether as many cases got worse as got better.

    Only cases that changed are informative; without a difference, each is
    equally likely to change either way. Cases must be independent; for clusters
    use `cluster_permutation`.

    Args:
        only_a: Cases with the defect only under the first; count.
        only_b: Cases with the property only under the second; count.
        method: `exact` is never anti-conservative; `mid-p` is less conservative and
            nearly exact; `chi2` and `chi2, corrected` are approximations.

    Returns:
        Two-sided p-value; n counts the cases that changed. With none it is 1.

    Raises:
        InputError: If a count is below 0 or the method is unknown.

    Example:
        >>> round(mcnemar(1, 8).p_value, 4), round(mcnemar(1, 8, method="mid-p").p_value, 4)
        (0.0391, 0.0215)

    Source:
        McNemar (1947), Psychometrika 12:153-157; mid-p: Fagerland, Lydersen,
        Laake (2013), BMC Medical Research Methodology 13:91. Golden values:
        tests/golden/comparison.json.
    """
    b, c = whole_count(only_a, "only_a"), whole_count(only_b, "only_b")
    n, fewer = b + c, min(b, c)
    match method:
        case "exact":
            statistic, p = float(fewer), 2.0 * float(bdtr(fewer, n, 0.5))
        case "mid-p":
            below = float(bdtr(fewer - 1, n, 0.5)) if fewer else 0.0
            statistic, p = float(fewer), float(bdtr(fewer, n, 0.5)) + below
        case "chi2" | "chi2, corrected":
            far = abs(b - c) - (1 if method != "chi2" and b != c else 0)
            statistic = far**2 / n if n else 0.0
            p = float(chdtrc(1.0, statistic))
        case _:
            message = f"`method` must be exact, mid-p, chi2 or `chi2, corrected`; got {method!r}"
            raise InputError(message)
    return Significance(
        p_value=min(p, 1.0) if n else 1.0,
        statistic=statistic,
        method=f"McNemar, {method}",
        n=n,
        effect=c / n if n else None,
        effect_name="share of changes that are for the worse" if n else "",
    )


def cluster_permutation(
    a: Sequence[float | None],
    b: Sequence[float | None],
    clusters: ClusterIds | None,
    *,
    draws: int = 9_999,
    seed: int = 0,
) -> Significance | Undefined:
    """Test for a difference by exchanging the two systems in whole clusters.

    If there is no difference, it does not matter which system's results in a
    cluster belong to the first. All assignments are enumerated if there
    are at most 16 clusters, else a random sample of them. No assumption is made about
    the distribution of results or the correlation of cases in a cluster.

    Args:
        a: Result of each case for the first; None or NaN = missing.
        b: Result of the same cases for the second; likewise.
        clusters: The cluster of each case; None = each is alone.
        draws: Random assignments if there are too many to enumerate; count.
        seed: Seed of the sample.

    Returns:
        Two-sided p-value; the statistic is the mean of `b` minus `a`.
        `Undefined` when no case has both results.

    Raises:
        InputError: If the lengths differ or there is not one cluster a case.

    Example:
        >>> a, b = [1, 1, 1, 0] * 5, [0, 0, 1, 0] * 5
        >>> cluster_permutation(a, b, [case // 4 for case in range(20)]).p_value
        0.0625

    Source:
        Fisher (1935), The Design of Experiments, section 21; random assignments: Phipson,
        Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9:39.
    """
    first, second, ids = both_results(a, b, clusters)
    n = len(first)
    if n == 0:
        return Undefined(reason=NO_CASE, method="permutation of clusters")
    _, codes = np.unique(cluster_codes(ids, n), return_inverse=True)
    sums: Floats = np.bincount(codes, second - first).astype(np.float64)
    moving = sums[np.abs(sums) > ROUNDING]
    observed = abs(float(sums.sum())) - ROUNDING * max(1.0, float(np.abs(sums).sum()))
    if len(moving) <= ALL_SIGNS:
        signs = 1.0 - 2.0 * (np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving)) & 1)
        p = float(np.mean(np.abs(signs @ moving) >= observed))
    else:
        p = (1.0 + _as_far(moving, observed, whole_count(draws, "draws"), seed)) / (1.0 + draws)
    return Significance(
        p_value=min(p, 1.0),
        statistic=float(sums.sum()) / n,
        method="permutation of clusters" + (", all" if len(moving) <= ALL_SIGNS else f", {draws} drawn"),
        n=n,
        n_clusters=len(sums) if ids is not None else None,
    )


def _as_far(sums: Floats, found: float, draws: int, seed: int) -> int:
    """Return how many random sign flips give a sum as far from 0."""
    rng = np.random.default_rng(seed)
    at_once, count = max(AT_ONCE // len(sums), 1), 0
    for start in range(0, draws, at_once):
        signs = rng.integers(0, 2, size=(min(at_once, draws - start), len(sums))) * 2.0 - 1.0
        count += int(np.count_nonzero(np.abs(signs @ sums) >= found))
    return count


Adjustment = Literal["holm", "bh", "bonferroni", "by"]


def adjust_p_values(p_values: Sequence[float], *, method: Adjustment = "holm") -> tuple[float, ...]:
    """Adjust p-values for several comparisons.

    `holm` keeps the probability of any false alarm below the limit, for release
    gates; it is never worse than `bonferroni`. `bh` keeps the share of false
    alarms among all alarms below it, for exploration; `by` does so however the
    comparisons depend on each other.

    Args:
        p_values: One per comparison; fractions.
        method: One of the four methods.

    Returns:
        Adjusted p-values in the same order; compare them with the limit itself.

    Raises:
        InputError: If one is not a fraction or the method is unknown.

    Example:
        >>> adjust_p_values([0.01, 0.04, 0.03])
        (0.03, 0.06, 0.06)

    Source:
        Holm (1979), Scandinavian Journal of Statistics 6:65-70; Benjamini,
        Hochberg (1995), Journal of the Royal Statistical Society B 57:289-300;
        Benjamini, Yekutieli (2001), Annals of Statistics 29:1165-1188.
    """
    p = np.array(p_values, dtype=np.float64)
    if p.size and not np.all((p >= 0.0) & (p <= 1.0)):
        message = f"p-values must be fractions; got {[float(value) for value in p if not 0.0 <= value <= 1.0]}"
        raise InputError(message)
    n = p.size
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, n + 1)
    match method:
        case "bonferroni":
            adjusted = p[order] * n
        case "holm":
            adjusted = np.maximum.accumulate(p[order] * (n - rank + 1))
        case "bh" | "by":
            harmonic = (1.0 / rank).sum() if method == "by" else 1.0
            adjusted = np.minimum.accumulate((p[order] * n * harmonic / rank)[::-1])[::-1]
        case _:
            message = f"`method` must be holm, bh, by or bonferroni; got {method!r}"
            raise InputError(message)
    back = np.empty(n)
    back[order] = np.minimum(adjusted, 1.0)
    return tuple(float(value) for value in back)


MANY: Final = 1_000
"""Number of clusters above which the chi-square distribution replaces random permutations; count."""


_METHOD: Final = "Cochran's Q"


def cochran_q(
    flags: Sequence[Sequence[bool]], clusters: Sequence[str], *, draws: int = 1_999, seed: int = 1
) -> Significance | Undefined:
    """Test whether things that the same testers met differ in the frequency of a property.

    Cochran's Q, with matched sets summed within each cluster first: sets of one tester
    resemble each other and are exchanged together. With one set per cluster it is Q itself.
    Up to `MANY` clusters its p-value comes from drawn arrangements, which need no large n.

    Args:
        flags: Whether the property holds, shape (sets, things).
        clusters: Cluster of each set; similar sets share one.
        draws: Arrangements that are drawn; count.
        seed: Seed of the random generator.

    Returns:
        The statistic, with things - 1 degrees of freedom; n counts sets. The effect is the
        largest difference of two things' shares. `Undefined` with fewer than two clusters or
        nothing that differs.

    Raises:
        InputError: If lengths differ, or there are fewer than two things.

    Example:
        >>> test = cochran_q([(True, False)] * 6 + [(False, True)] * 2, list("abcdefgh"))
        >>> test.statistic, test.degrees, test.effect
        (2.0, 1, 0.5)

    Source:
        Cochran (1950), "The comparison of percentages in matched samples", Biometrika 37:256-266;
        with two things it is McNemar's statistic. Drawn arrangements count the observed one:
        Phipson, Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9, article 39.
    """
    table = np.array(flags, dtype=float).reshape(len(flags), -1 if len(flags) else 2)
    if len(table) != len(clusters) or table.shape[1] < 2:
        message = f"`flags` needs a cluster for each set and two things or more; got {table.shape}, {len(clusters)}"
        raise InputError(message)
    sums = _sums(table, clusters)
    if len(sums) < 2:
        return Undefined(reason=TOO_FEW_TESTERS_OF_ALL, n=len(table), n_clusters=len(sums), method=_METHOD)
    within = sums - sums.mean(axis=1, keepdims=True)
    spread = float((within**2).sum())
    if spread <= 0:
        return Undefined(reason=NO_DIFFERENCE, n=len(table), n_clusters=len(sums), method=_METHOD)
    degrees = table.shape[1] - 1
    observed = degrees * float((within.sum(axis=0) ** 2).sum()) / spread
    is_sampled = len(sums) <= MANY
    shares = table.mean(axis=0)
    return Significance(
        p_value=_sampled_p(within, observed, spread, draws, seed) if is_sampled else float(chdtrc(degrees, observed)),
        statistic=observed,
        method=f"{_METHOD}, {f'permutation within testers, {draws:,} draws' if is_sampled else 'chi-square'}",
        n=len(table),
        degrees=degrees,
        effect=float(shares.max() - shares.min()),
        effect_name="largest difference of shares",
        n_clusters=len(sums),
    )


def _sums(table: NDArray[np.float64], clusters: Sequence[str]) -> NDArray[np.float64]:
    """Return the number of sets with the property by cluster and thing; shape (clusters, things), counts."""
    sums = np.zeros((len(set(clusters)), table.shape[1]))
    numbers = {cluster: position for position, cluster in enumerate(dict.fromkeys(clusters))}
    np.add.at(sums, [numbers[cluster] for cluster in clusters], table)
    return sums


def _sampled_p(within: NDArray[np.float64], found: float, spread: float, draws: int, seed: int) -> float:
    """Return the share of arrangements, including the observed one, with differences at least as large."""
    rng, degrees = np.random.default_rng(seed), within.shape[1] - 1
    statistics = (degrees * float((rng.permuted(within, axis=1).sum(axis=0) ** 2).sum()) / spread for _ in range(draws))
    n_apart = sum(1 for statistic in statistics if statistic >= found - 1e-9)
    return (1 + n_apart) / (draws + 1)
