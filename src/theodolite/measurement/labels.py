"""Labels of the same units by two annotators: checks, pairing, and the confusion matrix."""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import ConfusionMatrix
from theodolite.domain.fault import did_you_mean
from theodolite.measurement.clusters import ClusterIds, selected_clusters

Label: TypeAlias = "str | float | None"
"""A label of the guideline's scale; None and NaN mean that there is none."""

NO_PAIR: Final = "No dialogue has a label of both annotators."
"""Why an agreement of nobody with nobody is undefined."""

SAME_ANSWER: Final = (
    "All gave the same answer everywhere, so chance-corrected agreement cannot be computed."
    " That is not perfect and not poor: it is unknown."
)
"""Why agreement beyond chance is undefined where only one label occurs."""


def label_text(label: Label) -> str | None:
    """Return the label as text (4 and 4.0 are both `4`), or None where there is none."""
    if label is None or isinstance(label, str):
        return label
    # Scalars of arrays say by `item` what they are; their booleans are no numbers otherwise.
    label = label.item() if hasattr(label, "item") else label
    if not isinstance(label, numbers.Real):
        message = f"a label must be a text, a number or None; got {label!r}"
        raise InputError(message)
    number = float(label)
    if math.isnan(number):
        return None
    return str(int(number)) if number.is_integer() else str(number)


def paired(a: Sequence[Label], b: Sequence[Label]) -> list[tuple[str, str]]:
    """Return the pairs of labels, without units that either annotator left out.

    Raises:
        InputError: If the annotators do not label the same units.
    """
    check_lengths(a, b)
    texts = ((label_text(first), label_text(second)) for first, second in zip(a, b, strict=True))
    return [(first, second) for first, second in texts if first is not None and second is not None]


def clusters_of_pairs(a: Sequence[Label], b: Sequence[Label], clusters: ClusterIds | None) -> ClusterIds | None:
    """Return the clusters of the units that both annotators labelled; None where there are no ids.

    Raises:
        InputError: If there is not one id a unit.
    """
    both = [
        label_text(first) is not None and label_text(second) is not None for first, second in zip(a, b, strict=True)
    ]
    return selected_clusters(clusters, both)


def check_lengths(a: Sequence[Label], b: Sequence[Label]) -> None:
    """Reject annotators that do not label the same units.

    Raises:
        InputError: If one gives more labels than the other.
    """
    if len(a) != len(b):
        message = (
            f"`a` and `b` must label the same units; got {len(a)} and {len(b)} labels. Put None where one is missing"
        )
        raise InputError(message)


def scale_points(categories: Sequence[Label]) -> tuple[str, ...]:
    """Return the points of a scale as texts.

    Raises:
        InputError: If there are fewer than two, or one stands there twice.
    """
    points = tuple(str(label_text(category)) for category in categories)
    if len(points) < 2 or len(set(points)) < len(points):
        message = f"`categories` must be two different labels at least, all of the scale in order; got {list(points)}"
        raise InputError(message)
    return points


def check_labels(pairs: Sequence[tuple[str, str]], points: Sequence[str]) -> None:
    """Reject labels that the scale does not have.

    Raises:
        InputError: If there are such labels; all are named.
    """
    known = set(points)
    strange = sorted({label for pair in pairs for label in pair if label not in known})
    if strange:
        named = ", ".join(f"`{label}`{did_you_mean(label, points)}" for label in strange)
        message = f"`categories` must hold every label, used or not: {list(points)}; got {named}. Give the full scale"
        raise InputError(message)


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
