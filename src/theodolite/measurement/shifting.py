"""Order shift: how far answers that were given one way lie above those given the other way."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from theodolite.domain.errors import InputError
from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.measurement.interval import SMALLEST_ERROR, check_confidence

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Whole = NDArray[np.int64]

METHOD: Final = "error over annotators and dialogues, Student's t"
"""Name of the interval."""

METHOD_OF_ONE: Final = "error over dialogues, Student's t"
"""Name of the interval where there is one annotator."""

ONE_WAY: Final = "All answers were given the same way so far."
FEW: Final = "Fewer than two dialogues were answered each way."
NO_SPREAD: Final = "Whichever way it was, all said the same, so nothing tells how far answers vary."


def order_shift(
    values: Sequence[float] | Floats,
    is_second: Sequence[bool] | Flags,
    *,
    annotators: Sequence[Hashable] | Whole,
    dialogues: Sequence[Hashable] | Whole,
    unit: str = "difference of shares of answers",
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate how far the mean of answers given the second way lies above that of the first way.

    The answers of one annotator resemble each other, and so do those about one
    dialogue; the error knows both. It is the sum of the squared errors over
    either, less that over answers that share both, and never less than the
    smaller of the two. Student's t has one degree of freedom less
    than there are annotators or dialogues, whichever are fewer: with two
    annotators an interval is wide, and it should be.

    Args:
        values: An answer each, as a number: 1 and 0, or a rank as a fraction.
        is_second: Whether it was given the second way.
        annotators: Who gave it.
        dialogues: The dialogue that it is about.
        unit: What a difference of the values is a number of.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        In `unit`; n counts answers, clusters are the fewer of annotators and dialogues.
        `Undefined` where all went one way, fewer than two dialogues did, or all are alike.

    Raises:
        InputError: If the arguments differ in length, or `confidence` is no fraction.

    Example:
        >>> shift = order_shift(
        ...     [1, 0, 0, 0, 1, 1, 0, 1],
        ...     [False] * 4 + [True] * 4,
        ...     annotators="aabbaabb",
        ...     dialogues=[1, 2, 3, 4, 3, 4, 1, 2],
        ... )
        >>> shift.value, shift.n, shift.n_clusters
        (0.5, 8, 2)

    Source:
        Cameron, Gelbach, Miller (2011), Robust Inference With Multiway
        Clustering, Journal of Business & Economic Statistics 29:238-249.
    """
    check_confidence(confidence)
    y, way = np.asarray(values, dtype=np.float64), np.asarray(is_second, dtype=bool)
    if not len(y) == len(way) == len(annotators) == len(dialogues):
        message = f"every answer has a value, a way, an annotator and a dialogue; got {len(y)}, {len(way)}, "
        message += f"{len(annotators)} and {len(dialogues)}"
        raise InputError(message)
    who, what = _codes(annotators), _codes(dialogues)
    reason = _why_none(y, way, what)
    if reason:
        return Undefined(reason=reason, n=len(y), unit=unit, method=METHOD)
    value, influence = _difference(y, way)
    error, n_clusters = _error(influence, who, what)
    if error < SMALLEST_ERROR:
        return Undefined(reason=NO_SPREAD, n=len(y), unit=unit, method=METHOD)
    reach = error * float(stdtrit(n_clusters - 1, (1.0 + confidence) / 2.0))
    return Estimate(
        value=value,
        low=max(value - reach, -1.0),
        high=min(value + reach, 1.0),
        confidence=confidence,
        n=len(y),
        unit=unit,
        method=METHOD if len(np.unique(who)) > 1 else METHOD_OF_ONE,
        n_clusters=n_clusters,
    )


def _codes(names: Sequence[Hashable] | Whole) -> Whole:
    if isinstance(names, np.ndarray):
        return np.unique(names, return_inverse=True)[1]
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)


def _why_none(y: Floats, way: Flags, dialogues: Whole) -> str:
    if way.all() or not way.any():
        return ONE_WAY
    if min(len(np.unique(dialogues[way])), len(np.unique(dialogues[~way]))) < 2:
        return FEW
    return NO_SPREAD if np.ptp(y[way]) == 0 and np.ptp(y[~way]) == 0 else ""


def _difference(y: Floats, way: Flags) -> tuple[float, Floats]:
    """Return the difference of two means, and what each answer adds to its error."""
    means = {side: float(y[way == side].mean()) for side in (False, True)}
    sizes = {side: int((way == side).sum()) for side in (False, True)}
    influence = np.where(way, (y - means[True]) / sizes[True], -(y - means[False]) / sizes[False])
    return means[True] - means[False], influence


def _error(influence: Floats, who: Whole, what: Whole) -> tuple[float, int]:
    """Return the standard error over both kinds of clusters, and the count of the fewer."""
    by_dialogue, n_dialogues = _variance(influence, what)
    by_annotator, n_annotators = _variance(influence, who)
    if n_annotators < 2:
        return math.sqrt(by_dialogue), n_dialogues
    by_both, _ = _variance(influence, who * (int(what.max()) + 1) + what)
    variance = max(by_dialogue + by_annotator - by_both, min(by_dialogue, by_annotator))
    return math.sqrt(variance), min(n_dialogues, n_annotators)


def _variance(influence: Floats, codes: Whole) -> tuple[float, int]:
    _, places = np.unique(codes, return_inverse=True)
    sums = np.bincount(places, weights=influence)
    n = len(sums)
    return float((sums**2).sum()) * n / max(n - 1, 1), n
