"""Rates corrected for the judge's errors."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.clusters import ClusterIds
from theodolite.measurement.correction.chances import middle
from theodolite.measurement.correction.strata import Labels, Strata, Verdicts, strata
from theodolite.measurement.interval import check_confidence, normal_quantile, student_quantile
from theodolite.measurement.proportion import DIALOGUES, NOTHING_LABELLED

Floats = NDArray[np.float64]

STRATIFIED: Final = "verdict-stratified, Jeffreys"
"""Name of the correction for independent dialogues."""

STRATIFIED_CLUSTERS: Final = "verdict-stratified, beta-binomial"
"""Its name where dialogues come in clusters."""


TINY: Final = 1e-12
"""A share or a spread that is as good as none."""


def corrected_rate(
    verdicts: Verdicts, labels: Labels, *, clusters: ClusterIds | None = None, confidence: float = 0.95
) -> Estimate | Undefined:
    """Estimate the rate that people would find, from a judge's verdicts on all and people's labels on some.

    The judge sorts the dialogues; people say how many defects are in each
    heap. The labelled ones must be a random part of each heap, but heaps may
    be drawn from unequally, and the sound ones must not be left out: what the
    judge misses is in there.

    Args:
        verdicts: The judge's verdict on every dialogue, of two kinds or more;
            None = it gave none, which is a heap of its own.
        labels: Whether people found a defect; None = nobody looked.
        clusters: The cluster of each dialogue; None = dialogues are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        Unit: fraction of dialogues; n counts the labelled ones. `Undefined` when
        there is none, or none with one of the verdicts.

    Raises:
        InputError: If the lengths differ or a label is neither yes, no nor None.

    Example:
        >>> verdicts = [True] * 60 + [False] * 340
        >>> labels = [True] * 16 + [False] * 4 + [None] * 40 + [True] * 1 + [False] * 39 + [None] * 300
        >>> rate = corrected_rate(verdicts, labels)
        >>> round(rate.value, 5), round(rate.low, 2), round(rate.high, 2)
        (0.14125, 0.1, 0.22)

    Source:
        Post-stratification: Cochran (1977), Sampling Techniques, 3rd ed.,
        section 5A.9; Jeffreys' prior: Brown, Cai, DasGupta (2001),
        doi:10.1214/ss/1009213286. Its coverage: benchmarks/COVERAGE.md.
    """
    check_confidence(confidence)
    sorted_out = strata(verdicts, labels, clusters)
    method = STRATIFIED if sorted_out.alone else STRATIFIED_CLUSTERS
    reason = NOTHING_LABELLED if not sorted_out.labelled else sorted_out.never_looked_at
    if reason:
        return Undefined(reason=reason, n=sorted_out.labelled, unit=DIALOGUES, method=method)
    shares, defects = sorted_out.chances()
    value = float(sorted_out.shares @ [part.defects / part.labelled for part in sorted_out.parts])
    chances = (shares * defects).sum(axis=0)
    if not sorted_out.alone:
        chances = _widened(chances, sorted_out, confidence)
    return between(value, chances, sorted_out, confidence)


def _widened(chances: Floats, found: Strata, confidence: float) -> Floats:
    """Return equally likely rates that are spread as far as the clusters' own differences ask for.

    Shares of verdicts and of defects are drawn apart, though clusters move them
    together; where the error over clusters says so, the logits are stretched.
    """
    degrees = max(len(found.verdicts_by_cluster) - 1, 1)
    wanted = found.robust_error() * student_quantile(confidence, degrees) / normal_quantile(confidence)
    stretch = wanted / max(float(chances.std()), TINY)
    if stretch <= 1.0:
        return chances
    logits = logit(np.clip(chances, TINY, 1.0 - TINY))
    centre = np.median(logits)
    widened: Floats = expit(centre + stretch * (logits - centre))
    return widened


def between(value: float, chances: Floats, found: Strata, confidence: float) -> Estimate:
    """Return the estimate of a share whose interval is the middle of equally likely ones.

    Args:
        value: The share; fraction.
        chances: Equally likely shares.
        found: What they rest on.
        confidence: Coverage of the interval; fraction.
    """
    low, high = middle(chances, confidence)
    # No defect found is compatible with none there is, which the prior alone denies; and it leaves room for
    # more than the prior says.
    bound = found.zero_defect_bound((1.0 - confidence) / 2.0) if value <= 0.0 or value >= 1.0 else 0.0
    low = 0.0 if value <= 0.0 else min(low, 1.0 - bound, value)
    high = 1.0 if value >= 1.0 else max(high, bound, value)
    return Estimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=found.labelled,
        unit=DIALOGUES,
        method=STRATIFIED if found.alone else STRATIFIED_CLUSTERS,
        n_clusters=found.n_clusters,
    )
