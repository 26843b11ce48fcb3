"""Confusion matrices: which label of one annotator met which of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.estimate import ConfusionMatrix
from theodolite.measurement.pairs import Label, check_labels, paired, scale_points


def confusion_matrix(a: Sequence[Label], b: Sequence[Label], *, categories: Sequence[Label]) -> ConfusionMatrix:
    """Count how often two annotators gave which pair of labels.

    Args:
        a: Labels of the first annotator, one a unit; None or NaN = missing.
        b: Labels of the second annotator, of the same units in the same order.
        categories: The full scale in order, used or not.

    Returns:
        Counts with `a` in the rows; units that either left out are not in it.

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
