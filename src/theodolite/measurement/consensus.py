"""Consensus of several annotators: whether all agree on a unit, and what most of them say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.beyond_chance import NO_SHARED_UNIT
from theodolite.measurement.clusters import ClusterIds, cluster_sizes, kept_clusters
from theodolite.measurement.interval import check_confidence
from theodolite.measurement.pairs import Label, label_text
from theodolite.measurement.proportion import DIALOGUES, defect_rate

FEWEST_LABELS: Final = 2
"""Labels below which nobody can agree or outvote anybody; count."""


def unanimity(
    ratings: Sequence[Sequence[Label]], *, clusters: ClusterIds | None = None, confidence: float = 0.95
) -> Estimate | Undefined:
    """Estimate the share of units on which all annotators agree.

    Args:
        ratings: shape (annotators, units); labels, None or NaN = missing. Units
            with fewer than two labels are left out.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        Unit: fraction of dialogues, the interval of `defect_rate`. `chance` is
        what annotators would reach who draw labels from the common use:
        the mean over units of sum p_k ** labels. `Undefined` when no unit has
        two labels.

    Raises:
        InputError: If rows differ in length.

    Example:
        >>> agreed = unanimity([["y", "n", "n"], ["y", "n", "y"], ["y", None, "n"]])
        >>> agreed.count, agreed.n
        (2, 3)

    Source:
        The proportion of complete agreement: Fleiss, Levin, Paik (2003),
        Statistical Methods for Rates and Proportions, 3rd ed., chapter 18,
        doi:10.1002/0471445428.
    """
    check_confidence(confidence)
    units = _labels_by_unit(ratings)
    kept = [len(labels) >= FEWEST_LABELS for labels in units]
    ids = kept_clusters(clusters, kept)
    shared = [labels for labels, keep in zip(units, kept, strict=True) if keep]
    if not shared:
        return Undefined(reason=NO_SHARED_UNIT, unit=DIALOGUES)
    agree = [len(set(labels)) == 1 for labels in shared]
    share = defect_rate(sum(agree), len(agree), confidence=confidence, clusters=cluster_sizes(agree, ids))
    return replace(share, chance=_unanimity_chance(shared)) if isinstance(share, Estimate) else share


def majority_labels(ratings: Sequence[Sequence[Label]]) -> list[str | None]:
    """Return the label that most annotators give each unit.

    Args:
        ratings: shape (annotators, units); labels, None or NaN = missing.

    Returns:
        The most frequent label of each unit; None where labels tie for the most
        or fewer than two annotators gave one.

    Raises:
        InputError: If rows differ in length.

    Example:
        >>> majority_labels([["y", "n", "y"], ["y", "y", None], ["n", "y", None]])
        ['y', 'y', None]

    Source:
        Plurality vote; on what it hides: Davani, Diaz, Prabhakaran (2022),
        Transactions of the Association for Computational Linguistics 10:92-110,
        doi:10.1162/tacl_a_00449.
    """
    return [_most_frequent(labels) for labels in _labels_by_unit(ratings)]


def _labels_by_unit(ratings: Sequence[Sequence[Label]]) -> list[list[str]]:
    """Return the labels of each unit, without the missing ones."""
    lengths = sorted({len(row) for row in ratings})
    if len(lengths) > 1:
        message = f"`ratings` must have rows of equal length, one label a unit; got lengths {lengths}"
        raise InputError(message)
    texts = [[label_text(label) for label in row] for row in ratings]
    return [[text for text in unit if text is not None] for unit in zip(*texts, strict=True)]


def _most_frequent(labels: Sequence[str]) -> str | None:
    if len(labels) < FEWEST_LABELS:
        return None
    (first, most), *rest = Counter(labels).most_common(2)
    return None if rest and rest[0][1] == most else first


def _unanimity_chance(units: Sequence[Sequence[str]]) -> float:
    """Return how often all labels of a unit would be equal if drawn from the common use."""
    use = Counter(label for labels in units for label in labels)
    total = use.total()
    by_size = {size: sum((count / total) ** size for count in use.values()) for size in {len(one) for one in units}}
    return min(sum(by_size[len(labels)] for labels in units) / len(units), 1.0)
