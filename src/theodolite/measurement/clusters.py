"""Clusters of units: codes, sizes, jackknife errors and bootstrap samples."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Statistic = Callable[[Floats], Floats]
"""From sums, shape (..., sums), to values, shape (...); NaN where there is none."""

Id = TypeVar("Id", bound=Hashable)

ClusterIds = Sequence[Hashable]
"""The cluster of each unit, e.g. its persona; None = the unit resembles no other."""


def cluster_codes(clusters: ClusterIds | None, n: int) -> Whole:
    """Return a number from 0 for the cluster of each unit; every unit its own where there are no ids.

    Args:
        clusters: The cluster of each unit; None = there are none.
        n: Units; count.

    Raises:
        InputError: If there is not one id a unit.
    """
    if clusters is None:
        return np.arange(n)
    if len(clusters) != n:
        message = f"`clusters` must name the cluster of each unit; got {len(clusters)} for {n} units"
        raise InputError(message)
    fresh = count()
    numbers: defaultdict[Hashable, int] = defaultdict(lambda: next(fresh))
    # A unit without a cluster gets a number that nobody else can ask for.
    return np.array([next(fresh) if name is None else numbers[name] for name in clusters], dtype=np.int64)


def selected_clusters(clusters: ClusterIds | None, is_selected: Sequence[bool]) -> ClusterIds | None:
    """Return the clusters of the units that are kept.

    Raises:
        InputError: If there is not one id a unit.
    """
    if clusters is None:
        return None
    cluster_codes(clusters, len(is_selected))
    return [name for name, keep in zip(clusters, is_selected, strict=True) if keep]


def shared_clusters(ids: Sequence[Id]) -> list[Id] | None:
    """Return the clusters of units if at least two units share one; None if every unit is alone."""
    return list(ids) if len(set(ids)) < len(ids) else None


def cluster_sizes(flags: Iterable[bool], clusters: ClusterIds | None) -> list[tuple[int, int]] | None:
    """Return how many units of each cluster have a property, and how many there are.

    Args:
        flags: Whether each unit has the property.
        clusters: The cluster of each unit; None gives None.
    """
    if clusters is None:
        return None
    has = np.array(list(flags), dtype=np.int64)
    _, codes = np.unique(cluster_codes(clusters, has.size), return_inverse=True)
    return list(zip(np.bincount(codes, has).astype(int).tolist(), np.bincount(codes).tolist(), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSums:
    """The sums of each cluster from which a statistic is computed.

    Confusion matrices, coincidences and moments all are sums over units, so a
    statistic without a cluster, or of clusters drawn anew, needs no second look
    at the units.

    Attributes:
        parts: shape (clusters, sums).
    """

    parts: Floats

    @classmethod
    def of_units(cls, units: Floats, clusters: ClusterIds | None) -> ClusterSums:
        """Add up the sums of units by cluster.

        Args:
            units: shape (units, sums).
            clusters: The cluster of each unit; None = each unit is alone.
        """
        if clusters is None:
            return cls(parts=units)
        _, codes = np.unique(cluster_codes(clusters, len(units)), return_inverse=True)
        parts = np.zeros((int(codes.max(initial=-1)) + 1, units.shape[1]))
        np.add.at(parts, codes, units)
        return cls(parts=parts)

    @property
    def n(self) -> int:
        """Clusters; count."""
        return len(self.parts)

    @property
    def total(self) -> Floats:
        """The sums over all clusters, shape (sums,)."""
        total: Floats = self.parts.sum(axis=0)
        return total

    def jackknife_error(self, statistic: Statistic) -> float:
        """Return the standard error from leaving out each cluster in turn.

        The root of (G - 1)/G times the squared deviations; 0 where there is one
        cluster or the statistic has no value without one of them.

        Args:
            statistic: From sums to values.

        Source:
            Efron, Stein (1981), Annals of Statistics 9:586-596,
            doi:10.1214/aos/1176345462.
        """
        if self.n < 2:
            return 0.0
        without = statistic(self.total[None, :] - self.parts)
        if not np.all(np.isfinite(without)):
            return 0.0
        return math.sqrt(float(((without - without.mean()) ** 2).sum()) * (self.n - 1) / self.n)

    def bootstrap(self, statistic: Statistic, *, replicates: int, seed: int) -> Floats:
        """Return the statistic of clusters drawn anew, shape (replicates,).

        Args:
            statistic: From sums to values.
            replicates: Samples to draw; count.
            seed: Seed of the random generator.
        """
        kinds, times = np.unique(self.parts, axis=0, return_counts=True)
        rng = np.random.default_rng(seed)
        counts = rng.multinomial(self.n, times / self.n, size=replicates)
        return statistic(counts @ kinds)
