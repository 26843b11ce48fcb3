"""Means of fractions: shares of votes and of successes, one a unit, between 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.clusters import ClusterIds, ClusterSums
from theodolite.measurement.interval import Ends, check_confidence, normal_quantile, student_quantile

Floats = NDArray[np.float64]

KORN_GRAUBARD: Final = "Korn-Graubard"
"""Name of the interval."""


def mean_fraction(
    values: Sequence[float], *, clusters: ClusterIds | None, unit: str, confidence: float, otherwise: str
) -> Estimate | Undefined:
    """Estimate the mean of fractions that units have, each between 0 and 1.

    The exact interval of a share, with as many independent units as the spread
    of the clusters' means says there are.

    Args:
        values: The fraction of each unit.
        clusters: The cluster of each unit; None = units are independent.
        unit: What the mean is a number of.
        confidence: Coverage wanted; fraction in (0, 1).
        otherwise: Why there is no mean where there is no unit.

    Source:
        Korn, Graubard (1998), Survey Methodology 24:193-201.
    """
    check_confidence(confidence)
    given = np.array(values, dtype=np.float64)
    if not given.size:
        return Undefined(reason=otherwise, unit=unit, method=KORN_GRAUBARD)
    sums = ClusterSums.of_units(np.column_stack((given, np.ones(given.size))), clusters)
    # Sums of fractions are off by rounding; a mean is never outside 0..1.
    value = min(max(float(given.mean()), 0.0), 1.0)
    low, high = _ends(value, sums, confidence)
    error = sums.jackknife_error(_ratio)
    plain = float(given.var(ddof=1)) / given.size if given.size > 1 else 0.0
    return Estimate(
        value=value,
        low=min(low, value),
        high=max(high, value),
        confidence=confidence,
        n=given.size,
        unit=unit,
        method=KORN_GRAUBARD,
        n_clusters=None if clusters is None else sums.n,
        design_effect=error**2 / plain if clusters is not None and plain > 0.0 and error > 0.0 else None,
    )


def _ratio(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio: Floats = sums[..., 0] / sums[..., 1]
    return ratio


def _ends(value: float, sums: ClusterSums, confidence: float) -> Ends:
    """Return the exact interval of a share of as many units as the error is worth."""
    error = sums.jackknife_error(_ratio)
    worth = float(sums.n)
    if error > 0.0 and 0.0 < value < 1.0:
        shrink = normal_quantile(confidence) / student_quantile(confidence, max(sums.n - 1, 1))
        worth = value * (1.0 - value) / error**2 * shrink**2
    count, tail = value * worth, (1.0 - confidence) / 2.0
    low = 0.0 if value <= 0.0 else float(betaincinv(count, worth - count + 1.0, tail))
    high = 1.0 if value >= 1.0 else float(betaincinv(count + 1.0, worth - count, 1.0 - tail))
    return low, high
