"""Krippendorff's alpha of many different values on an interval scale, from sums alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theodolite.measurement.clusters import ClusterIds, ClusterSums, cluster_sizes
from theodolite.measurement.interval import Concord

Floats = NDArray[np.float64]


def interval_sums(table: Floats, clusters: ClusterIds | None) -> ClusterSums:
    """Return what units or clusters add to the sums that alpha on an interval scale is made of.

    Values are centred and scaled first, which alpha does not depend on; so large
    values keep their digits.

    Args:
        table: Labels, shape (annotators, units), NaN = missing; two labels a unit at least.
        clusters: The cluster of each unit; None = units are independent.

    Returns:
        By unit or cluster: labels, their sum, the sum of their squares, and the
        squared differences within units over the other labels of the unit.
    """
    largest = float(np.nanmax(np.abs(table)))
    values = table / largest if largest > 0.0 else table
    values = values - np.nanmean(values)
    n = np.count_nonzero(~np.isnan(values), axis=0).astype(np.float64)
    sums, squares = np.nansum(values, axis=0), np.nansum(values**2, axis=0)
    within = np.nansum((values - sums / n) ** 2, axis=0)
    return ClusterSums.of_units(np.stack((n, sums, squares, 2.0 * n * within / (n - 1.0)), axis=1), clusters)


def interval_ratio(sums: Floats) -> Floats:
    """Return observed over expected disagreement; NaN where there is none to expect.

    Over all pairs of n labels the squared differences add up to 2 (n sum x2 - (sum x)2), and
    likewise over those of one unit; so no table of coincidences is needed:
    (n - 1) sum_u d_u / (m_u - 1) / (2 (n sum x2 - (sum x)2)).

    Args:
        sums: shape (..., 4), as `interval_sums` returns them.

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, https://repository.upenn.edu/asc_papers/43,
        with squared differences as its interval metric.
    """
    n, total, squares, observed = np.moveaxis(sums, -1, 0)
    expected = 2.0 * (n * squares - total**2)
    ratio: Floats = np.divide((n - 1.0) * observed, expected, out=np.full(expected.shape, np.nan), where=expected > 0)
    return ratio


def interval_concord(table: Floats, clusters: ClusterIds | None) -> Concord:
    """Return on how many units all labels are equal, and how often two labels are equal by chance."""
    alike = np.nanmax(table, axis=0) == np.nanmin(table, axis=0)
    _, used = np.unique(table[~np.isnan(table)], return_counts=True)
    total = float(used.sum())
    return Concord(
        agreeing=int(alike.sum()),
        n=table.shape[1],
        chance=float((used * (used - 1.0)).sum() / (total * (total - 1.0))),
        clusters=cluster_sizes(alike.tolist(), clusters),
    )
