"""Sample sizes: how many dialogues a difference, a rate or a bound needs."""

from __future__ import annotations

import math

from scipy.special import ndtri

from theodolite.domain.errors import InputError
from theodolite.measurement.beta_binomial import zero_count_bound
from theodolite.measurement.interval import normal_quantile, whole_count

MOST_CLUSTERS = 100_000
"""Clusters beyond which a plan is no plan."""


def n_for_difference(
    difference: float,
    variance: float,
    *,
    confidence: float = 0.95,
    power: float = 0.8,
    cluster_size: float = 1.0,
    correlation: float = 0.0,
) -> int:
    """Return how many paired cases show a difference of this size.

    Args:
        difference: The smallest difference that should be found; above 0.
        variance: Variance of the difference from case to case.
        confidence: Coverage of the interval that should leave 0 out; fraction.
        power: Chance to find it; fraction.
        cluster_size: Cases in a cluster; count, 1 = cases are independent.
        correlation: How alike cases of a cluster are; fraction.

    Returns:
        Cases; count, rounded up.

    Raises:
        InputError: If a number is out of range.

    Example:
        >>> n_for_difference(0.03, 1 / 9)
        969

    Source:
        Miller (2024), Adding Error Bars to Evals, arXiv:2411.00640, equation 9;
        clusters: Kish (1965), Survey Sampling, section 5.4.
    """
    if not (difference > 0.0 and variance > 0.0 and cluster_size >= 1.0 and 0.0 <= correlation <= 1.0):
        message = (
            "`difference` and `variance` must be above 0, `cluster_size` 1 or more, `correlation` a fraction;"
            f" got {difference!r}, {variance!r}, {cluster_size!r}, {correlation!r}"
        )
        raise InputError(message)
    reach = _reach(confidence, power)
    effect = 1.0 + (cluster_size - 1.0) * correlation
    return math.ceil(reach**2 * variance * effect / difference**2 - 1e-9)


def detectable_difference(n: int, variance: float, *, confidence: float = 0.95, power: float = 0.8) -> float:
    """Return the smallest difference that so many paired cases show.

    Args:
        n: Cases; count, at least 1.
        variance: Variance of the difference from case to case.
        confidence: Coverage of the interval that should leave 0 out; fraction.
        power: Chance to find it; fraction.

    Returns:
        A difference, in the unit of the results.

    Raises:
        InputError: If a number is out of range.

    Example:
        >>> round(detectable_difference(198, 4 / 9), 4)
        0.1327

    Source:
        Miller (2024), arXiv:2411.00640, equation 10.
    """
    if whole_count(n, "n") < 1 or not variance > 0.0:
        message = f"`n` must be 1 or more and `variance` above 0; got {n!r}, {variance!r}"
        raise InputError(message)
    return _reach(confidence, power) * math.sqrt(variance / n)


def n_for_flips(only_a: float, only_b: float, *, confidence: float = 0.95, power: float = 0.8) -> int:
    """Return how many paired cases McNemar's test needs.

    Args:
        only_a: Share of cases with the defect under the first alone; fraction.
        only_b: Share of cases with it under the second alone; fraction.
        confidence: 1 minus the chance of a false alarm; fraction.
        power: Chance to find the difference; fraction.

    Returns:
        Cases, changed or not; count, rounded up.

    Raises:
        InputError: If the shares are equal or no fractions that fit together.

    Example:
        >>> n_for_flips(0.10, 0.05), n_for_flips(0.25, 0.10)
        (469, 120)

    Source:
        Connor (1987), Sample size for testing differences in proportions for the
        paired-sample design, Biometrics 43:207-211.
    """
    together, apart = only_a + only_b, abs(only_a - only_b)
    if min(only_a, only_b) < 0.0 or together > 1.0 or apart == 0.0:
        message = f"`only_a` and `only_b` must be different fractions that fit together; got {only_a!r}, {only_b!r}"
        raise InputError(message)
    z_power = float(ndtri(power))
    reach = normal_quantile(confidence) * math.sqrt(together) + z_power * math.sqrt(together - apart**2)
    return math.ceil(reach**2 / apart**2 - 1e-9)


def n_for_rate(rate: float, half_width: float, *, confidence: float = 0.95) -> int:
    """Return how many independent dialogues give a rate an interval so narrow.

    Args:
        rate: The rate expected; fraction.
        half_width: Half of the interval's width; fraction above 0.
        confidence: Coverage of Wilson's interval; fraction.

    Returns:
        Dialogues; count.

    Raises:
        InputError: If a number is out of range.

    Example:
        >>> n_for_rate(0.05, 0.02)
        469

    Source:
        Wilson's interval solved for n: Wilson (1927), Journal of the American
        Statistical Association 22:209-212.
    """
    if not (0.0 <= rate <= 1.0 and 0.0 < half_width < 0.5):
        message = f"`rate` must be a fraction and `half_width` between 0 and 0.5; got {rate!r}, {half_width!r}"
        raise InputError(message)
    z = normal_quantile(confidence)
    low, high = 1, 2
    while _wilson_reach(rate, high, z) > half_width:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _wilson_reach(rate, middle, z) <= half_width else (middle + 1, high)
    return high


def n_for_zero_defects(highest: float, *, confidence: float = 0.95, cluster_size: int = 1) -> int:
    """Return how many dialogues without a single defect show that the rate is no higher.

    Args:
        highest: The rate that should be ruled out; fraction above 0.
        confidence: Confidence of the claim, one-sided; fraction.
        cluster_size: Dialogues of one persona or script; count. Above 1 the
            clustered bound is used, which asks for more dialogues.

    Returns:
        Dialogues; count, whole clusters.

    Raises:
        InputError: If a number is out of range, or no number of clusters will do.

    Example:
        >>> n_for_zero_defects(0.01), n_for_zero_defects(0.01, cluster_size=25)
        (299, 950)

    Source:
        The bound of `zero_defect_bound`, solved for n.
    """
    if not 0.0 < highest < 1.0 or whole_count(cluster_size, "cluster_size") < 1:
        message = f"`highest` must be between 0 and 1, `cluster_size` 1 or more; got {highest!r}, {cluster_size!r}"
        raise InputError(message)
    if cluster_size == 1:
        return math.ceil(math.log(1.0 - confidence) / math.log1p(-highest) - 1e-9)
    low, high = 1, 2
    while _clustered_bound(high, cluster_size, confidence) > highest:
        low, high = high, 2 * high
        if high > MOST_CLUSTERS:
            message = f"no claim of {highest} within {MOST_CLUSTERS} clusters; ask for a higher rate"
            raise InputError(message)
    while low < high:
        middle = (low + high) // 2
        enough = _clustered_bound(middle, cluster_size, confidence) <= highest
        low, high = (low, middle) if enough else (middle + 1, high)
    return high * cluster_size


def _clustered_bound(n_clusters: int, size: int, confidence: float) -> float:
    return zero_count_bound(((size, n_clusters),), 1.0 - confidence)


def _wilson_reach(rate: float, n: int, z: float) -> float:
    return z * math.sqrt(rate * (1.0 - rate) / n + z * z / (4.0 * n * n)) / (1.0 + z * z / n)


def _reach(confidence: float, power: float) -> float:
    if not (0.0 < confidence < 1.0 and 0.0 < power < 1.0):
        message = f"`confidence` and `power` must be fractions between 0 and 1; got {confidence!r}, {power!r}"
        raise InputError(message)
    return normal_quantile(confidence) + float(ndtri(power))
