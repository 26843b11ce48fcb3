"""Scores of a sample that was drawn from strata unequally, put beside a judge's scores of everything."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.interval import student_quantile

Floats = NDArray[np.float64]
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
            confidence: Coverage wanted; fraction.
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
        """Return what each unit adds to a mean by strata: m_h, and N_h / n_h (v - m_h) on top where it is drawn."""
        seen = factor > 0.0
        means = np.bincount(self.strata[seen], values[seen], minlength=len(labelled)) / labelled
        own = means[self.strata]
        parts: Floats = own + factor * (values - own)
        return parts

    def _sums(self, parts: Floats) -> Floats:
        """Return what each cluster brings beyond the mean, shape (clusters,)."""
        _, places = np.unique(self.clusters, return_inverse=True)
        return np.asarray(np.bincount(places, parts - parts.mean()), dtype=np.float64)
