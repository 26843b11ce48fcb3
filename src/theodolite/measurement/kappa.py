"""Kappa: agreement of two or more annotators beyond chance, on categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.confusion import confusion_matrix, shares_of
from theodolite.measurement.interval import (
    Concord,
    check_confidence,
    corrected_for_chance,
    normal_quantile,
    rests_on_wilson,
    student_quantile,
)
from theodolite.measurement.pairs import NO_PAIR, SAME_ANSWER, Label

Floats = NDArray[np.float64]
Weights = Literal["linear", "quadratic"] | None

CORRECTED: Final = "agreement beyond chance; 1 is perfect, 0 is chance"
"""Unit of statistics that are corrected for chance."""

BY_WILSON: Final = "wilson, level of chance held fixed"
"""Name of the interval where annotators agree on all units or on none."""

NO_SHARED_UNIT: Final = "No dialogue has labels of two annotators."
"""Why the agreement of several annotators who never met is undefined."""


def cohen_kappa(
    a: Sequence[Label],
    b: Sequence[Label],
    *,
    categories: Sequence[Label],
    weights: Weights = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the agreement of two annotators beyond chance.

    The full scale has to be given: with weights, leaving out a label that
    nobody used changes the distances and so the value.

    Args:
        a: Labels of the first annotator, one a unit; None or NaN = missing.
        b: Labels of the second annotator, of the same units in the same order.
        categories: The full scale in order, used or not.
        weights: None counts every disagreement alike; `linear` and `quadratic`
            count it by its distance on the scale, or the square of it.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; the interval is the delta method's on the
        logarithm of 1 - kappa. `Undefined` when no unit has both labels or
        both annotators gave one and the same label throughout.

    Raises:
        InputError: If the lengths differ, a label is not on the scale, or the
            weights are unknown.

    Example:
        >>> a = ["yes"] * 25 + ["no"] * 25
        >>> b = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
        >>> round(cohen_kappa(a, b, categories=["yes", "no"]).value, 6)
        0.4

    Source:
        Cohen (1960), doi:10.1177/001316446002000104; weights: Cohen (1968),
        Psychological Bulletin 70:213-220, doi:10.1037/h0026256; variance:
        Fleiss, Cohen, Everitt (1969), Psychological Bulletin 72:323-327,
        doi:10.1037/h0028106. Golden values: tests/golden/agreement.json.
    """
    check_confidence(confidence)
    matrix = confusion_matrix(a, b, categories=categories)
    likeness = _likeness(len(matrix.categories), weights)
    if matrix.n == 0:
        return Undefined(reason=NO_PAIR, unit=CORRECTED)
    shares = shares_of(matrix)
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    # Both constant on the same label is the only way to a chance of 1.
    if np.count_nonzero(rows + columns) == 1:
        return Undefined(reason=SAME_ANSWER, n=matrix.n, unit=CORRECTED)
    chance = float(rows @ likeness @ columns)
    value = 1.0 - float((shares * (1.0 - likeness)).sum()) / (1.0 - chance)
    error = _cohen_error(shares, likeness, value, chance) / math.sqrt(matrix.n)
    agreeing = sum(row[place] for place, row in enumerate(matrix.counts))
    concord = Concord(agreeing=agreeing, n=matrix.n, chance=float(rows @ columns))
    return beyond_chance(
        value, error, normal_quantile(confidence), concord, confidence=confidence, method="delta method"
    )


def fleiss_kappa(counts: ArrayLike, *, confidence: float = 0.95) -> Estimate | Undefined:
    """Estimate the agreement of several annotators beyond chance, on unordered categories.

    Units may have different numbers of labels (Gwet's form); where all have the
    same number this is Fleiss' kappa itself. Units with a single label tell
    about the use of the categories only.

    Args:
        counts: shape (units, categories), whole numbers; how many annotators
            gave unit i the category k.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; n counts the units with two labels or more;
        the interval is Gwet's linearisation on the logarithm of 1 - kappa, with
        Student's t. `Undefined` when no unit has two labels or one category only
        occurs.

    Raises:
        InputError: If `counts` is no table of whole numbers of 0 or more with
            two categories at least, or no unit was met by two annotators.

    Example:
        >>> round(fleiss_kappa([[2, 0], [2, 0], [0, 2], [1, 1]]).value, 6)
        0.466667

    Source:
        Fleiss (1971), Psychological Bulletin 76:378-382, doi:10.1037/h0031619;
        unequal numbers and variance: Gwet (2008), British Journal of
        Mathematical and Statistical Psychology 61:29-48,
        doi:10.1348/000711006X126600. Golden values: tests/golden/agreement.json.
    """
    check_confidence(confidence)
    table = _table(counts)
    labels = table.sum(axis=1)
    table, labels = table[labels > 0], labels[labels > 0]
    shared = labels >= 2
    n = int(np.count_nonzero(shared))
    if n == 0:
        return _undefined_by_lack(table)
    if np.count_nonzero(table.sum(axis=0)) == 1:
        return Undefined(reason=SAME_ANSWER, n=n, unit=CORRECTED)
    use = (table / labels[:, None]).mean(axis=0)
    chance = float(use @ use)
    disagreement = _disagreement_of_units(table, labels)
    value = 1.0 - float(disagreement.sum()) / n / (1.0 - chance)
    error = _fleiss_error(table / labels[:, None], disagreement, shared, value)
    concord = Concord(agreeing=int(np.count_nonzero(disagreement[shared] == 0)), n=n, chance=chance)
    quantile = student_quantile(confidence, max(len(table) - 1, 1))
    return beyond_chance(value, error, quantile, concord, confidence=confidence, method="Gwet's linearisation")


def beyond_chance(
    value: float, error: float, quantile: float, concord: Concord, *, confidence: float, method: str
) -> Estimate:
    """Return the estimate of a statistic that is corrected for chance.

    Args:
        value: The statistic.
        error: Its standard error.
        quantile: Standard errors to each side.
        concord: How far annotators agreed outright.
        confidence: Coverage of the interval; fraction.
        method: Where the standard error comes from.
    """
    low, high = corrected_for_chance(value, error, quantile, concord, confidence)
    return Estimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=concord.n,
        unit=CORRECTED,
        method=BY_WILSON if rests_on_wilson(value, error) else f"{method}, logarithm of 1 - value",
    )


def _likeness(n_categories: int, weights: Weights) -> Floats:
    """Return how much each pair of categories counts as agreement; shape (categories, categories)."""
    places = np.arange(n_categories, dtype=np.float64)
    distance = np.abs(places[:, None] - places[None, :]) / (n_categories - 1)
    match weights:
        case None:
            return np.eye(n_categories)
        case "linear":
            return 1.0 - distance
        case "quadratic":
            return 1.0 - distance**2
    message = f"`weights` must be None, `linear` or `quadratic`; got {weights!r}"
    raise InputError(message)


def _cohen_error(shares: Floats, likeness: Floats, value: float, chance: float) -> float:
    """Return the standard error of kappa times the root of n.

    sum p_ij (w_ij - (w_i. + w_.j)(1 - k))^2 - (k - pe (1 - k))^2, all over (1 - pe)^2.
    """
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    means = (likeness @ columns)[:, None] + (rows @ likeness)[None, :]
    spread = float((shares * (likeness - means * (1.0 - value)) ** 2).sum()) - (value - chance * (1.0 - value)) ** 2
    return math.sqrt(max(spread, 0.0)) / (1.0 - chance)


def _table(counts: ArrayLike) -> Floats:
    """Return the counts as an array, shape (units, categories)."""
    shape = "`counts` must be a table of shape (units, categories >= 2) without gaps"
    try:
        table = np.array(counts, dtype=np.float64)
    except (TypeError, ValueError):
        message = f"{shape}; got rows of different length, or no numbers"
        raise InputError(message) from None
    if table.shape == (0,):
        return table.reshape(0, 2)
    if table.ndim != 2 or table.shape[1] < 2:
        message = f"{shape}; got shape {table.shape}"
        raise InputError(message)
    if not np.all(np.isfinite(table)) or np.any(table < 0) or np.any(table != np.floor(table)):
        message = "`counts` must hold whole numbers of 0 or more: how many annotators gave a unit a category"
        raise InputError(message)
    return table


def _undefined_by_lack(table: Floats) -> Undefined:
    if len(table):
        message = "`fleiss_kappa` needs two annotators at least; every unit of `counts` has one label"
        raise InputError(message)
    return Undefined(reason=NO_SHARED_UNIT, unit=CORRECTED)


def _disagreement_of_units(table: Floats, labels: Floats) -> Floats:
    """Return the share of disagreeing pairs of labels of each unit, 0 where it has one label.

    (r^2 - sum of r_k^2) / (r (r - 1)), which is exactly 0 where all agree.
    """
    pairs = np.maximum(labels * (labels - 1.0), 1.0)
    disagreement: Floats = (labels**2 - (table**2).sum(axis=1)) / pairs
    return disagreement


def _fleiss_error(use: Floats, disagreement: Floats, shared: NDArray[np.bool_], value: float) -> float:
    """Return Gwet's standard error: the spread of each unit's contribution.

    k_i - 2 (1 - k)(pe_i - pe)/(1 - pe), with pe_i = sum of pi_k r_ik / r_i.
    """
    n = len(use)
    if n < 2:
        return 0.0
    means = use.mean(axis=0)
    chance = float(means @ means)
    agreement = np.where(shared, 1.0 - disagreement, 0.0)
    corrected = (agreement - chance * shared) / (1.0 - chance) * n / np.count_nonzero(shared)
    contributions = corrected - 2.0 * (1.0 - value) * (use @ means - chance) / (1.0 - chance)
    return math.sqrt(float(((contributions - value) ** 2).sum()) / (n * (n - 1)))
