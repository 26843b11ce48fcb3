"""Labels and scores of units in columns: checks, pairing, the confusion matrix and clusters."""

from __future__ import annotations

import math
import numbers
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.estimate import ConfusionMatrix
from theodolite.measurement.interval import Sizes, zero_count_bound

Label: TypeAlias = "str | float | None"
"""A label of the guideline's scale; None and NaN mean no label."""


def label_text(label: Label) -> str | None:
    """Return the label as text (4 and 4.0 are both `4`), or None if there is none."""
    if label is None or isinstance(label, str):
        return label
    # Scalars of arrays give their value by `item`; otherwise their booleans are not numbers.
    label = label.item() if hasattr(label, "item") else label
    if not isinstance(label, numbers.Real):
        message = f"a label must be a text, a number or None; got {label!r}"
        raise InputError(message)
    number = float(label)
    if math.isnan(number):
        return None
    return str(int(number)) if number.is_integer() else str(number)


def paired(a: Sequence[Label], b: Sequence[Label]) -> list[tuple[str, str]]:
    """Return the pairs of labels, without units that lack a label of either annotator.

    Raises:
        InputError: If the annotators do not label the same units.
    """
    check_lengths(a, b)
    texts = ((label_text(first), label_text(second)) for first, second in zip(a, b, strict=True))
    return [(first, second) for first, second in texts if first is not None and second is not None]


def clusters_of_pairs(a: Sequence[Label], b: Sequence[Label], clusters: ClusterIds | None) -> ClusterIds | None:
    """Return the clusters of the units that both annotators labelled; None if there are no ids.

    Raises:
        InputError: If there is not one id per unit.
    """
    both = [
        label_text(first) is not None and label_text(second) is not None for first, second in zip(a, b, strict=True)
    ]
    return selected_clusters(clusters, both)


def check_lengths(a: Sequence[Label], b: Sequence[Label]) -> None:
    """Reject annotators that do not label the same units.

    Raises:
        InputError: If the numbers of labels differ.
    """
    if len(a) != len(b):
        message = (
            f"`a` and `b` must label the same units; got {len(a)} and {len(b)} labels. Put None where one is missing"
        )
        raise InputError(message)


def scale_points(categories: Sequence[Label]) -> tuple[str, ...]:
    """Return the points of a scale as texts.

    Raises:
        InputError: If there are fewer than two, or one is repeated.
    """
    points = tuple(str(label_text(category)) for category in categories)
    if len(points) < 2 or len(set(points)) < len(points):
        message = f"`categories` must be two different labels at least, all of the scale in order; got {list(points)}"
        raise InputError(message)
    return points


def check_labels(pairs: Sequence[tuple[str, str]], points: Sequence[str]) -> None:
    """Reject labels that the scale does not have.

    Raises:
        InputError: If there are such labels; names all of them.
    """
    known = set(points)
    strange = sorted({label for pair in pairs for label in pair if label not in known})
    if strange:
        named = ", ".join(f"`{label}`{did_you_mean(label, points)}" for label in strange)
        message = f"`categories` must hold every label, used or not: {list(points)}; got {named}. Give the full scale"
        raise InputError(message)


def confusion_matrix(a: Sequence[Label], b: Sequence[Label], *, categories: Sequence[Label]) -> ConfusionMatrix:
    """Count each pair of labels of two annotators.

    Args:
        a: Labels of the first annotator, one per unit; None or NaN = missing.
        b: Labels of the second annotator, of the same units in the same order.
        categories: The full scale in order, used or not.

    Returns:
        Counts with `a` in the rows; units without a label of both are omitted.

    Raises:
        InputError: If the lengths differ or a label is not on the scale.

    Example:
        >>> matrix = confusion_matrix(["yes", "no", None], ["yes", "yes", "no"], categories=["yes", "no"])
        >>> matrix.counts
        ((1, 0), (1, 0))

    Source:
        Fleiss, Levin, Paik (2003), Statistical Methods for Rates and Proportions,
        3rd ed., chapter 18, doi:10.1002/0471445428.
    """
    pairs = paired(a, b)
    points = scale_points(categories)
    check_labels(pairs, points)
    tally = Counter(pairs)
    return ConfusionMatrix(
        categories=points,
        counts=tuple(tuple(tally[first, second] for second in points) for first in points),
    )


def shares_of(matrix: ConfusionMatrix) -> NDArray[np.float64]:
    """Return the matrix as shares of its units, shape (categories, categories); fractions."""
    counts = np.array(matrix.counts, dtype=np.float64)
    shares: NDArray[np.float64] = counts / counts.sum()
    return shares


Floats = NDArray[np.float64]

Whole = NDArray[np.int64]

Statistic = Callable[[Floats], Floats]
"""Computes values, shape (...), from sums, shape (..., sums); NaN if there is none."""

Id = TypeVar("Id", bound=Hashable)

ClusterIds = Sequence[Hashable]
"""The cluster of each unit, e.g. its persona; None = the unit resembles no other."""


def cluster_codes(clusters: ClusterIds | None, n: int) -> Whole:
    """Return a cluster number from 0 for each unit; without ids, every unit is its own cluster.

    Args:
        clusters: The cluster of each unit; None = there are none.
        n: Units; count.

    Raises:
        InputError: If there is not one id per unit.
    """
    if clusters is None:
        return np.arange(n)
    if len(clusters) != n:
        message = f"`clusters` must name the cluster of each unit; got {len(clusters)} for {n} units"
        raise InputError(message)
    fresh = count()
    numbers: defaultdict[Hashable, int] = defaultdict(lambda: next(fresh))
    # A unit without a cluster gets a number that no other unit can have.
    return np.array([next(fresh) if name is None else numbers[name] for name in clusters], dtype=np.int64)


def selected_clusters(clusters: ClusterIds | None, is_selected: Sequence[bool]) -> ClusterIds | None:
    """Return the clusters of the selected units.

    Raises:
        InputError: If there is not one id per unit.
    """
    if clusters is None:
        return None
    cluster_codes(clusters, len(is_selected))
    return [name for name, keep in zip(clusters, is_selected, strict=True) if keep]


def shared_clusters(ids: Sequence[Id]) -> list[Id] | None:
    """Return the clusters of units if at least two units share one; None if every unit is alone."""
    return list(ids) if len(set(ids)) < len(ids) else None


def cluster_sizes(flags: Iterable[bool], clusters: ClusterIds | None) -> list[tuple[int, int]] | None:
    """Return the number of units of each cluster with a property, and the size of each cluster.

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

    Confusion matrices, coincidences and moments are all sums over units, so a
    statistic without a cluster, or of resampled clusters, does not read the units again
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
            clusters: The cluster of each unit; None = each unit is independent.
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
        """Return the jackknife's standard error: each cluster is omitted in turn.

        The root of (G - 1)/G times the squared deviations; 0 if there is one
        cluster or the statistic has no value without one of them.

        Args:
            statistic: Computes values from sums.

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
        """Return the statistic of resampled clusters, shape (replicates,).

        Args:
            statistic: Computes values from sums.
            replicates: Samples to draw; count.
            seed: Seed of the random generator.
        """
        kinds, times = np.unique(self.parts, axis=0, return_counts=True)
        rng = np.random.default_rng(seed)
        counts = rng.multinomial(self.n, times / self.n, size=replicates)
        return statistic(counts @ kinds)


Scale = tuple[float, float]
"""Lowest and highest value of a scale."""


def score_column(scores: Iterable[float | None], name: str) -> Floats:
    """Return scores as an array, shape (units,), NaN for missing scores.

    Args:
        scores: One per unit; None or NaN = missing.
        name: Their name in messages.

    Raises:
        InputError: If one of them is infinite or not a number.
    """
    values = list(scores)
    try:
        column = np.array([math.nan if score is None else float(score) for score in values], dtype=np.float64)
    except (TypeError, ValueError):
        message = f"`{name}` must hold numbers, None where one is missing; got {values!r:.80}"
        raise InputError(message) from None
    refuse_infinite(column, name)
    return column


def refuse_infinite(column: Floats, name: str) -> None:
    """Reject scores that are infinite.

    Raises:
        InputError: If there is one.
    """
    infinite = np.flatnonzero(np.isinf(column))
    if len(infinite):
        message = (
            f"`{name}` must hold finite numbers; {len(infinite):,} of {len(column):,} are infinite, the first"
            f" ({column[infinite[0]]}) at position {infinite[0]}. A missing score is None, or left out"
        )
        raise InputError(message)


def check_scale(scale: Scale | None, *columns: Floats) -> None:
    """Reject a scale with ends in the wrong order, or with a score outside.

    Raises:
        InputError: If it does.
    """
    if scale is None:
        return
    lowest, highest = scale
    if not (math.isfinite(lowest) and math.isfinite(highest) and lowest < highest):
        message = f"`scale` must be the lowest and the highest value, e.g. (1, 5); got {scale!r}"
        raise InputError(message)
    for column in columns:
        outside = column[(column < lowest) | (column > highest)]
        if len(outside):
            message = f"`scale` must hold all scores; {outside[0]:g} lies outside of {lowest:g} to {highest:g}"
            raise InputError(message)


def ends_of_constant(value: float, sizes: Sequence[int], scale: Scale, confidence: float) -> tuple[float, float]:
    """Return the ends of the interval of a mean if all observed values are equal.

    Units with another value may be as frequent as `zero_count_bound` allows
    without one of them in the sample, and each is within the scale.

    Args:
        value: The value of all observed units.
        sizes: Units of each cluster; counts.
        scale: Lowest and highest possible value.
        confidence: Coverage; fraction in (0, 1).

    Source:
        The exact bound of no event (Clopper, Pearson 1934, Biometrika 26:404-413) on a bounded variable:
        Anderson (1969), Confidence limits for the expected value of an arbitrary bounded random variable
        with a continuous distribution function, Bulletin of the ISI 43:249-251.
    """
    other = zero_count_bound(sizes_of(sizes), (1.0 - confidence) / 2.0)
    return value + other * (min(scale[0], value) - value), value + other * (max(scale[1], value) - value)


def sizes_of(counts: Iterable[int]) -> Sizes:
    """Return the number of clusters of each size."""
    sizes, times = np.unique(np.fromiter(counts, dtype=np.int64), return_counts=True)
    return tuple(zip(sizes.tolist(), times.tolist(), strict=True))
