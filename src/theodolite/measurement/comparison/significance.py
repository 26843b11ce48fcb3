"""Significance tests for paired outcomes, Cochran's Q, and adjustment for multiple testing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, chdtrc

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.significance import Significance
from theodolite.measurement.clusters import ClusterIds, cluster_codes
from theodolite.measurement.comparison.paired import NO_CASE, both_results
from theodolite.measurement.interval import whole_count

Floats = NDArray[np.float64]

McNemar = Literal["exact", "mid-p", "chi2", "chi2, corrected"]

ALL_SIGNS: Final = 16
"""Clusters up to which all ways to turn signs are tried: 65,536 of them."""

AT_ONCE: Final = 1_000_000
"""Numbers held at once while signs are turned."""

ROUNDING: Final = 1e-9
"""Slack so that a sum that is as far from 0 as the one seen counts, whatever its order."""


def mcnemar(only_a: int, only_b: int, *, method: McNemar = "exact") -> Significance:
    """Test whether as many cases got worse as got better.

    Only cases that changed tell anything; if there is no difference, each is
    as likely to change either way. Cases have to be independent: for clusters
    take `cluster_permutation`.

    Args:
        only_a: Cases with the defect under the first alone; count.
        only_b: Cases with it under the second alone; count.
        method: `exact` never promises too much; `mid-p` is less cautious and
            nearly right; `chi2` and `chi2, corrected` are approximations.

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
    """Test for a difference by changing the names of the two systems in whole clusters.

    If there is no difference, it does not matter which system's results in a
    cluster are called the first's. All ways to name them are tried where there
    are 16 clusters or fewer, else so many drawn ones. Nothing is assumed of
    how results are spread or how cases in a cluster resemble each other.

    Args:
        a: Result of each case for the first; None or NaN = missing.
        b: Result of the same cases for the second; likewise.
        clusters: The cluster of each case; None = each is alone.
        draws: Ways to draw where there are too many to try; count.
        seed: Where the draws begin.

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
        Fisher (1935), The Design of Experiments, section 21; drawn ways: Phipson,
        Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9:39.
    """
    first, second, ids = both_results(a, b, clusters)
    n = len(first)
    if n == 0:
        return Undefined(reason=NO_CASE, method="permutation of clusters")
    _, codes = np.unique(cluster_codes(ids, n), return_inverse=True)
    sums: Floats = np.bincount(codes, second - first).astype(np.float64)
    moving = sums[np.abs(sums) > ROUNDING]
    found = abs(float(sums.sum())) - ROUNDING * max(1.0, float(np.abs(sums).sum()))
    if len(moving) <= ALL_SIGNS:
        signs = 1.0 - 2.0 * (np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving)) & 1)
        p = float(np.mean(np.abs(signs @ moving) >= found))
    else:
        p = (1.0 + _as_far(moving, found, whole_count(draws, "draws"), seed)) / (1.0 + draws)
    return Significance(
        p_value=min(p, 1.0),
        statistic=float(sums.sum()) / n,
        method="permutation of clusters" + (", all" if len(moving) <= ALL_SIGNS else f", {draws} drawn"),
        n=n,
        n_clusters=len(sums) if ids is not None else None,
    )


def _as_far(sums: Floats, found: float, draws: int, seed: int) -> int:
    """Return how many drawn ways to turn signs give a sum as far from 0."""
    rng = np.random.default_rng(seed)
    at_once, count = max(AT_ONCE // len(sums), 1), 0
    for start in range(0, draws, at_once):
        signs = rng.integers(0, 2, size=(min(at_once, draws - start), len(sums))) * 2.0 - 1.0
        count += int(np.count_nonzero(np.abs(signs @ sums) >= found))
    return count


Adjustment = Literal["holm", "bh", "bonferroni", "by"]


def adjust_p_values(p_values: Sequence[float], *, method: Adjustment = "holm") -> tuple[float, ...]:
    """Adjust p-values for having looked at several comparisons.

    `holm` keeps the chance of any false alarm below the limit, for release
    gates; it is never worse than `bonferroni`. `bh` keeps the share of false
    alarms among all alarms below it, for exploring; `by` does so however the
    comparisons depend on each other.

    Args:
        p_values: One a comparison; fractions.
        method: One of the four.

    Returns:
        Adjusted p-values in the same order; compare them with the limit itself.

    Raises:
        InputError: If one is no fraction or the method is unknown.

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
"""Clusters from which the chi-square distribution stands for drawn arrangements; count."""

TOO_FEW: Final = "Fewer than two testers met all applications with a label for each."
"""Why a test is undefined."""

ALIKE: Final = "Every tester found the same in all applications, so there is nothing to test."
"""The same where nothing differs."""

_METHOD: Final = "Cochran's Q"


def told_apart(
    flags: Sequence[Sequence[bool]], clusters: Sequence[str], *, draws: int = 1_999, seed: int = 1
) -> Significance | Undefined:
    """Test whether things that the same testers met differ in how often something is so.

    Cochran's Q, its matched sets added up within each cluster first: sets of one tester
    resemble each other and are exchanged together. With one set a cluster it is Q itself.
    Up to `MANY` clusters its p-value comes from drawn arrangements, which need no large n.

    Args:
        flags: shape (sets, things); whether it is so.
        clusters: What resembling sets share; one for each set.
        draws: Arrangements that are drawn; count.
        seed: Seed of the random generator.

    Returns:
        The statistic, with things - 1 degrees of freedom; n counts sets. The effect is the
        largest difference of two things' shares. `Undefined` with fewer than two clusters or
        nothing that differs.

    Raises:
        InputError: If lengths differ, or there are fewer than two things.

    Example:
        >>> test = told_apart([(True, False)] * 6 + [(False, True)] * 2, list("abcdefgh"))
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
        return Undefined(reason=TOO_FEW, n=len(table), n_clusters=len(sums), method=_METHOD)
    within = sums - sums.mean(axis=1, keepdims=True)
    spread = float((within**2).sum())
    if spread <= 0:
        return Undefined(reason=ALIKE, n=len(table), n_clusters=len(sums), method=_METHOD)
    degrees = table.shape[1] - 1
    found = degrees * float((within.sum(axis=0) ** 2).sum()) / spread
    is_drawn = len(sums) <= MANY
    shares = table.mean(axis=0)
    return Significance(
        p_value=_drawn_p(within, found, spread, draws, seed) if is_drawn else float(chdtrc(degrees, found)),
        statistic=found,
        method=f"{_METHOD}, {f'permutation within testers, {draws:,} draws' if is_drawn else 'chi-square'}",
        n=len(table),
        degrees=degrees,
        effect=float(shares.max() - shares.min()),
        effect_name="largest difference of shares",
        n_clusters=len(sums),
    )


def _sums(table: NDArray[np.float64], clusters: Sequence[str]) -> NDArray[np.float64]:
    """Return by cluster how often it is so with each thing; shape (clusters, things), counts."""
    sums = np.zeros((len(set(clusters)), table.shape[1]))
    numbers = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    np.add.at(sums, [numbers[cluster] for cluster in clusters], table)
    return sums


def _drawn_p(within: NDArray[np.float64], found: float, spread: float, draws: int, seed: int) -> float:
    """Return the share of arrangements, the one that was found included, that lie as far apart."""
    rng, degrees = np.random.default_rng(seed), within.shape[1] - 1
    drawn = (degrees * float((rng.permuted(within, axis=1).sum(axis=0) ** 2).sum()) / spread for _ in range(draws))
    n_apart = sum(1 for one in drawn if one >= found - 1e-9)
    return (1 + n_apart) / (draws + 1)
