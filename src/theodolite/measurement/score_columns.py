"""Columns of scores, checked where they enter, and the mean of a column that shows no variation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.measurement.beta_binomial import Sizes, zero_count_bound

Floats = NDArray[np.float64]
Scale = tuple[float, float]
"""Lowest and highest value of a scale."""


def score_column(scores: Iterable[float | None], name: str) -> Floats:
    """Return scores as an array, shape (units,), NaN where one is missing.

    Args:
        scores: One a unit; None or NaN = missing.
        name: Their name in messages.

    Raises:
        InputError: If one of them is infinite or no number.
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
    """Reject a scale whose ends are in the wrong order, or that a score lies outside of.

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
    """Return the ends of the interval of a mean where all values seen are the same.

    Units with another value may be as frequent as `zero_count_bound` allows
    without one of them in the sample, and each lies within the scale.

    Args:
        value: The value of all units seen.
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
    """Return how many clusters there are of each size."""
    sizes, times = np.unique(np.fromiter(counts, dtype=np.int64), return_counts=True)
    return tuple(zip(sizes.tolist(), times.tolist(), strict=True))
