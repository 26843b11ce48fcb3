"""Plain agreement, majority labels, and precision, recall and F1 against a reference."""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import NO_PAIR, NO_SHARED_UNIT
from theodolite.measurement.interval import Ends, check_confidence
from theodolite.measurement.labels import (
    ClusterIds,
    ClusterSums,
    Label,
    check_labels,
    check_lengths,
    cluster_sizes,
    clusters_of_pairs,
    label_text,
    paired,
    scale_points,
    selected_clusters,
)
from theodolite.measurement.proportion import DIALOGUES, defect_rate

Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""Slack for distances such as 0.4 - 0.3, which is above 0.1 in floats; scale points."""


def exact_agreement(
    a: Sequence[Label], b: Sequence[Label], *, clusters: ClusterIds | None = None, confidence: float = 0.95
) -> Estimate | Undefined:
    """Estimate the share of units to which two annotators give the same label.

    The chance level is stated with it, since it can be high: the agreement that two
    unrelated annotators would reach if they used the labels as often as these two.

    Args:
        a: Labels of the first annotator, one per unit; None or NaN = missing.
        b: Labels of the second annotator, of the same units in the same order.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

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
    positions = [(codes[first], codes[second]) for first, second in pairs]
    return _agreement(positions, 0.0, clusters_of_pairs(a, b, clusters), confidence)


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
        confidence: Coverage; fraction in (0, 1).

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
        The corresponding chance-corrected statistics are the weighted coefficients of Gwet (2014),
        Handbook of Inter-Rater Reliability, 4th ed., chapter 3, with weight 1
        within the band and 0 outside.
    """
    check_confidence(confidence)
    if not (math.isfinite(within) and within >= 0):
        message = f"`within` must be a distance of 0 or more scale points; got {within!r}"
        raise InputError(message)
    positions = _positions(a, b, categories)
    return _agreement(positions, within + ROUNDING, clusters_of_pairs(a, b, clusters), confidence)


def _positions(a: Sequence[Label], b: Sequence[Label], categories: Sequence[Label] | None) -> list[tuple[float, float]]:
    """Return the positions of both labels of each pair on the scale; scale points."""
    if categories is not None:
        pairs, points = paired(a, b), scale_points(categories)
        check_labels(pairs, points)
        position_of = {point: float(number) for number, point in enumerate(points)}
        return [(position_of[first], position_of[second]) for first, second in pairs]
    check_lengths(a, b)
    present = [(x, y) for x, y in zip(a, b, strict=True) if label_text(x) is not None and label_text(y) is not None]
    return [(_number(first), _number(second)) for first, second in present]


def _number(label: Label) -> float:
    if isinstance(label, numbers.Real) and math.isfinite(label):
        return float(label)
    message = f"relaxed agreement needs numbers, or `categories` with the scale in order; got the label {label!r}"
    raise InputError(message)


def _agreement(
    positions: Sequence[tuple[float, float]], within: float, clusters: ClusterIds | None, confidence: float
) -> Estimate | Undefined:
    if not positions:
        return Undefined(reason=NO_PAIR, unit=DIALOGUES, method="wilson")
    first, second = np.array(positions, dtype=np.float64).T
    agree = np.abs(first - second) <= within
    sizes = cluster_sizes(agree.tolist(), clusters)
    share = defect_rate(int(np.count_nonzero(agree)), len(positions), confidence=confidence, clusters=sizes)
    return replace(share, chance=_chance(first, second, within)) if isinstance(share, Estimate) else share


def _chance(first: Floats, second: Floats, within: float) -> float:
    """Return the agreement of random pairs: the sum of p(i) q(j) over i, j at most `within` apart."""
    firsts, first_counts = np.unique(first, return_counts=True)
    seconds, second_counts = np.unique(second, return_counts=True)
    near = np.abs(firsts[:, None] - seconds[None, :]) <= within
    return min(float(first_counts @ near @ second_counts) / (first.size * second.size), 1.0)


FEWEST_LABELS: Final = 2
"""Smallest number of labels for agreement or a majority; count."""


def unanimity(
    ratings: Sequence[Sequence[Label]], *, clusters: ClusterIds | None = None, confidence: float = 0.95
) -> Estimate | Undefined:
    """Estimate the share of units on which all annotators agree.

    Args:
        ratings: shape (annotators, units); labels, None or NaN = missing. Units
            with fewer than two labels are omitted.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Unit: fraction of dialogues, the interval of `defect_rate`. `chance` is
        value for annotators who draw labels from the common distribution:
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
    has_two = [len(labels) >= FEWEST_LABELS for labels in units]
    ids = selected_clusters(clusters, has_two)
    shared = [labels for labels, keep in zip(units, has_two, strict=True) if keep]
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
        The most frequent label of each unit; None if labels tie for the most
        or fewer than two annotators gave one.

    Raises:
        InputError: If rows differ in length.

    Example:
        >>> majority_labels([["y", "n", "y"], ["y", "y", None], ["n", "y", None]])
        ['y', 'y', None]

    Source:
        Plurality vote; on its hidden disagreement: Davani, Diaz, Prabhakaran (2022),
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
    """Return how often all labels of a unit would be equal if drawn from the common distribution."""
    use = Counter(label for labels in units for label in labels)
    total = use.total()
    by_size = {
        size: sum((count / total) ** size for count in use.values()) for size in {len(labels) for labels in units}
    }
    return min(sum(by_size[len(labels)] for labels in units) / len(units), 1.0)


F1_UNIT: Final = "F1: harmonic mean of precision and recall; 1 is perfect, 0 is no label right"
"""Unit of F1 and of its average."""

MACRO_METHOD: Final = "MOVER with the delta method's correlations"
"""Name of the interval of macro-F1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassAccuracy:
    """Recognition of one label.

    Attributes:
        label: The label.
        precision: Share of the annotator's units with the label to which the reference gives it too.
        recall: Share of the reference's units with the label to which the annotator gives it too.
        f1: Harmonic mean of both.
        reference_count: Units with the label according to the reference; count.
        given_count: Units with the label according to the annotator; count.
    """

    label: str
    precision: Estimate | Undefined
    recall: Estimate | Undefined
    f1: Estimate | Undefined
    reference_count: int
    given_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassificationReport:
    """Recognition of each label of a scale by an annotator.

    Attributes:
        classes: One entry for each label of the scale, in its order.
        macro_f1: The mean F1 of all labels that occur, each with equal weight.
        n: Units with both labels; count.
    """

    classes: tuple[ClassAccuracy, ...]
    macro_f1: Estimate | Undefined
    n: int


def classification_report(
    reference: Sequence[Label],
    given: Sequence[Label],
    *,
    categories: Sequence[Label],
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> ClassificationReport:
    """Estimate precision, recall and F1 of each label against a reference, and macro-F1.

    F1 is a monotone function of the share s of units with the label on both
    sides among the units with it on either side: F1 = 2s / (1 + s). The ends of
    the interval of that share become the ends of F1, so that no interval leaves
    0..1 or shrinks to a point.

    Args:
        reference: Labels that count as true, one a unit; None or NaN = missing.
        given: Labels of the annotator, for the same units in the same order.
        categories: The full scale in order, used or not.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Units without one of the two labels are omitted. A label that neither
        side uses has no F1 and does not enter macro-F1, as `Undefined` states.

    Raises:
        InputError: If the lengths differ or a label is not on the scale.

    Example:
        >>> report = classification_report([0, 1, 2, 2, 2], [0, 0, 2, 2, 1], categories=[0, 1, 2])
        >>> [round(one.f1.value, 2) for one in report.classes], round(report.macro_f1.value, 2)
        ([0.67, 0.0, 0.8], 0.49)

    Source:
        F1 as a function of the shared units: Hand, Christen, Kirielle (2021),
        Machine Learning 110:451-456, doi:10.1007/s10994-021-05964-1; its
        interval: Lam, Gopal, Qian (2023), arXiv:2309.14621 ("Wilson indirect");
        correlations of F1 scores: Takahashi, Yamamoto, Kuchiba, Koyama (2022),
        Applied Intelligence 52:4961-4972, doi:10.1007/s10489-021-02635-5;
        intervals of sums (MOVER): Zou, Donner (2008), Statistics in Medicine
        27:1693-1702, doi:10.1002/sim.3095.
    """
    check_confidence(confidence)
    pairs, points = paired(reference, given), scale_points(categories)
    check_labels(pairs, points)
    counted = _Counted.of_pairs(pairs, points, clusters_of_pairs(reference, given, clusters), confidence)
    return ClassificationReport(
        classes=tuple(counted.class_accuracy(column, label) for column, label in enumerate(points)),
        macro_f1=counted.macro_f1(),
        n=len(pairs),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """Units with each label, shape (units, categories), for the reference and for the annotator."""

    true: NDArray[np.bool_]
    given: NDArray[np.bool_]
    clusters: ClusterIds | None
    confidence: float

    @classmethod
    def of_pairs(
        cls, pairs: Sequence[tuple[str, str]], points: Sequence[str], clusters: ClusterIds | None, confidence: float
    ) -> _Counted:
        column = {point: number for number, point in enumerate(points)}
        codes = np.array([(column[first], column[second]) for first, second in pairs], dtype=np.int64).reshape(-1, 2)
        every = np.arange(len(points))
        return cls(true=codes[:, :1] == every, given=codes[:, 1:] == every, clusters=clusters, confidence=confidence)

    def class_accuracy(self, column: int, label: str) -> ClassAccuracy:
        true, given = self.true[:, column], self.given[:, column]
        return ClassAccuracy(
            label=label,
            precision=self._share(true & given, given, f"The annotator gave no dialogue the label `{label}`."),
            recall=self._share(true & given, true, f"The reference gives no dialogue the label `{label}`."),
            f1=self._f1(column, label),
            reference_count=int(np.count_nonzero(true)),
            given_count=int(np.count_nonzero(given)),
        )

    def macro_f1(self) -> Estimate | Undefined:
        scores = [score for column in range(self.true.shape[1]) if isinstance(score := self._f1(column), Estimate)]
        if not scores:
            return Undefined(reason=NO_PAIR, unit=F1_UNIT)
        value = float(np.mean([score.value for score in scores]))
        low, high = self._mover(scores)
        return Estimate(
            value=value,
            low=min(max(value - low, 0.0), value),
            high=max(min(value + high, 1.0), value),
            confidence=self.confidence,
            n=len(self.true),
            unit=F1_UNIT,
            method=MACRO_METHOD,
            n_clusters=None if self.clusters is None else len(self._shares_by_cluster()),
        )

    def _share(self, hits: NDArray[np.bool_], units: NDArray[np.bool_], otherwise: str) -> Estimate | Undefined:
        n = int(np.count_nonzero(units))
        if n == 0:
            return Undefined(reason=otherwise, unit=DIALOGUES)
        sizes = cluster_sizes(hits[units].tolist(), selected_clusters(self.clusters, units.tolist()))
        return defect_rate(int(np.count_nonzero(hits)), n, clusters=sizes, confidence=self.confidence)

    def _f1(self, column: int, label: str = "") -> Estimate | Undefined:
        true, given = self.true[:, column], self.given[:, column]
        shared = self._share(true & given, true | given, f"Nobody gave a dialogue the label `{label}`.")
        if isinstance(shared, Undefined):
            return replace(shared, unit=F1_UNIT)
        return replace(
            shared,
            value=_f1_of(shared.value),
            low=None if shared.low is None else _f1_of(shared.low),
            high=None if shared.high is None else _f1_of(shared.high),
            unit=F1_UNIT,
            method=f"{shared.method} on the shared units",
            count=None,
        )

    def _mover(self, scores: Sequence[Estimate]) -> Ends:
        """Return the half-widths of the interval of the mean of F1 scores, below and above it.

        The root of sum rho_cd d_c d_d over all pairs of labels, divided by their number; d_c is the reach of
        the label's own interval. If a label's score does not vary, its correlation is unknown and taken as 1.
        """
        alike = self._correlations()
        reaches = [
            np.array([score.value - (score.value if score.low is None else score.low) for score in scores]),
            np.array([(score.value if score.high is None else score.high) - score.value for score in scores]),
        ]
        below, above = (math.sqrt(max(float(reach @ alike @ reach), 0.0)) / len(scores) for reach in reaches)
        return below, above

    def _correlations(self) -> Floats:
        """Return the correlations of the F1 scores of the labels that occur, shape (labels, labels)."""
        parts = self._shares_by_cluster()
        spread = parts.T @ parts
        errors = np.sqrt(np.diag(spread))
        with np.errstate(divide="ignore", invalid="ignore"):
            alike: Floats = spread / np.outer(errors, errors)
        return np.where(np.isfinite(alike), alike, 1.0)

    def _shares_by_cluster(self) -> Floats:
        """Return each cluster's part of the linearised F1, (2 tp - F1 n) / sum n; shape (clusters, labels)."""
        used = (self.true | self.given).any(axis=0)
        true, given = self.true[:, used].astype(np.float64), self.given[:, used].astype(np.float64)
        sizes = (true + given).sum(axis=0)
        scores = 2.0 * (true * given).sum(axis=0) / sizes
        units: Floats = (2.0 * true * given - scores * (true + given)) / sizes
        return ClusterSums.of_units(units, self.clusters).parts


def _f1_of(share: float) -> float:
    """Return F1 from the share of units with the label on both sides among those with it on either: 2s / (1 + s)."""
    return 2.0 * share / (1.0 + share)
