"""Krippendorff's alpha: agreement beyond chance for any scale, with missing labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import NO_SHARED_UNIT, SAME_ANSWER
from theodolite.measurement.interval import (
    CORRECTED,
    Concord,
    beyond_chance,
    check_confidence,
    student_quantile,
    whole_count,
)
from theodolite.measurement.labels import ClusterIds, ClusterSums, cluster_codes, cluster_sizes, selected_clusters

Floats = NDArray[np.float64]

AlphaScale = Literal["nominal", "ordinal", "interval", "ratio"]

MOST_POINTS: Final = 500
"""Maximum number of distinct values for a table of coincidences; count."""

AT_ONCE: Final = 500_000
"""Maximum number of values in memory during jackknife and bootstrap; count."""


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    scale: AlphaScale = "nominal",
    clusters: ClusterIds | None = None,
    replicates: int = 0,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the agreement of annotators beyond chance on any scale, with gaps.

    Args:
        ratings: shape (annotators, units), float64, NaN = missing; guideline
            scale points. Units with fewer than two labels are omitted.
        scale: Level of measurement: which differences count, and how much.
        clusters: The cluster of each unit; None = units are independent.
        replicates: Samples of a bootstrap of units or clusters, whose quantiles
            then are the interval; count, 0 = jackknife.
        seed: Seed of the bootstrap.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; n counts the units with two labels or more;
        the interval is a jackknife over units or clusters on the logarithm of
        1 - alpha, with Student's t: it needs no random draws. `Undefined` when no unit has two
        labels or one value only occurs.

    Raises:
        InputError: If `ratings` is not a table of numbers with at least two annotators,
            the scale is unknown, or a ratio scale has values below 0.

    Example:
        >>> nan = float("nan")
        >>> alpha = krippendorff_alpha([[0, 1, 0, 1, nan], [0, 1, 1, 1, 0]])
        >>> round(alpha.value, 6), alpha.n
        (0.533333, 4)

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
        https://repository.upenn.edu/asc_papers/43; Hayes, Krippendorff (2007),
        Communication Methods and Measures 1:77-89, doi:10.1080/19312450709336664;
        jackknife: Efron, Stein (1981), Annals of Statistics 9:586-596,
        doi:10.1214/aos/1176345462. Golden values: tests/golden/agreement.json.
    """
    check_confidence(confidence)
    table = _table(ratings, scale)
    labelled_twice = np.count_nonzero(~np.isnan(table), axis=0) >= 2
    if clusters is not None:
        clusters = selected_clusters(clusters, labelled_twice.tolist())
    labels = table[:, labelled_twice]
    if scale == "interval" and len(np.unique(labels[~np.isnan(labels)])) > MOST_POINTS:
        draws = whole_count(replicates, "replicates")
        return _from_sums(labels, clusters, replicates=draws, seed=seed, confidence=confidence)
    units = _histograms(labels, clusters)
    if units.n == 0:
        return Undefined(reason=NO_SHARED_UNIT, unit=CORRECTED)
    if len(units.points) < 2:
        return Undefined(reason=SAME_ANSWER, n=units.n, unit=CORRECTED)
    coincidences = _coincidences(units.kinds, units.times.sum(axis=0))
    value = 1.0 - float(_disagreement_ratios(coincidences, units.points, scale))
    concord = _concord(units, coincidences)
    if replicates:
        resampled = _bootstrap(units, scale, replicates=whole_count(replicates, "replicates"), seed=seed)
        return _between_quantiles(value, resampled, concord, confidence)
    error = _jackknife_error(units, scale)
    quantile = student_quantile(confidence, max(units.n_clusters - 1, 1))
    over = "jackknife over units" if clusters is None else "jackknife over clusters"
    return beyond_chance(value, error, quantile, concord, confidence=confidence, method=over)


def _from_sums(
    labels: Floats, clusters: ClusterIds | None, *, replicates: int, seed: int, confidence: float
) -> Estimate:
    """Return alpha on an interval scale with too many different values for a table of coincidences."""
    sums, concord = interval_sums(labels, clusters), interval_concord(labels, clusters)
    value = 1.0 - float(interval_ratio(sums.total))
    if replicates:
        ratios = sums.bootstrap(interval_ratio, replicates=replicates, seed=seed)
        return _between_quantiles(value, 1.0 - ratios[~np.isnan(ratios)], concord, confidence)
    over = "jackknife over units" if clusters is None else "jackknife over clusters"
    quantile = student_quantile(confidence, max(sums.n - 1, 1))
    error = sums.jackknife_error(interval_ratio)
    return beyond_chance(value, error, quantile, concord, confidence=confidence, method=over)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Histograms:
    """Frequencies of the values of units; units with equal counts are grouped.

    Attributes:
        points: The values that occur; ascending.
        kinds: shape (kinds, points); counts.
        times: shape (clusters, kinds); units of each kind in each cluster. One row
            where units are independent.
        clustered: Whether the rows are clusters.
    """

    points: Floats
    kinds: Floats
    times: Floats
    clustered: bool

    @property
    def n(self) -> int:
        """Units; count."""
        return int(self.times.sum())

    @property
    def n_clusters(self) -> int:
        """Number of resampled units or clusters; count."""
        return len(self.times) if self.clustered else self.n


def _table(ratings: ArrayLike, scale: str) -> Floats:
    """Return the ratings as an array, shape (annotators, units)."""
    try:
        table = np.array(ratings, dtype=np.float64)
    except (TypeError, ValueError):
        message = "`ratings` must be numbers of shape (annotators, units), NaN where one is missing, rows equally long"
        raise InputError(message) from None
    if table.ndim != 2 or table.shape[0] < 2:
        message = f"`ratings` must have shape (annotators >= 2, units); got shape {table.shape}"
        raise InputError(message)
    if np.any(np.isinf(table)):
        message = "`ratings` must be finite; put NaN where a rating is missing"
        raise InputError(message)
    if scale not in {"nominal", "ordinal", "interval", "ratio"}:
        message = f"`scale` must be nominal, ordinal, interval or ratio; got {scale!r}"
        raise InputError(message)
    if scale == "ratio" and np.any(table < 0):
        message = f"a ratio scale starts at 0; got a rating of {np.nanmin(table)}. Use `interval`"
        raise InputError(message)
    return table


def _histograms(table: Floats, clusters: ClusterIds | None) -> _Histograms:
    """Return the frequency of each value for each unit; the table contains units with at least two labels."""
    points = np.unique(table[~np.isnan(table)])
    if len(points) > MOST_POINTS:
        message = (
            f"`ratings` must be points of a scale, at most {MOST_POINTS} unless `scale` is interval;"
            f" got {len(points)} different values. Use `interval`, or round them"
        )
        raise InputError(message)
    n = table.shape[1]
    units = np.zeros((n, len(points)), dtype=np.int64)
    for column, point in enumerate(points):
        units[:, column] = np.count_nonzero(table == point, axis=0)
    kinds, kind = _kinds(units, most=len(table))
    if clusters is None:
        times = np.bincount(kind, minlength=len(kinds))[None, :].astype(np.float64)
    else:
        _, codes = np.unique(cluster_codes(clusters, n), return_inverse=True)
        times = np.zeros((int(codes.max(initial=-1)) + 1, len(kinds)))
        np.add.at(times, (codes, kind), 1.0)
    return _Histograms(
        points=points,
        kinds=kinds.astype(np.float64),
        times=times,
        clustered=clusters is not None,
    )


def _kinds(units: NDArray[np.int64], most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different rows and which of them each unit is; counts are `most` or less."""
    n_points = units.shape[1]
    if n_points * math.log2(most + 1) < 62:
        # Rows encoded as digits of one number are compared ten times faster.
        codes = units @ (most + 1) ** np.arange(n_points, dtype=np.int64)
        _, first, kind = np.unique(codes, return_index=True, return_inverse=True)
        return units[first], kind
    kinds, kind = np.unique(units, axis=0, return_inverse=True)
    return kinds, kind.reshape(-1)


def _concord(units: _Histograms, coincidences: Floats) -> Concord:
    alone = (units.kinds > 0).sum(axis=1) == 1
    used = coincidences.sum(axis=1)
    total = used.sum()
    agreeing, sizes = units.times @ alone, units.times.sum(axis=1)
    return Concord(
        agreeing=int(agreeing.sum()),
        n=units.n,
        chance=float(used @ (used - 1.0) / (total * (total - 1.0))),
        clusters=list(zip(agreeing.astype(int).tolist(), sizes.astype(int).tolist(), strict=True))
        if units.clustered
        else None,
    )


def _coincidences(kinds: Floats, times: Floats) -> Floats:
    """Return how often values c and k occurred together within a unit: sum of n_c (n_k - [c = k]) / (m - 1).

    Args:
        kinds: shape (kinds, points); counts.
        times: shape (..., kinds); units of each kind.
    """
    weighted = kinds * (times / (kinds.sum(axis=1) - 1.0))[..., None]
    met: Floats = kinds.T @ weighted - weighted.sum(axis=-2)[..., None] * np.eye(kinds.shape[1])
    return met


def _disagreement_ratios(coincidences: Floats, points: Floats, scale: str) -> Floats:
    """Return observed over expected disagreement: (n - 1) sum o_ck d_ck / sum n_c n_k d_ck; NaN if there is none."""
    # Sums of coincidences are counts of labels; rounding makes the count of a removed value exactly 0.
    used = np.rint(coincidences.sum(axis=-1))
    distance = _squared_distance(points, used, scale)
    expected = np.einsum("...c,...ck,...k->...", used, distance, used)
    observed = (coincidences * distance).sum(axis=(-2, -1)) * (used.sum(axis=-1) - 1.0)
    ratios: Floats = np.divide(observed, expected, out=np.full(expected.shape, np.nan), where=expected > 0)
    return ratios


def _squared_distance(points: Floats, used: Floats, scale: str) -> Floats:
    """Return the squared difference of two values; shape (..., values, values)."""
    if scale == "nominal":
        return 1.0 - np.eye(len(points))
    # Mid-ranks of the values give ordinal distances: n_c/2 + ... + n_k/2.
    positions = np.cumsum(used, axis=-1) - used / 2.0 if scale == "ordinal" else points
    gaps = positions[..., :, None] - positions[..., None, :]
    if scale == "ratio":
        sums = positions[..., :, None] + positions[..., None, :]
        gaps = np.divide(gaps, sums, out=np.zeros_like(gaps), where=sums > 0)
    squared: Floats = gaps**2
    return squared


def _jackknife_error(units: _Histograms, scale: str) -> float:
    """Return the jackknife's standard error: each unit or cluster is omitted in turn.

    Units with equal histograms give equal values, so each is computed once; 0
    if a value is undefined without one of the units.
    """
    everything = units.times.sum(axis=0)
    parts = units.times if units.clustered else np.eye(len(units.kinds))
    times = np.ones(len(parts)) if units.clustered else units.times[0]
    without = _ratios(units, everything - parts, scale)
    n = units.n_clusters
    if np.any(np.isnan(without)) or n < 2:
        return 0.0
    mean = float(times @ without) / n
    return math.sqrt(float(times @ (without - mean) ** 2) * (n - 1) / n)


def _bootstrap(units: _Histograms, scale: str, *, replicates: int, seed: int) -> Floats:
    """Return alpha of resampled units or clusters, without undefined replicates."""
    rng = np.random.default_rng(seed)
    n = units.n_clusters
    shares = np.full(n, 1.0 / n) if units.clustered else units.times[0] / n
    resampled = rng.multinomial(n, shares, size=replicates).astype(np.float64)
    times = resampled @ units.times if units.clustered else resampled
    ratios = _ratios(units, times, scale)
    values: Floats = 1.0 - ratios[~np.isnan(ratios)]
    return values


def _ratios(units: _Histograms, times: Floats, scale: str) -> Floats:
    """Return the ratio of disagreement for each row of units of each kind, in bounded chunks."""
    n_kinds, n_points = units.kinds.shape
    at_once = max(AT_ONCE // (n_points * max(n_kinds, n_points)), 1)
    chunks = (times[start : start + at_once] for start in range(0, len(times), at_once))
    return np.concatenate(
        [_disagreement_ratios(_coincidences(units.kinds, chunk), units.points, scale) for chunk in chunks]
    )


def _between_quantiles(value: float, resampled: Floats, concord: Concord, confidence: float) -> Estimate:
    """Return alpha between the quantiles of its bootstrap; the interval contains the value itself."""
    if not resampled.size or np.ptp(resampled) == 0.0:
        return beyond_chance(value, 0.0, 0.0, concord, confidence=confidence, method="")
    low, high = np.quantile(resampled, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return Estimate(
        value=value,
        low=min(float(low), value),
        high=max(float(high), value),
        confidence=confidence,
        n=concord.n,
        unit=CORRECTED,
        method=f"bootstrap over {'units' if concord.clusters is None else 'clusters'}, percentiles",
        n_clusters=None if concord.clusters is None else len(concord.clusters),
    )


def interval_sums(table: Floats, clusters: ClusterIds | None) -> ClusterSums:
    """Return the sums of each unit or cluster from which alpha on an interval scale is computed.

    Values are centred and scaled first, which does not change alpha, so large
    values keep their digits.

    Args:
        table: Labels, shape (annotators, units), NaN = missing; at least two labels per unit.
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
    """Return observed over expected disagreement; NaN if the expected disagreement is 0.

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
    """Return the number of units with identical labels, and the probability of two equal labels by chance."""
    alike = np.nanmax(table, axis=0) == np.nanmin(table, axis=0)
    _, used = np.unique(table[~np.isnan(table)], return_counts=True)
    total = float(used.sum())
    return Concord(
        agreeing=int(alike.sum()),
        n=table.shape[1],
        chance=float((used * (used - 1.0)).sum() / (total * (total - 1.0))),
        clusters=cluster_sizes(alike.tolist(), clusters),
    )
