"""Corrected means of scores, from a judge's scores of all dialogues and human scores of a sample."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.clusters import ClusterIds, cluster_codes
from theodolite.measurement.interval import check_confidence, student_quantile
from theodolite.measurement.score_columns import Scale, check_scale, ends_of_constant, score_column
from theodolite.measurement.scores import CONSTANT, NO_VARIATION

Floats = NDArray[np.float64]


def corrected_mean(
    scores: Sequence[float],
    labels: Sequence[float | None],
    *,
    drawn_from: Sequence[Hashable] | None = None,
    clusters: ClusterIds | None = None,
    scale: Scale | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the mean score that people would give, from a judge's scores on all units.

    Prediction-powered inference: people's mean plus what the judge knows of
    the units that nobody else saw, weighted by how well it follows people. For
    rates take `corrected_rate`, which keeps its coverage where defects are rare.

    Args:
        scores: The judge's score of every unit.
        labels: People's score; None or NaN = nobody looked. The units with one
            are a random part of all, or of each of `drawn_from`.
        drawn_from: What each unit would be drawn from, where some were drawn from
            more often, e.g. the judge's verdict; None = all were drawn alike.
        clusters: The cluster of each unit; None = units are independent. Without
            `drawn_from` each is labelled as a whole or not at all.
        scale: Lowest and highest score that people can give; None = unknown. Only
            labels that are all the same need it, as they show no error: their
            interval is that of `ends_of_constant`, and there is none without it.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Unit: points of the scale; n counts the labelled units. With no unit
        left unlabelled it is people's mean. `Undefined` when fewer than two
        units or clusters are labelled.

    Raises:
        InputError: If the lengths differ, a score is missing or infinite, a label
            is outside of the scale, or a cluster is labelled in part.

    Example:
        >>> scores = [1.1, 2.2, 3.1, 3.9, 1.5, 1.8, 4.5, 4.8]
        >>> labels = [1, 2, 3, 4, None, None, None, None]
        >>> round(corrected_mean(scores, labels, clusters="AABBCCDD").value, 3)
        2.744

    Source:
        Angelopoulos, Duchi, Zrnic (2023), PPI++: Efficient Prediction-Powered
        Inference, arXiv:2311.01453; by strata: Fisch et al. (2024), Stratified
        Prediction-Powered Inference, arXiv:2406.04291. Golden values: tests/golden/correction.json.
    """
    check_confidence(confidence)
    judged, people = _scores(scores, labels)
    labelled = ~np.isnan(people)
    check_scale(scale, people[labelled])
    codes = cluster_codes(clusters, len(judged))
    if drawn_from is not None:
        drawn = Drawn(scores=judged, labels=people, strata=stratum_codes(drawn_from, len(judged)), clusters=codes)
        return _not_too_sure(drawn.mean(confidence, alone=clusters is None), people, codes, scale)
    _refuse_cut_clusters(codes, labelled)
    by_judge, by_people = _means(codes[labelled], judged[labelled]), _means(codes[labelled], people[labelled])
    alone = _means(codes[~labelled], judged[~labelled])
    if len(by_people) < 2:
        what = "units" if clusters is None else "clusters"
        return Undefined(reason=TOO_FEW.format(what), n=int(labelled.sum()), unit=POINTS_OF_SCALE, method=POWERED)
    weight = _weight(by_people, by_judge, alone)
    value = float(by_people.mean()) + (weight * float(alone.mean() - by_judge.mean()) if len(alone) else 0.0)
    variance = float(np.var(by_people - weight * by_judge, ddof=1)) / len(by_people)
    variance += weight**2 * float(np.var(alone, ddof=1)) / len(alone) if len(alone) > 1 else 0.0
    reach = student_quantile(confidence, len(by_people) - 1) * math.sqrt(variance)
    found = Estimate(
        value=value,
        low=value - reach,
        high=value + reach,
        confidence=confidence,
        n=int(labelled.sum()),
        unit=POINTS_OF_SCALE,
        method=POWERED,
        n_clusters=None if clusters is None else len(by_people) + len(alone),
    )
    return _not_too_sure(found, people, codes, scale)


def _not_too_sure(
    found: Estimate | Undefined, people: Floats, codes: NDArray[np.int64], scale: Scale | None
) -> Estimate | Undefined:
    """Return the mean with the interval of a constant where all labels are the same."""
    labels = people[~np.isnan(people)]
    if isinstance(found, Undefined) or np.ptp(labels) > 0.0:
        return found
    value = float(labels[0])
    if scale is None:
        return replace(found, value=value, low=None, high=None, method=NO_VARIATION)
    _, sizes = np.unique(codes[~np.isnan(people)], return_counts=True)
    low, high = ends_of_constant(value, sizes.tolist(), scale, found.confidence)
    return replace(found, value=value, low=low, high=high, method=CONSTANT)


def _scores(scores: Sequence[float], labels: Sequence[float | None]) -> tuple[Floats, Floats]:
    judged, people = score_column(scores, "scores"), score_column(labels, "labels")
    if len(judged) != len(people):
        message = f"`scores` and `labels` must be of the same units; got {len(judged)} and {len(people)}"
        raise InputError(message)
    if not np.all(np.isfinite(judged)):
        message = "`scores` must hold a number for every unit; leave out units that the judge could not score"
        raise InputError(message)
    return judged, people


def _refuse_cut_clusters(codes: NDArray[np.int64], labelled: NDArray[np.bool_]) -> None:
    cut = np.intersect1d(codes[labelled], codes[~labelled])
    if len(cut):
        message = (
            f"`labels` must cover each cluster as a whole or not at all; {len(cut)} clusters are labelled in part."
            " Draw clusters, or give `clusters` of the labelled units alone"
        )
        raise InputError(message)


def _means(codes: NDArray[np.int64], values: Floats) -> Floats:
    """Return the mean of each cluster; of each unit where it is alone."""
    _, places = np.unique(codes, return_inverse=True)
    counts = np.bincount(places)
    means: Floats = np.bincount(places, values) / counts if len(counts) else np.empty(0)
    return means


def _weight(people: Floats, judge: Floats, alone: Floats) -> float:
    """Return how far to trust the judge, 0 to 1: cov / ((1 + n/N) var)."""
    spread = float(np.var(np.concatenate((judge, alone)), ddof=1))
    if not len(alone) or spread == 0.0:
        return 0.0
    together = float(np.cov(people, judge, ddof=1)[0, 1])
    return min(max(together / ((1.0 + len(people) / len(alone)) * spread), 0.0), 1.0)


Whole = NDArray[np.int64]

POINTS_OF_SCALE: Final = "points of the scale"
"""Unit of a mean score."""

POWERED: Final = "PPI++, Student's t"
"""Name of the method."""

TOO_FEW: Final = "Fewer than two {} have a score of a person, so nothing tells how far the judge is off."
"""Why a mean is undefined."""

POWERED_STRATA: Final = "PPI++ by strata, Student's t"
"""Its name where the sample was drawn from strata."""

UNSEEN: Final = "Nobody has scored a unit of one of the strata, so what people would say there is unknown."
"""Why a mean is undefined where a stratum was never looked at."""


def stratum_codes(drawn_from: Sequence[Hashable], n: int) -> Whole:
    """Return a number from 0 for the stratum of each unit.

    Raises:
        InputError: If there is not one a unit.
    """
    if len(drawn_from) != n:
        message = f"`drawn_from` must say it of every unit; got {len(drawn_from)} for {n}"
        raise InputError(message)
    places = {kind: place for place, kind in enumerate(dict.fromkeys(drawn_from))}
    return np.array([places[kind] for kind in drawn_from], dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A judge's scores of all units, and people's of a sample.

    Attributes:
        scores: The judge's, shape (units,).
        labels: People's, likewise; NaN = nobody looked.
        strata: What each unit would be drawn from, numbers from 0.
        clusters: The cluster of each unit, likewise.
    """

    scores: Floats
    labels: Floats
    strata: Whole
    clusters: Whole

    def mean(self, confidence: float, *, alone: bool) -> Estimate | Undefined:
        """Return the mean that people would give.

        Every unit brings m_h + w f, and a labelled one N_h / n_h times its rest
        y - w f - m_h on top, m_h the mean rest of its stratum; w is where these
        parts vary least over clusters, within 0 to 1.

        Args:
            confidence: Coverage; fraction.
            alone: Whether units are independent.
        """
        seen = ~np.isnan(self.labels)
        judged, labelled = (
            np.bincount(self.strata),
            np.bincount(self.strata[seen], minlength=int(self.strata.max()) + 1),
        )
        n_seen = int(seen.sum())
        n_labelled = len(np.unique(self.clusters[seen]))
        if (labelled == 0).any():
            return Undefined(reason=UNSEEN, n=n_seen, unit=POINTS_OF_SCALE, method=POWERED_STRATA)
        degrees = n_labelled - len(judged)
        if n_labelled < 2 or degrees < 1:
            reason = TOO_FEW.format("units" if alone else "clusters")
            return Undefined(reason=reason, n=n_seen, unit=POINTS_OF_SCALE, method=POWERED_STRATA)
        factor = np.where(seen, (judged / labelled)[self.strata], 0.0)
        plain = self._parts(np.where(seen, self.labels, 0.0), factor, labelled)
        judge = self.scores - self._parts(self.scores, factor, labelled)
        own, gain = self._sums(plain), self._sums(judge)
        spread = float(gain @ gain)
        weight = min(max(-float(own @ gain) / spread, 0.0), 1.0) if spread > 0.0 else 0.0
        rest = own + weight * gain
        n_clusters = len(rest)
        error = math.sqrt(float(rest @ rest) * n_clusters / (n_clusters - 1)) / len(self.scores)
        value = float((plain + weight * judge).mean())
        reach = student_quantile(confidence, degrees) * error
        return Estimate(
            value=value,
            low=value - reach,
            high=value + reach,
            confidence=confidence,
            n=n_seen,
            unit=POINTS_OF_SCALE,
            method=POWERED_STRATA,
            n_clusters=None if alone else n_clusters,
        )

    def _parts(self, values: Floats, factor: Floats, labelled: Whole) -> Floats:
        """Return the part of each unit in a stratified mean: m_h, plus N_h / n_h (v - m_h) if it is sampled."""
        seen = factor > 0.0
        means = np.bincount(self.strata[seen], values[seen], minlength=len(labelled)) / labelled
        own = means[self.strata]
        parts: Floats = own + factor * (values - own)
        return parts

    def _sums(self, parts: Floats) -> Floats:
        """Return the deviation of each cluster from the mean, shape (clusters,)."""
        _, places = np.unique(self.clusters, return_inverse=True)
        return np.asarray(np.bincount(places, parts - parts.mean()), dtype=np.float64)
