"""The share of defects when units come in clusters that resemble each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Floats = NDArray[np.float64]

CORRELATION_PRIOR = (0.8, 4.0)
"""Beta prior of the correlation within clusters: mostly small, mean 1/6."""

COARSE = 256
"""Cells of the first grid over shares; it only finds where the mass is."""

FINE = 512
"""Cells of the second grid over shares."""

CORRELATIONS = 64
"""Points of the grid over correlations."""

NEGLIGIBLE = 1e-10
"""Density relative to the highest below which a cell is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredShare:
    """What clusters tell about a share: its posterior, the correlation integrated out.

    Attributes:
        edges: Ends of the cells; angles whose squared sine is the share.
        mass: Probability up to each edge; fractions, shape of `edges`.
        correlation: Posterior mean of the correlation within clusters; fraction.
    """

    edges: Floats
    mass: Floats
    correlation: float

    def quantile(self, fraction: float) -> float:
        """Return the share below which this fraction of the probability lies."""
        return float(np.sin(np.interp(fraction, self.mass, self.edges)) ** 2)


def clustered_share(clusters: Iterable[tuple[int, int]]) -> ClusteredShare:
    """Return what clusters tell about the share of defects.

    Each cluster has a share of its own, drawn from a beta distribution around
    the common one. The likelihood is integrated over the correlation within
    clusters and combined with Jeffreys' prior for the share, which is flat in
    the angle whose squared sine is the share.

    Args:
        clusters: Pairs (defects, labelled), counts; labelled at least 1.
    """
    tallies = Counter(clusters)
    coarse = np.linspace(0.0, np.pi / 2, COARSE + 1)
    fine = np.linspace(*_where_the_mass_is(coarse, tallies), FINE + 1)
    joint = _joint_density(fine, tallies)
    density = joint.sum(axis=1)
    mass = np.concatenate(([0.0], np.cumsum(density))) / density.sum()
    correlations, _ = _correlation_grid()
    return ClusteredShare(edges=fine, mass=mass, correlation=float((joint @ correlations).sum() / joint.sum()))


def _where_the_mass_is(edges: Floats, tallies: Counter[tuple[int, int]]) -> tuple[float, float]:
    density = _joint_density(edges, tallies).sum(axis=1)
    kept = np.flatnonzero(density > NEGLIGIBLE * density.max())
    return float(edges[max(kept[0] - 1, 0)]), float(edges[min(kept[-1] + 2, COARSE)])


def _joint_density(edges: Floats, tallies: Counter[tuple[int, int]]) -> Floats:
    """Return the posterior over (cell of share, correlation), highest cell 1."""
    angles = (edges[:-1] + edges[1:]) / 2
    correlations, weights = _correlation_grid()
    concentration = (1.0 - correlations) / correlations
    log_density = _log_likelihood(np.sin(angles)[:, None] ** 2, np.cos(angles)[:, None] ** 2, concentration, tallies)
    log_density = log_density + np.log(weights)
    density: Floats = np.exp(log_density - log_density.max())
    return density


def _log_likelihood(share: Floats, rest: Floats, concentration: Floats, tallies: Counter[tuple[int, int]]) -> Floats:
    """Return the beta-binomial log likelihood up to a constant, shape (shares, correlations).

    Sum over clusters of ln B(d + a, s + b) - ln B(a, b) with a = share * concentration
    and b = (1 - share) * concentration; equal terms of different clusters are summed once.
    """
    total = np.zeros((share.size, concentration.size))
    for base, counts in (
        (share * concentration, _tally(tallies, lambda defects, _: defects)),
        (rest * concentration, _tally(tallies, lambda defects, labelled: labelled - defects)),
    ):
        for count, times in counts.items():
            total += times * (gammaln(base + count) - gammaln(base))
    for count, times in _tally(tallies, lambda _, labelled: labelled).items():
        total -= times * (gammaln(concentration + count) - gammaln(concentration))
    return total


def _tally(tallies: Counter[tuple[int, int]], of: Callable[[int, int], int]) -> dict[int, int]:
    counts: Counter[int] = Counter()
    for (defects, labelled), times in tallies.items():
        counts[of(defects, labelled)] += times
    return {count: times for count, times in counts.items() if count}


@lru_cache(maxsize=1)
def _correlation_grid() -> tuple[Floats, Floats]:
    """Return correlations from nearly 0 to nearly 1 and their prior weights.

    They are cubes of evenly spaced numbers, so densest near 0, where many or
    large clusters put the correlation; weights are the prior times the spacing.
    """
    steps = (np.arange(CORRELATIONS) + 0.5) / CORRELATIONS
    points: Floats = steps**3
    first, second = CORRELATION_PRIOR
    weights = points ** (first - 1.0) * (1.0 - points) ** (second - 1.0) * steps**2
    return points, weights / weights.sum()
