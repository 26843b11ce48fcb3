"""Flips: tests on the cases that changed from one system to another."""

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
