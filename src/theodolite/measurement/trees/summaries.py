"""The arithmetic of summaries: ARIA's Table 2 as it is printed, and the same for many replicates at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.measurement.trees.methods import (
    MAX,
    MEAN,
    MEDIAN,
    PRODUCT,
    SCALE_NORMALISED_MEDIAN,
    Combine,
    SummaryMethod,
)

Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""Weights that differ by less, relative to their sum, are equal: thirds do not add up to one in floats."""


def table_mean(values: Sequence[float], weights: Sequence[float] | None = None) -> float | None:
    """Return Table 2's weighted arithmetic mean: sum of w * x over sum of w.

    Args:
        values: Numbers, shape (n,).
        weights: Their weights, 0 or more, shape (n,); equal where left out.

    Returns:
        None without values, or where all weights are 0: that is no data, not 0.

    Raises:
        InputError: If the lengths differ, or a weight is below 0.

    Example:
        >>> table_mean([1, 3], [1, 0])
        1.0
        >>> table_mean([1, 3], [0, 0]) is None
        True

    Source:
        NIST AI 700-1 (ARIA programme evaluation design document, 2024), Table 2.
    """
    shares = [1.0] * len(values) if weights is None else list(weights)
    if len(shares) != len(values) or any(not share >= 0 for share in shares):
        message = f"`weights` must be as many as `values` ({len(values)}), none below 0; got {shares}"
        raise InputError(message)
    total = sum(shares)
    return sum(w * x for w, x in zip(shares, values, strict=True)) / total if total else None


def table_max(values: Sequence[float]) -> float | None:
    """Return Table 2's max: the value that no other exceeds; None without values.

    The table gives the set of all values that no other exceeds; they are equal.
    It presumes that lower is better, which designs are checked for.

    Example:
        >>> table_max([0.2, 0.7, 0.7])
        0.7

    Source:
        As for `table_mean`, with footnote 19.
    """
    return float(max(values)) if len(values) else None


def table_median(values: Sequence[float]) -> float | None:
    """Return Table 2's median: the middle value in order, or the mean of the two; None without values.

    The table prints the index of the middle one as n+1 where (n+1)/2 is meant.

    Example:
        >>> table_median([5, 1, 2]), table_median([4, 1, 2, 3])
        (2.0, 2.5)

    Source:
        As for `table_mean`.
    """
    ordered = sorted(values)
    middle, odd = divmod(len(ordered), 2)
    if not ordered:
        return None
    return float(ordered[middle]) if odd else (ordered[middle - 1] + ordered[middle]) / 2


def scale_normalised_median(values: Sequence[float], *, highest: float) -> float | None:
    """Return Table 2's scale-normalised median: the median over the top of the scale, literally.

    The top is that of the scale, not of the values that occur. The formula
    presumes a scale that begins at 0 (footnote 21): on a scale of 1 to 10 the best
    answer gives .1 and not 0. Designs must rescale such answers first, in a node
    that everybody can see; this function does not.

    Args:
        values: Numbers, shape (n,).
        highest: Top of the scale; above 0.

    Example:
        >>> scale_normalised_median([1, 3, 5], highest=5)
        0.6

    Source:
        As for `table_mean`.
    """
    if not highest > 0:
        message = f"`highest`, the top of the scale, must be above 0; got {highest}"
        raise InputError(message)
    middle = table_median(values)
    return None if middle is None else middle / highest


def summarise(method: SummaryMethod, values: Floats, weights: Floats, *, highest: float | None) -> Floats:
    """Return one number a row; NaN where there is no data.

    A weight of 0 takes a child out, whatever the summary: it does not matter to
    this node. NaN among the values is a child without data, and is left out too.

    Args:
        method: The summary.
        values: Shape (rows, children), or (1, children) where all rows have the same.
        weights: Shape (rows, children).
        highest: Top of the children's scale; for the scale-normalised median.
    """
    rows = max(values.shape[0], weights.shape[0])
    if not values.shape[1]:
        return np.full(rows, np.nan)
    if method.combine is not None:
        return _combined(method.combine, values, weights, rows)
    result = _ROWWISE[method.name](values, weights)
    return np.asarray(result / highest) if method.name == SCALE_NORMALISED_MEDIAN and highest else result


def _present(values: Floats, weights: Floats) -> NDArray[np.bool_]:
    return (weights > 0) & ~np.isnan(values)


def _means(values: Floats, weights: Floats) -> Floats:
    kept = np.where(_present(values, weights), weights, 0.0)
    total = kept.sum(axis=1)
    summed = np.einsum("ij,ij->i", np.broadcast_to(np.nan_to_num(values), kept.shape), kept)
    means: Floats = np.divide(summed, total, out=np.full(total.shape, np.nan), where=total > 0)
    return means


def _maxima(values: Floats, weights: Floats) -> Floats:
    highest = np.where(_present(values, weights), values, -np.inf).max(axis=1)
    return np.asarray(np.where(np.isneginf(highest), np.nan, highest))


def _medians(values: Floats, weights: Floats) -> Floats:
    """Return weighted medians: where exactly half the weight lies below, the mean of the two in the middle."""
    kept = np.where(_present(values, weights), weights, 0.0)
    order = np.argsort(values, axis=1, kind="stable")  # NaN goes last, and weighs nothing
    if values.shape[0] == 1:
        ordered, kept = values[:, order[0]], kept[:, order[0]]
    else:
        ordered, kept = np.take_along_axis(values, order, axis=1), np.take_along_axis(kept, order, axis=1)
    running = np.cumsum(kept, axis=1)
    total = running[:, -1:]
    below = np.argmax(running >= total * (0.5 - ROUNDING), axis=1)[:, None]
    above = np.argmax(running > total * (0.5 + ROUNDING), axis=1)[:, None]
    ordered = np.broadcast_to(ordered, kept.shape)
    # With a first weight of 0 the place of "half of nothing" would be taken for a value.
    middle = (np.take_along_axis(ordered, below, axis=1) + np.take_along_axis(ordered, above, axis=1))[:, 0] / 2
    return np.where(total[:, 0] > 0, middle, np.nan)


def _products(values: Floats, weights: Floats) -> Floats:
    """Return products; a factor of 0 makes the product 0, and any other factor without data leaves none.

    Where nothing was released, nobody can say how far the release went, and the risk is 0 all the same. ADR-0050.
    """
    factors = np.where(weights > 0, np.broadcast_to(values, weights.shape), 1.0)
    products = np.where((factors == 0).any(axis=1), 0.0, factors.prod(axis=1))
    return np.where((weights > 0).any(axis=1), products, np.nan)


_ROWWISE: Mapping[str, Callable[[Floats, Floats], Floats]] = MappingProxyType(
    {MEAN: _means, MAX: _maxima, MEDIAN: _medians, SCALE_NORMALISED_MEDIAN: _medians, PRODUCT: _products}
)


def _combined(combine: Combine, values: Floats, weights: Floats, rows: int) -> Floats:
    results = np.full(rows, np.nan)
    present = np.broadcast_to(_present(values, weights), (rows, values.shape[1]))
    wide, shares = np.broadcast_to(values, present.shape), np.broadcast_to(weights, present.shape)
    for row in range(rows):
        kept = present[row]
        if kept.any():
            number = combine(wide[row, kept].tolist(), shares[row, kept].tolist())
            results[row] = np.nan if number is None else number
    return results
