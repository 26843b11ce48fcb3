"""Sequences of scores, checked once at the door."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.measurement.score_columns import refuse_infinite

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

LARGEST_ORDER = 7
"""Longest pattern that is coded; 7! = 5,040 patterns are more than any window fills."""


def as_scores(scores: Sequence[float] | NDArray[Any], name: str = "scores") -> Floats:
    """Return scores as an array of shape (n,), float64.

    Raises:
        InputError: If they are not one row of numbers, or one of them is missing or infinite.
    """
    try:
        array = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        message = (
            f"`{name}` must be numbers in order of time; got {scores!r:.60}. Leave missing ones out and count them"
        )
        raise InputError(message) from None
    if array.ndim != 1:
        message = f"`{name}` must be one row of numbers; got an array of shape {array.shape}"
        raise InputError(message)
    missing = np.flatnonzero(np.isnan(array))
    if len(missing):
        message = (
            f"`{name}` must hold no missing score; {len(missing):,} of {len(array):,} are, the first at"
            f" place {missing[0]}. Leave them out and count them, or use `relevance_profile`, which does"
        )
        raise InputError(message)
    refuse_infinite(array, name)
    return array


def check_pattern(order: int, delay: int) -> None:
    """Refuse a length or a step of patterns that means nothing.

    Raises:
        InputError: If `order` is not within 2..7 or `delay` is below 1.
    """
    if not 2 <= order <= LARGEST_ORDER:
        message = f"`order` must be within 2..{LARGEST_ORDER}, the number of scores in a pattern; got {order!r}"
        raise InputError(message)
    if delay < 1:
        message = f"`delay` must be 1 or more, the step between the scores of a pattern; got {delay!r}"
        raise InputError(message)


def n_patterns(n: int, order: int, delay: int) -> int:
    """Return how many patterns a sequence holds; count, 0 where it is too short."""
    return max(0, n - delay * (order - 1))


def ranks(scores: Floats) -> Whole:
    """Return each score's dense rank from 0; equal scores share it."""
    lowest, highest = (scores.min(), scores.max()) if len(scores) else (0.0, 0.0)
    span = highest - lowest
    # Stars and other whole numbers on a short scale need no sorting.
    if math.isfinite(span) and span < 1024 and bool(np.all(scores == np.floor(scores))):
        whole = (scores - lowest).astype(np.int64)
        present = np.bincount(whole, minlength=1) > 0
        return np.asarray((np.cumsum(present) - 1)[whole], dtype=np.int64)
    return np.asarray(np.unique(scores, return_inverse=True)[1], dtype=np.int64)


def packed(values: NDArray[Any]) -> array[float]:
    """Return a row of numbers in eight bytes each, for records."""
    return array("d", np.ascontiguousarray(values, dtype=np.float64).tobytes())


def packed_counts(values: NDArray[Any]) -> array[int]:
    """Return a row of whole numbers in eight bytes each, for records."""
    return array("q", np.ascontiguousarray(values, dtype=np.int64).tobytes())
