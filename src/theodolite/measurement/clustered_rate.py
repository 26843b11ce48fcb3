"""Ends of the interval of a share over clusters, also where large clusters differ from small ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from theodolite.measurement.beta_binomial import ClusteredShare
from theodolite.measurement.interval import Ends, student_quantile

WHOLLY_UNEQUAL = 0.25
"""Squared coefficient of variation of clusters' sizes from which on the robust ends count in full."""


def clustered_ends(sizes: Sequence[tuple[int, int]], posterior: ClusteredShare, confidence: float) -> Ends:
    """Return the ends of the interval of the pooled share; fractions.

    Those of the beta-binomial posterior (`ClusteredShare.ends`). It takes every cluster for a
    draw from one distribution, whatever its size; where large clusters have
    another share than small ones, the pooled share is not what it speaks of.
    So for clusters of unequal size the ends reach at least as far as those of
    the ratio of sums with its cluster-robust error, on the logit: all the way
    where sizes spread by half of their mean or more, a part of it where they
    spread less, so that one dialogue more or less moves the ends by little.

    Args:
        sizes: Pairs (with the property, units), one a cluster; counts, at least one unit in all.
        posterior: What they tell about the share.
        confidence: Coverage wanted; fraction in (0, 1).

    Source:
        Ratio of sums over clusters: Cochran (1977), Sampling Techniques, 3rd ed., section 9A.
        Its coverage: benchmarks/COVERAGE.md.
    """
    count, n = sum(c for c, _ in sizes), sum(m for _, m in sizes)
    value = count / n
    low, high = posterior.ends(confidence)
    if 0 < count < n and len({m for _, m in sizes}) > 1:
        array = np.array(sizes, dtype=np.float64)
        robust, part = _robust_ends(array, value, confidence), min(_spread(array) / WHOLLY_UNEQUAL, 1.0)
        return low + part * min(robust[0] - low, 0.0), high + part * max(robust[1] - high, 0.0)
    return low, high


def _spread(sizes: np.ndarray) -> float:
    """Return the squared coefficient of variation of the clusters' sizes: K sum n_g2 / n2 - 1."""
    units = sizes[:, 1]
    return float(len(units) * (units @ units) / units.sum() ** 2 - 1.0)


def _robust_ends(sizes: np.ndarray, value: float, confidence: float) -> Ends:
    """Return logit(p) -+ t(K-1) s / (p (1-p)), s2 = G/(G-1) sum e_g2 / n2, e_g = d_g - p n_g, K = n2 / sum n_g2.

    A few large clusters among many small ones are worth as many as K equal ones.
    """
    n_clusters, n = len(sizes), float(sizes[:, 1].sum())
    worth = n * n / float(sizes[:, 1] @ sizes[:, 1])
    if n_clusters < 2:
        return value, value
    rest = sizes[:, 0] - value * sizes[:, 1]
    error = math.sqrt(float(rest @ rest) * n_clusters / (n_clusters - 1)) / n
    reach = student_quantile(confidence, max(worth - 1.0, 1.0)) * error / (value * (1.0 - value))
    centre = math.log(value / (1.0 - value))
    return _share(centre - reach), _share(centre + reach)


def _share(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(min(logit, 700.0), -700.0)))
