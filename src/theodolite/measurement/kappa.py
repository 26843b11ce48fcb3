"""Kappa: agreement of two or more annotators beyond chance, on categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.agreement_weights import agreement_weights
from theodolite.measurement.beyond_chance import CORRECTED, NO_SHARED_UNIT, beyond_chance
from theodolite.measurement.clusters import ClusterIds, ClusterSums, cluster_sizes
from theodolite.measurement.confusion import confusion_matrix, shares_of
from theodolite.measurement.interval import Concord, check_confidence, normal_quantile, student_quantile
from theodolite.measurement.pairs import NO_PAIR, SAME_ANSWER, Label, clusters_of_pairs, paired, scale_points
from theodolite.measurement.rating_table import RatingTable, fleiss_chance

Floats = NDArray[np.float64]
KappaWeights = Literal["linear", "quadratic"] | None


def cohen_kappa(
    a: Sequence[Label],
    b: Sequence[Label],
    *,
    categories: Sequence[Label],
    weights: KappaWeights = None,
    clusters: ClusterIds | None = None,
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
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; the interval is the delta method's (over
        clusters the jackknife's, with Student's t) on the logarithm of 1 - kappa.
        `Undefined` when no unit has both labels or both annotators gave one and
        the same label throughout.

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
    alike = _weights_of(len(matrix.categories), weights)
    if matrix.n == 0:
        return Undefined(reason=NO_PAIR, unit=CORRECTED)
    shares = shares_of(matrix)
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    # Both constant on the same label is the only way to a chance of 1.
    if np.count_nonzero(rows + columns) == 1:
        return Undefined(reason=SAME_ANSWER, n=matrix.n, unit=CORRECTED)
    value = float(_cohen(shares[None], alike)[0])
    met = paired(a, b)
    clusters = clusters_of_pairs(a, b, clusters)
    concord = Concord(
        agreeing=sum(row[place] for place, row in enumerate(matrix.counts)),
        n=matrix.n,
        chance=float(rows @ columns),
        clusters=cluster_sizes([first == second for first, second in met], clusters),
    )
    if clusters is None:
        error = _cohen_error(shares, alike, value, float(rows @ alike @ columns)) / math.sqrt(matrix.n)
        quantile, method = normal_quantile(confidence), "delta method"
    else:
        sums = ClusterSums.of_units(_cells(met, scale_points(categories)), clusters)
        error = sums.jackknife_error(lambda parts: _cohen(parts.reshape(-1, *shares.shape), alike))
        quantile, method = student_quantile(confidence, max(sums.n - 1, 1)), "jackknife over clusters"
    return beyond_chance(value, error, quantile, concord, confidence=confidence, method=method)


def fleiss_kappa(
    counts: ArrayLike,
    *,
    weights: str = "identity",
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the agreement of several annotators beyond chance.

    Units may have different numbers of labels (Gwet's form); where all have the
    same number this is Fleiss' kappa itself. Units with a single label tell
    about the use of the categories only.

    Args:
        counts: shape (units, categories), whole numbers; how many annotators
            gave unit i the category k.
        weights: `identity` takes categories as unordered; `linear`, `quadratic`,
            `ordinal` and `band` count neighbours on a scale as near.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; n counts the units with two labels or more;
        the interval is Gwet's linearisation (over clusters the jackknife) on the
        logarithm of 1 - kappa, with Student's t. `Undefined` when no unit has two labels or one category only
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
    ratings = RatingTable.of_counts(table, weights, clusters)
    if ratings.agreeing.size == 0:
        return _undefined_by_lack(table[table.sum(axis=1) > 0])
    if np.count_nonzero(table.sum(axis=0)) == 1:
        return Undefined(reason=SAME_ANSWER, n=int(ratings.agreeing.size), unit=CORRECTED)
    return ratings.beyond(fleiss_chance, confidence=confidence)


def _weights_of(n_categories: int, weights: KappaWeights) -> Floats:
    """Return how much each pair of categories counts as agreement; shape (categories, categories)."""
    if weights not in {None, "linear", "quadratic"}:
        message = f"`weights` must be None, `linear` or `quadratic`; got {weights!r}"
        raise InputError(message)
    return agreement_weights(n_categories, weights or "identity")


def _cohen(tables: Floats, alike: Floats) -> Floats:
    """Return kappa of confusion matrices, shape (..., categories, categories): 1 - sum p (1 - w) / (1 - pe)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = tables / tables.sum(axis=(-2, -1), keepdims=True)
        chance = np.einsum("...k,kl,...l->...", shares.sum(axis=-1), alike, shares.sum(axis=-2))
        kappas: Floats = 1.0 - (shares * (1.0 - alike)).sum(axis=(-2, -1)) / (1.0 - chance)
    return kappas


def _cells(met: Sequence[tuple[str, str]], points: Sequence[str]) -> Floats:
    """Return each pair's cell of the confusion matrix, shape (pairs, categories squared)."""
    place = {point: number for number, point in enumerate(points)}
    cells = np.zeros((len(met), len(points) ** 2))
    for row, (first, second) in enumerate(met):
        cells[row, place[first] * len(points) + place[second]] = 1.0
    return cells


def _cohen_error(shares: Floats, alike: Floats, value: float, chance: float) -> float:
    """Return the standard error of kappa times the root of n.

    sum p_ij (w_ij - (w_i. + w_.j)(1 - k))^2 - (k - pe (1 - k))^2, all over (1 - pe)^2.
    """
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    means = (alike @ columns)[:, None] + (rows @ alike)[None, :]
    spread = float((shares * (alike - means * (1.0 - value)) ** 2).sum()) - (value - chance * (1.0 - value)) ** 2
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
