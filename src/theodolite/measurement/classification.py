"""Classification: precision, recall and F1 of each label against a reference, and their macro average."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.clusters import ClusterIds, ClusterSums, cluster_sizes, kept_clusters
from theodolite.measurement.interval import Ends, check_confidence
from theodolite.measurement.pairs import NO_PAIR, Label, check_labels, clusters_of_pairs, paired, scale_points
from theodolite.measurement.proportion import DIALOGUES, defect_rate

Floats = NDArray[np.float64]

F1_UNIT: Final = "F1: harmonic mean of precision and recall; 1 is perfect, 0 is no label right"
"""Unit of F1 and of its average."""

MACRO_METHOD: Final = "MOVER with the delta method's correlations"
"""Name of the interval of macro-F1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassAccuracy:
    """How well one label is recognised.

    Attributes:
        label: The label.
        precision: Of the units that the annotator gave the label, the share that the reference gives it too.
        recall: Of the units that the reference gives the label, the share that the annotator gives it too.
        f1: Harmonic mean of both.
        reference_count: Units that the reference gives the label; count.
        given_count: Units that the annotator gives the label; count.
    """

    label: str
    precision: Estimate | Undefined
    recall: Estimate | Undefined
    f1: Estimate | Undefined
    reference_count: int
    given_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassificationReport:
    """How well an annotator recognises each label of a scale.

    Attributes:
        classes: One for each label of the scale, in its order.
        macro_f1: The mean F1 of all labels that occur, each label counting alike.
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
        given: Labels of the annotator, of the same units in the same order.
        categories: The full scale in order, used or not.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        Units without one of the two labels are left out. A label that neither
        side uses has no F1 and does not enter macro-F1; `Undefined` says so.

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
        classes=tuple(counted.class_accuracy(place, label) for place, label in enumerate(points)),
        macro_f1=counted.macro_f1(),
        n=len(pairs),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """Which units have each label, shape (units, categories), on the side of the reference and of the annotator."""

    true: NDArray[np.bool_]
    given: NDArray[np.bool_]
    clusters: ClusterIds | None
    confidence: float

    @classmethod
    def of_pairs(
        cls, pairs: Sequence[tuple[str, str]], points: Sequence[str], clusters: ClusterIds | None, confidence: float
    ) -> _Counted:
        place = {point: number for number, point in enumerate(points)}
        codes = np.array([(place[first], place[second]) for first, second in pairs], dtype=np.int64).reshape(-1, 2)
        every = np.arange(len(points))
        return cls(true=codes[:, :1] == every, given=codes[:, 1:] == every, clusters=clusters, confidence=confidence)

    def class_accuracy(self, place: int, label: str) -> ClassAccuracy:
        true, given = self.true[:, place], self.given[:, place]
        return ClassAccuracy(
            label=label,
            precision=self._share(true & given, given, f"The annotator gave no dialogue the label `{label}`."),
            recall=self._share(true & given, true, f"The reference gives no dialogue the label `{label}`."),
            f1=self._f1(place, label),
            reference_count=int(np.count_nonzero(true)),
            given_count=int(np.count_nonzero(given)),
        )

    def macro_f1(self) -> Estimate | Undefined:
        scores = [score for place in range(self.true.shape[1]) if isinstance(score := self._f1(place), Estimate)]
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
        sizes = cluster_sizes(hits[units].tolist(), kept_clusters(self.clusters, units.tolist()))
        return defect_rate(int(np.count_nonzero(hits)), n, clusters=sizes, confidence=self.confidence)

    def _f1(self, place: int, label: str = "") -> Estimate | Undefined:
        true, given = self.true[:, place], self.given[:, place]
        shared = self._share(true & given, true | given, f"Nobody gave a dialogue the label `{label}`.")
        if isinstance(shared, Undefined):
            return replace(shared, unit=F1_UNIT)
        return replace(
            shared,
            value=_f1_of(shared.value),
            low=None if shared.low is None else _f1_of(shared.low),
            high=None if shared.high is None else _f1_of(shared.high),
            unit=F1_UNIT,
            method=f"{shared.method} of the shared units",
            count=None,
        )

    def _mover(self, scores: Sequence[Estimate]) -> Ends:
        """Return how far the interval of the mean of F1 scores reaches below and above it.

        The root of sum rho_cd d_c d_d over all pairs of labels, divided by their number; d_c is how far
        the label's own interval reaches. Where a label's score does not vary its correlation is unknown and taken as 1.
        """
        alike = self._correlations()
        reaches = [
            np.array([score.value - (score.value if score.low is None else score.low) for score in scores]),
            np.array([(score.value if score.high is None else score.high) - score.value for score in scores]),
        ]
        below, above = (math.sqrt(max(float(reach @ alike @ reach), 0.0)) / len(scores) for reach in reaches)
        return below, above

    def _correlations(self) -> Floats:
        """Return how the F1 scores of the labels that occur go together, shape (labels, labels)."""
        parts = self._shares_by_cluster()
        spread = parts.T @ parts
        errors = np.sqrt(np.diag(spread))
        with np.errstate(divide="ignore", invalid="ignore"):
            alike: Floats = spread / np.outer(errors, errors)
        return np.where(np.isfinite(alike), alike, 1.0)

    def _shares_by_cluster(self) -> Floats:
        """Return what each cluster adds to the linear form of F1, (2 tp - F1 n) / sum n; shape (clusters, labels)."""
        used = (self.true | self.given).any(axis=0)
        true, given = self.true[:, used].astype(np.float64), self.given[:, used].astype(np.float64)
        sizes = (true + given).sum(axis=0)
        scores = 2.0 * (true * given).sum(axis=0) / sizes
        units: Floats = (2.0 * true * given - scores * (true + given)) / sizes
        return ClusterSums.of_units(units, self.clusters).parts


def _f1_of(share: float) -> float:
    """Return F1 from the share of units with the label on both sides among those with it on either: 2s / (1 + s)."""
    return 2.0 * share / (1.0 + share)
