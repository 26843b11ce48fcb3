"""Krippendorff's alpha: agreement beyond chance for any scale, with missing labels."""

from __future__ import annotations

import math
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.interval import Concord, check_confidence, student_quantile
from theodolite.measurement.kappa import CORRECTED, NO_SHARED_UNIT, beyond_chance
from theodolite.measurement.pairs import SAME_ANSWER

Floats = NDArray[np.float64]
AlphaScale = Literal["nominal", "ordinal", "interval", "ratio"]

MOST_POINTS: Final = 500
"""Distinct values up to which the table of coincidences is a sensible size."""


def krippendorff_alpha(
    ratings: ArrayLike, *, scale: AlphaScale = "nominal", confidence: float = 0.95
) -> Estimate | Undefined:
    """Estimate the agreement of annotators beyond chance on any scale, with gaps.

    Args:
        ratings: shape (annotators, units), float64, NaN = missing; guideline
            scale points. Units with fewer than two labels are left out.
        scale: Level of measurement: which differences count, and how much.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; n counts the units with two labels or more;
        the interval is a jackknife over units on the logarithm of 1 - alpha, with
        Student's t: it needs no random draws. `Undefined` when no unit has two
        labels or one value only occurs.

    Raises:
        InputError: If `ratings` is no table of numbers with two annotators at
            least, the scale is unknown, or a ratio scale has values below 0.

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
    points, units = _histograms(table)
    if len(units) == 0:
        return Undefined(reason=NO_SHARED_UNIT, unit=CORRECTED)
    coincidences = _coincidences(units)
    if len(points) < 2:
        return Undefined(reason=SAME_ANSWER, n=len(units), unit=CORRECTED)
    value = 1.0 - _disagreement_ratio(coincidences, points, scale)
    used = coincidences.sum(axis=1)
    total = used.sum()
    concord = Concord(
        agreeing=int(np.count_nonzero((units > 0).sum(axis=1) == 1)),
        n=len(units),
        chance=float(used @ (used - 1.0) / (total * (total - 1.0))),
    )
    error = _jackknife_error(units, coincidences, points, scale)
    quantile = student_quantile(confidence, max(len(units) - 1, 1))
    return beyond_chance(value, error, quantile, concord, confidence=confidence, method="jackknife over units")


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


def _histograms(table: Floats) -> tuple[Floats, Floats]:
    """Return the values that occur and how often each unit got each, shape (units, values).

    Only units with two labels or more are in it; they alone can agree.
    """
    table = table[:, np.count_nonzero(~np.isnan(table), axis=0) >= 2]
    points = np.unique(table[~np.isnan(table)])
    if len(points) > MOST_POINTS:
        message = f"`ratings` must be points of a scale, at most {MOST_POINTS}; got {len(points)} different values"
        raise InputError(message)
    units = np.stack([np.count_nonzero(table == point, axis=0) for point in points], axis=1) if len(points) else table.T
    return points, units.astype(np.float64)


def _coincidences(units: Floats, times: Floats | None = None) -> Floats:
    """Return how often values c and k met within a unit: sum of n_c (n_k - [c = k]) / (m - 1)."""
    weights = (1.0 if times is None else times) / (units.sum(axis=1) - 1.0)
    weighted = units * weights[:, None]
    met: Floats = units.T @ weighted - np.diag(weighted.sum(axis=0))
    return met


def _disagreement_ratio(coincidences: Floats, points: Floats, scale: str) -> float:
    """Return observed over expected disagreement: (n - 1) sum o_ck d_ck / sum n_c n_k d_ck."""
    # Sums of coincidences are counts of labels; rounding lets a value that is gone be gone.
    used = np.rint(coincidences.sum(axis=1))
    distance = _squared_distance(points, used, scale)
    expected = float(used @ distance @ used)
    return float((coincidences * distance).sum()) * float(used.sum() - 1.0) / expected if expected > 0 else math.nan


def _squared_distance(points: Floats, used: Floats, scale: str) -> Floats:
    """Return how much two values differ, squared; shape (values, values)."""
    if scale == "nominal":
        return 1.0 - np.eye(len(points))
    # Ranks in the middle of each value's share make ordinal distances: n_c/2 + ... + n_k/2.
    places = np.cumsum(used) - used / 2.0 if scale == "ordinal" else points
    gaps = places[:, None] - places[None, :]
    if scale == "ratio":
        sums = places[:, None] + places[None, :]
        gaps = np.divide(gaps, sums, out=np.zeros_like(gaps), where=sums > 0)
    squared: Floats = gaps**2
    return squared


def _jackknife_error(units: Floats, coincidences: Floats, points: Floats, scale: str) -> float:
    """Return the standard error from leaving out each unit in turn.

    Units with equal histograms give equal values, so each is computed once; 0
    where a value is undefined without one of the units.
    """
    kinds, times = np.unique(units, axis=0, return_counts=True)
    without = np.array(
        [_disagreement_ratio(coincidences - _coincidences(kind[None, :]), points, scale) for kind in kinds]
    )
    if np.any(np.isnan(without)):
        return 0.0
    n = len(units)
    mean = float(times @ without) / n
    return math.sqrt(float(times @ (without - mean) ** 2) * (n - 1) / n)
