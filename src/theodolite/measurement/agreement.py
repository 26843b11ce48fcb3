"""Plain agreement: how often two annotators say the same, or nearly so."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.clusters import ClusterIds, cluster_sizes
from theodolite.measurement.interval import check_confidence
from theodolite.measurement.pairs import (
    NO_PAIR,
    Label,
    check_labels,
    check_lengths,
    clusters_of_pairs,
    label_text,
    paired,
    scale_points,
)
from theodolite.measurement.proportion import DIALOGUES, defect_rate

Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""Slack for distances such as 0.4 - 0.3, which is above 0.1 in floats; scale points."""


def exact_agreement(
    a: Sequence[Label], b: Sequence[Label], *, clusters: ClusterIds | None = None, confidence: float = 0.95
) -> Estimate | Undefined:
    """Estimate the share of units to which two annotators give the same label.

    The level of chance stands beside it, since it can be high: what two
    unrelated annotators would reach who use the labels as often as these two.

    Args:
        a: Labels of the first annotator, one a unit; None or NaN = missing.
        b: Labels of the second annotator, of the same units in the same order.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        Unit: fraction of dialogues, the interval of `defect_rate`. `Undefined` when no unit
        has both labels.

    Raises:
        InputError: If the lengths differ.

    Example:
        >>> agreement = exact_agreement(["yes", "no", "no", None], ["yes", "no", "yes", "no"])
        >>> agreement.count, agreement.n, round(agreement.chance, 3)
        (2, 3, 0.444)

    Source:
        Cohen (1960), Educational and Psychological Measurement 20:37-46,
        doi:10.1177/001316446002000104 (observed and chance agreement).
    """
    check_confidence(confidence)
    pairs = paired(a, b)
    codes = {label: float(code) for code, label in enumerate(sorted({label for pair in pairs for label in pair}))}
    places = [(codes[first], codes[second]) for first, second in pairs]
    return _agreement(places, 0.0, clusters_of_pairs(a, b, clusters), confidence)


def relaxed_agreement(
    a: Sequence[Label],
    b: Sequence[Label],
    *,
    within: float = 1,
    categories: Sequence[Label] | None = None,
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the share of units on which two annotators are at most `within` points apart.

    Read it with its level of chance: on a scale of five points, two annotators
    who pick evenly at random are within one point on 52 of 100 units.

    Args:
        a: Labels of the first annotator, one a unit; None or NaN = missing. Numbers,
            or labels of `categories`.
        b: Labels of the second annotator, of the same units in the same order.
        within: Largest distance that counts as agreement; scale points, 0 or more.
        categories: The full scale in order; distances are then steps on it.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        Unit: fraction of dialogues, the interval of `defect_rate`. `Undefined` when no unit
        has both labels.

    Raises:
        InputError: If the lengths differ, `within` is below 0, a label is not on
            the scale, or labels are texts and no scale is given.

    Example:
        >>> relaxed_agreement([1, 2, 5], [2, 2, 1]).count
        2
        >>> relaxed_agreement(["low", "high"], ["mid", "low"], categories=["low", "mid", "high"]).count
        1

    Source:
        Its chance-corrected kin are the weighted coefficients of Gwet (2014),
        Handbook of Inter-Rater Reliability, 4th ed., chapter 3, with weight 1
        within the band and 0 outside.
    """
    check_confidence(confidence)
    if not (math.isfinite(within) and within >= 0):
        message = f"`within` must be a distance of 0 or more scale points; got {within!r}"
        raise InputError(message)
    places = _places(a, b, categories)
    return _agreement(places, within + ROUNDING, clusters_of_pairs(a, b, clusters), confidence)


def _places(a: Sequence[Label], b: Sequence[Label], categories: Sequence[Label] | None) -> list[tuple[float, float]]:
    """Return where on the scale the pairs of labels stand; scale points."""
    if categories is not None:
        pairs, points = paired(a, b), scale_points(categories)
        check_labels(pairs, points)
        place = {point: float(number) for number, point in enumerate(points)}
        return [(place[first], place[second]) for first, second in pairs]
    check_lengths(a, b)
    kept = [(x, y) for x, y in zip(a, b, strict=True) if label_text(x) is not None and label_text(y) is not None]
    return [(_number(first), _number(second)) for first, second in kept]


def _number(label: Label) -> float:
    if isinstance(label, numbers.Real) and math.isfinite(label):
        return float(label)
    message = f"relaxed agreement needs numbers, or `categories` with the scale in order; got the label {label!r}"
    raise InputError(message)


def _agreement(
    places: Sequence[tuple[float, float]], within: float, clusters: ClusterIds | None, confidence: float
) -> Estimate | Undefined:
    if not places:
        return Undefined(reason=NO_PAIR, unit=DIALOGUES, method="wilson")
    first, second = np.array(places, dtype=np.float64).T
    agree = np.abs(first - second) <= within
    sizes = cluster_sizes(agree.tolist(), clusters)
    share = defect_rate(int(np.count_nonzero(agree)), len(places), confidence=confidence, clusters=sizes)
    return replace(share, chance=_chance(first, second, within)) if isinstance(share, Estimate) else share


def _chance(first: Floats, second: Floats, within: float) -> float:
    """Return the agreement if the pairing were random: sum of p(i) q(j) over i, j within reach."""
    firsts, first_counts = np.unique(first, return_counts=True)
    seconds, second_counts = np.unique(second, return_counts=True)
    near = np.abs(firsts[:, None] - seconds[None, :]) <= within
    return min(float(first_counts @ near @ second_counts) / (first.size * second.size), 1.0)
