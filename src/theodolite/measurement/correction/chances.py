"""Chances: what is known of a share, as numbers spread evenly over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from theodolite.measurement.beta_binomial import clustered_share

Floats = NDArray[np.float64]

POINTS: Final = 8192
"""Points of the lattice; quantiles are good to 1e-3, and to 1e-2 for a handful of labels."""

TABLE: Final = 513
"""Fractions at which a posterior is worked out exactly."""

JEFFREYS: Final = 0.5
"""Counts that Jeffreys' prior adds to each side."""


def lattice(dimensions: int, points: int = POINTS) -> Floats:
    """Return points spread evenly over a cube, shape (dimensions, points); the same ones always.

    They take the place of random draws: multiples of powers of the root of
    x**(d + 1) = x + 1, modulo 1.

    Args:
        dimensions: Quantities that vary independently; count.
        points: Points wanted; count.

    Source:
        Niederreiter (1992), Random Number Generation and Quasi-Monte Carlo
        Methods, SIAM, chapter 3 (Kronecker sequences).
    """
    root = 2.0
    for _ in range(64):
        root = (1.0 + root) ** (1.0 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    spread: Floats = (0.5 + steps[:, None] * np.arange(1.0, points + 1)) % 1.0
    return spread


def share_chances(clusters: Sequence[tuple[int, int]], spread: Floats, *, alone: bool) -> Floats:
    """Return shares that are as likely as the counts make them, one for each point.

    Jeffreys' posterior for independent units, the beta-binomial one for clusters.

    Args:
        clusters: Pairs (with the property, units), one a cluster; counts.
        spread: Fractions spread evenly over 0..1.
        alone: Whether units are independent.
    """
    counted = [(count, n) for count, n in clusters if n]
    count, n = sum(count for count, _ in counted), sum(n for _, n in counted)
    if alone or all(size == 1 for _, size in counted):
        return beta_chances(count, n - count, spread)
    posterior = clustered_share(counted)
    shares: Floats = np.sin(np.interp(spread, posterior.mass, posterior.edges)) ** 2
    return shares


def beta_chances(count: float, others: float, spread: Floats) -> Floats:
    """Return shares by Jeffreys' posterior; counts need not be whole.

    The inverse is worked out at some fractions, densest near 0 and 1, and read
    between them as an angle: as good as exact but for the outermost points, and
    ten times as fast.
    """
    at = np.clip(np.sin(np.linspace(0.0, np.pi / 2, TABLE)) ** 2, 1e-6, 1.0 - 1e-6)
    angles = np.arcsin(np.sqrt(betaincinv(count + JEFFREYS, others + JEFFREYS, at)))
    shares: Floats = np.sin(np.interp(spread, at, angles)) ** 2
    return shares


def middle(values: Floats, confidence: float) -> tuple[float, float]:
    """Return the ends between which the middle of some equally likely values lies."""
    low, high = np.quantile(values, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return float(low), float(high)
