"""Defect rates and means corrected with human labels of a sample, and the accuracy of a judge."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import (
    CALIBRATION_DOES_NOT_FIT,
    NO_BETTER_THAN_CHANCE,
    NO_DEFECT,
    NO_LABEL,
    NO_NON_DEFECT,
    NO_VERDICT,
    STRATUM_UNSCORED,
    TOO_FEW_HUMAN_SCORES,
    VERDICT_UNLABELLED,
)
from theodolite.measurement.interval import check_confidence, normal_quantile, student_quantile, whole_count
from theodolite.measurement.labels import ClusterIds, Scale, check_scale, cluster_codes, ends_of_constant, score_column
from theodolite.measurement.proportion import DIALOGUES, Clusters, defect_rate
from theodolite.measurement.scores import CONSTANT, NO_VARIATION
from theodolite.measurement.stratified_correction import Labels, Strata, Verdicts, middle, strata

Floats = NDArray[np.float64]

STRATIFIED: Final = "verdict-stratified, Jeffreys"
"""Name of the correction for independent dialogues."""

STRATIFIED_CLUSTERS: Final = "verdict-stratified, beta-binomial"
"""Name of the correction for clustered dialogues."""

TINY: Final = 1e-12
"""Shares and variances below this count as 0."""


def corrected_rate(
    verdicts: Verdicts, labels: Labels, *, clusters: ClusterIds | None = None, confidence: float = 0.95
) -> Estimate | Undefined:
    """Estimate the rate that people would find, from a judge's verdicts on all and people's labels on some.

    The judge's verdicts define strata of dialogues; people's labels show the defects in each
    stratum. The labelled dialogues must be a random part of each stratum, but strata may
    be sampled unequally, and dialogues without a verdict of defect must not be left out: what the
    judge misses is in there.

    Args:
        verdicts: The judge's verdict on every dialogue, of two kinds or more;
            None = it gave none, which is a stratum of its own.
        labels: Whether people found a defect; None = no label.
        clusters: The cluster of each dialogue; None = dialogues are independent.
        confidence: Coverage; fraction in (0, 1).

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
    reason = NO_LABEL if not sorted_out.labelled else sorted_out.never_looked_at
    if reason:
        return Undefined(reason=reason, n=sorted_out.labelled, unit=DIALOGUES, method=method)
    shares, defects = sorted_out.chances()
    value = float(sorted_out.shares @ [part.defects / part.labelled for part in sorted_out.parts])
    chances = (shares * defects).sum(axis=0)
    if not sorted_out.alone:
        chances = _widened(chances, sorted_out, confidence)
    return between(value, chances, sorted_out, confidence)


def _widened(chances: Floats, strata_data: Strata, confidence: float) -> Floats:
    """Return equally likely rates whose spread reflects the differences between clusters.

    Shares of verdicts and of defects are drawn separately, although clusters move them
    together; if the error over clusters is larger, the logits are stretched.
    """
    degrees = max(len(strata_data.verdicts_by_cluster) - 1, 1)
    half_width = strata_data.robust_error() * student_quantile(confidence, degrees) / normal_quantile(confidence)
    factor = half_width / max(float(chances.std()), TINY)
    if factor <= 1.0:
        return chances
    logits = logit(np.clip(chances, TINY, 1.0 - TINY))
    centre = np.median(logits)
    widened: Floats = expit(centre + factor * (logits - centre))
    return widened


def between(value: float, chances: Floats, strata_data: Strata, confidence: float) -> Estimate:
    """Return the estimate of a share with the central interval of equally likely shares.

    Args:
        value: The share; fraction.
        chances: Equally likely shares.
        strata_data: Data of the strata.
        confidence: Coverage of the interval; fraction.
    """
    low, high = middle(chances, confidence)
    # Finding no defect is compatible with there being none, which the prior alone excludes; and it allows
    # more defects than the prior does.
    bound = strata_data.zero_defect_bound((1.0 - confidence) / 2.0) if value <= 0.0 or value >= 1.0 else 0.0
    low = 0.0 if value <= 0.0 else min(low, 1.0 - bound, value)
    high = 1.0 if value >= 1.0 else max(high, bound, value)
    return Estimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=strata_data.labelled,
        unit=DIALOGUES,
        method=STRATIFIED if strata_data.alone else STRATIFIED_CLUSTERS,
        n_clusters=strata_data.n_clusters,
    )


RATE_DIFFERENCE: Final = "difference of fractions of dialogues"
"""Unit of the bias: the judge's rate minus people's."""


DEFECT, SOUND = "defect", "sound"
"""Names of the two verdicts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAccuracy:
    """How a judge's verdicts relate to people's labels.

    Attributes:
        rate: Rate that people would find in all judged dialogues.
        judge_rate: Rate by the judge's verdicts.
        bias: The judge's rate minus people's; above 0 the judge sees too many defects.
        sensitivity: Share of defects that the judge detects.
        specificity: Share of dialogues without a defect that it passes.
        precision: Share of its alarms that are defects, at the rate observed (PPV).
        clean_rate: Share of passed dialogues without a defect (NPV).
    """

    rate: Estimate | Undefined
    judge_rate: Estimate | Undefined
    bias: Estimate | Undefined
    sensitivity: Estimate | Undefined
    specificity: Estimate | Undefined
    precision: Estimate | Undefined
    clean_rate: Estimate | Undefined


def judge_accuracy(
    verdicts: Sequence[bool | None],
    labels: Labels,
    *,
    drawn_from: Sequence[Hashable] | None = None,
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> JudgeAccuracy:
    """Estimate how often a judge is right if people labelled some of its alarms and some of the rest.

    If people labelled alarms more often than the rest, the plain share
    of defects that were flagged is far too high, because most missed defects were never
    labelled. So sensitivity and specificity are computed from the share in each
    stratum and the sizes of the strata, not from the labelled dialogues alone.

    Args:
        verdicts: The judge's verdict on every dialogue, True = defect; None =
            it gave none; these dialogues are omitted.
        labels: Whether people found a defect; None = no label.
        drawn_from: Stratum of the sampling besides the verdict,
            e.g. the application, if sampling fractions differ; None = none.
        clusters: The cluster of each dialogue; None = dialogues are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Seven estimates, each `Undefined` without data.

    Raises:
        InputError: If the lengths differ or a label is neither yes, no nor None.

    Example:
        >>> verdicts = [True] * 100 + [False] * 900
        >>> labels = [True] * 40 + [False] * 10 + [None] * 50 + [True] * 1 + [False] * 49 + [None] * 850
        >>> judge = judge_accuracy(verdicts, labels)
        >>> [round(e.value, 3) for e in (judge.precision, judge.sensitivity, judge.specificity, judge.bias)]
        [0.8, 0.816, 0.978, 0.002]

    Source:
        Begg, Greenes (1983), Biometrics 39:207-215
        (labels for some verdicts only). Its coverage: benchmarks/COVERAGE.md.
    """
    check_confidence(confidence)
    selected = [index for index, verdict in enumerate(verdicts) if verdict is not None]
    given = [_heap(verdicts, drawn_from, index) for index in selected]
    own_labels = [labels[index] for index in selected] if len(labels) == len(verdicts) else labels
    ids = None if clusters is None else [clusters[index] for index in selected]
    heaps = strata(given, own_labels, ids)
    rate = corrected_rate(given, own_labels, clusters=ids, confidence=confidence)
    bias, sensitivity, specificity = _joint(heaps, rate, confidence)
    alarms = heaps.verdicts_by_cluster[:, _flagged(heaps) > 0].sum(axis=1)
    sizes = list(zip(alarms.tolist(), heaps.verdicts_by_cluster.sum(axis=1).tolist(), strict=True))
    return JudgeAccuracy(
        rate=rate,
        judge_rate=_share(sizes, heaps, confidence, otherwise=NO_VERDICT),
        bias=bias,
        sensitivity=sensitivity,
        specificity=specificity,
        precision=_within(heaps, confidence, flagged=True),
        clean_rate=_within(heaps, confidence, flagged=False),
    )


def _heap(verdicts: Sequence[bool | None], drawn_from: Sequence[Hashable] | None, place: int) -> Hashable:
    if drawn_from is not None and len(drawn_from) != len(verdicts):
        message = f"`drawn_from` must say it of every dialogue; got {len(drawn_from)} for {len(verdicts)}"
        raise InputError(message)
    verdict = bool(verdicts[place])
    return verdict if drawn_from is None else (verdict, drawn_from[place])


def _flagged(heaps: Strata) -> Floats:
    """Return 1 for strata that the judge called a defect, else 0; shape (verdicts,)."""
    kinds = [part.kind[0] if isinstance(part.kind, tuple) else part.kind for part in heaps.parts]
    return np.array([kind is True for kind in kinds], dtype=np.float64)


def _within(heaps: Strata, confidence: float, *, flagged: bool) -> Estimate | Undefined:
    """Return how often the judge is right for one of its two verdicts."""
    chosen = _flagged(heaps) == flagged
    parts = [part for part, take in zip(heaps.parts, chosen, strict=True) if take]
    unseen = VERDICT_UNLABELLED.format(verdict=DEFECT if flagged else SOUND)
    if not parts or not all(part.labelled for part in parts):
        return Undefined(reason=unseen, unit=DIALOGUES, n_clusters=heaps.n_clusters)
    if len(parts) == 1:
        pairs = [(defects if flagged else n - defects, n) for defects, n in parts[0].by_cluster]
        return _share(pairs, heaps, confidence, otherwise=unseen)
    shares, defects = (table[chosen] for table in heaps.chances())
    right = defects if flagged else 1.0 - defects
    plain = np.array([part.defects / part.labelled for part in parts])
    weights = heaps.shares[chosen]
    value = float(weights @ (plain if flagged else 1.0 - plain) / weights.sum())
    # The bound rests on these dialogues alone, because some of the others may have no label.
    return between(value, (shares * right).sum(axis=0) / shares.sum(axis=0), heaps.only(chosen), confidence)


def _share(
    sizes: Sequence[tuple[int, int]], heaps: Strata, confidence: float, *, otherwise: str
) -> Estimate | Undefined:
    count, n = sum(count for count, _ in sizes), sum(n for _, n in sizes)
    if n == 0:
        return Undefined(reason=otherwise, unit=DIALOGUES, n_clusters=heaps.n_clusters)
    return defect_rate(count, n, confidence=confidence, clusters=None if heaps.alone else sizes)


def _joint(
    heaps: Strata, rate: Estimate | Undefined, confidence: float
) -> tuple[Estimate | Undefined, Estimate | Undefined, Estimate | Undefined]:
    """Return bias, sensitivity and specificity, which rest on both strata and their sizes."""
    if isinstance(rate, Undefined):
        return replace(rate, unit=RATE_DIFFERENCE), rate, rate
    flagged = _flagged(heaps)
    plain = np.array([part.defects / part.labelled for part in heaps.parts])
    shares, defects = heaps.chances()
    low, high = middle(flagged @ shares - (shares * defects).sum(axis=0), confidence)
    value = float(flagged @ heaps.shares) - rate.value
    bias = replace(rate, value=value, low=min(low, value), high=max(high, value), unit=RATE_DIFFERENCE)
    return (
        bias,
        _part_of(flagged, (heaps.shares * plain, shares * defects), heaps, confidence, otherwise=NO_DEFECT),
        _part_of(
            1.0 - flagged,
            (heaps.shares * (1.0 - plain), shares * (1.0 - defects)),
            heaps,
            confidence,
            otherwise=NO_NON_DEFECT,
        ),
    )


def _part_of(
    flagged: Floats, masses: tuple[Floats, Floats], heaps: Strata, confidence: float, *, otherwise: str
) -> Estimate | Undefined:
    """Return the share of all such dialogues that is in the flagged strata.

    Args:
        flagged: 1 for strata that count, else 0.
        masses: Share of all dialogues in each stratum, shape (verdicts,),
            and equally likely ones, shape (verdicts, points).
        heaps: Their strata.
        confidence: Coverage of the interval; fraction.
        otherwise: Reason for an empty part.
    """
    plain, likely = masses
    if plain.sum() <= 0.0:
        return Undefined(reason=otherwise, n=heaps.labelled, unit=DIALOGUES, n_clusters=heaps.n_clusters)
    value = float(flagged @ plain / plain.sum())
    return between(value, (flagged @ likely) / likely.sum(axis=0), heaps, confidence)


ROGAN_GLADEN: Final = "Rogan-Gladen, Lee's interval"
"""Name of the method."""


def rogan_gladen_rate(
    positives: int,
    judged: int,
    *,
    sensitivity: tuple[int, int],
    specificity: tuple[int, int],
    clusters: Clusters | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate a rate from a judge's verdicts and its errors, known from other dialogues.

    For a calibration sample that is not part of the dialogues: it may contain
    more or fewer defects than they do, so only the judge's sensitivity and
    specificity carry over. If people labelled some of the dialogues
    themselves, use `corrected_rate`, which is narrower.

    Args:
        positives: Dialogues that the judge called a defect; count.
        judged: Dialogues with a verdict; count.
        sensitivity: (detected, defects) of the calibration sample; counts.
        specificity: (passed, non-defects) of the calibration sample; counts.
        clusters: Pairs (positives, judged) that add up to the totals; None = dialogues are
            independent. Their design effect divides the effective number of dialogues.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Unit: fraction of dialogues, clipped to 0..1. `Undefined` when a count
        below a fraction is 0, the judge does no better than chance, or the whole
        interval is outside of 0..1: the calibration does not fit these dialogues.

    Raises:
        InputError: If a count is above its total.

    Example:
        >>> rate = rogan_gladen_rate(400, 1000, sensitivity=(180, 200), specificity=(140, 200))
        >>> round(rate.value, 4), round(rate.low, 4), round(rate.high, 4)
        (0.1667, 0.0564, 0.2627)

    Source:
        Rogan, Gladen (1978), American Journal of Epidemiology 107:71-76; interval: Lee et al. (2025),
        arXiv:2511.21140, after Lang, Reiczigel (2014), Preventive Veterinary
        Medicine 113:13-22. Golden values:
        tests/golden/correction.json.
    """
    check_confidence(confidence)
    p, n = _fraction((positives, judged), "positives")
    q1, m1 = _fraction(sensitivity, "sensitivity")
    q0, m0 = _fraction(specificity, "specificity")
    if not (n and m0 and m1):
        return Undefined(reason=NO_LABEL, unit=DIALOGUES, method=ROGAN_GLADEN)
    if p / n < 0 or q0 / m0 + q1 / m1 <= 1.0:
        return Undefined(reason=NO_BETTER_THAN_CHANCE, n=n, unit=DIALOGUES, method=ROGAN_GLADEN)
    raw = (p / n + q0 / m0 - 1.0) / (q0 / m0 + q1 / m1 - 1.0)
    value = min(max(raw, 0.0), 1.0)
    plain = defect_rate(p, n, clusters=clusters, confidence=confidence)
    effect = plain.design_effect if isinstance(plain, Estimate) else None
    worth = n / max(effect or 1.0, 1.0)
    low, high = _lee(p / n, q0 / m0, q1 / m1, (worth, m0, m1), normal_quantile(confidence))
    if high <= 0.0 or low >= 1.0:
        reason = CALIBRATION_DOES_NOT_FIT.format(
            flagged=f"{p} of {n}",
            direction="fewer" if high <= 0.0 else "more",
            errors="false alarms" if high <= 0.0 else "defects caught",
            sample=f"{m0 - q0} of {m0} non-defects" if high <= 0.0 else f"{q1} of {m1} defects",
        )
        return Undefined(reason=reason, n=n, unit=DIALOGUES, method=ROGAN_GLADEN)
    # A value at an edge is known no better than by an error-free judge that saw no defects, or only defects.
    edge = -math.expm1(math.log((1.0 - confidence) / 2.0) / worth)
    low, high = (min(low, 1.0 - edge) if raw >= 1.0 else low), (max(high, edge) if raw <= 0.0 else high)
    return Estimate(
        value=value,
        low=min(max(low, 0.0), value),
        high=max(min(high, 1.0), value),
        confidence=confidence,
        n=n,
        unit=DIALOGUES,
        method=ROGAN_GLADEN if effect is None else f"{ROGAN_GLADEN}, design effect",
        n_clusters=plain.n_clusters,
        design_effect=effect,
    )


def _fraction(pair: tuple[int, int], name: str) -> tuple[int, int]:
    part, whole = whole_count(pair[0], name), whole_count(pair[1], name)
    if part > whole:
        message = f"`{name}` must be a part of the whole; got {part} of {whole}"
        raise InputError(message)
    return part, whole


def _lee(p: float, q0: float, q1: float, sizes: tuple[float, int, int], z: float) -> tuple[float, float]:
    """Return the ends: every fraction is shrunk towards one half, and the centre is shifted accordingly."""
    n, m0, m1 = sizes[0] + z * z, sizes[1] + 2.0, sizes[2] + 2.0
    p = (sizes[0] * p + z * z / 2.0) / n
    q0, q1 = (sizes[1] * q0 + 1.0) / m0, (sizes[2] * q1 + 1.0) / m1
    gain = q0 + q1 - 1.0
    rate = (p + q0 - 1.0) / gain
    moved = 2.0 * z * z * (rate * q1 * (1.0 - q1) / m1 - (1.0 - rate) * q0 * (1.0 - q0) / m0)
    spread = p * (1.0 - p) / n + (1.0 - rate) ** 2 * q0 * (1.0 - q0) / m0 + rate**2 * q1 * (1.0 - q1) / m1
    reach = z * math.sqrt(spread) / abs(gain)
    return rate + moved - reach, rate + moved + reach


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

    Prediction-powered inference: people's mean plus the judge's information about
    units without labels, weighted by its correlation with people. For
    rates use `corrected_rate`, which keeps its coverage if defects are rare.

    Args:
        scores: The judge's score of every unit.
        labels: People's score; None or NaN = no score. The units with one
            are a random part of all, or of each of `drawn_from`.
        drawn_from: Stratum of each unit, if strata were sampled
            unequally, e.g. the judge's verdict; None = all had equal probability.
        clusters: The cluster of each unit; None = units are independent. Without
            `drawn_from` each is labelled as a whole or not at all.
        scale: Lowest and highest possible human score; None = unknown. Only
            labels that are all equal need it, because they show no error: their
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
        what = "dialogues" if clusters is None else "clusters"
        return Undefined(
            reason=TOO_FEW_HUMAN_SCORES.format(units=what), n=int(labelled.sum()), unit=POINTS_OF_SCALE, method=POWERED
        )
    weight = _weight(by_people, by_judge, alone)
    value = float(by_people.mean()) + (weight * float(alone.mean() - by_judge.mean()) if len(alone) else 0.0)
    variance = float(np.var(by_people - weight * by_judge, ddof=1)) / len(by_people)
    variance += weight**2 * float(np.var(alone, ddof=1)) / len(alone) if len(alone) > 1 else 0.0
    reach = student_quantile(confidence, len(by_people) - 1) * math.sqrt(variance)
    result = Estimate(
        value=value,
        low=value - reach,
        high=value + reach,
        confidence=confidence,
        n=int(labelled.sum()),
        unit=POINTS_OF_SCALE,
        method=POWERED,
        n_clusters=None if clusters is None else len(by_people) + len(alone),
    )
    return _not_too_sure(result, people, codes, scale)


def _not_too_sure(
    found: Estimate | Undefined, people: Floats, codes: NDArray[np.int64], scale: Scale | None
) -> Estimate | Undefined:
    """Return the mean with the interval of a constant if all labels are equal."""
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
    """Return the mean of each cluster; a unit without a cluster is its own."""
    _, positions = np.unique(codes, return_inverse=True)
    counts = np.bincount(positions)
    means: Floats = np.bincount(positions, values) / counts if len(counts) else np.empty(0)
    return means


def _weight(people: Floats, judge: Floats, alone: Floats) -> float:
    """Return the weight of the judge, 0 to 1: cov / ((1 + n/N) var)."""
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


POWERED_STRATA: Final = "PPI++ by strata, Student's t"
"""Name of the interval if the sample was drawn from strata."""


def stratum_codes(drawn_from: Sequence[Hashable], n: int) -> Whole:
    """Return a number from 0 for the stratum of each unit.

    Raises:
        InputError: If there is not one a unit.
    """
    if len(drawn_from) != n:
        message = f"`drawn_from` must say it of every unit; got {len(drawn_from)} for {n}"
        raise InputError(message)
    positions = {kind: position for position, kind in enumerate(dict.fromkeys(drawn_from))}
    return np.array([positions[kind] for kind in drawn_from], dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A judge's scores of all units, and people's of a sample.

    Attributes:
        scores: The judge's, shape (units,).
        labels: People's, likewise; NaN = no score.
        strata: Stratum of each unit, numbers from 0.
        clusters: The cluster of each unit, likewise.
    """

    scores: Floats
    labels: Floats
    strata: Whole
    clusters: Whole

    def mean(self, confidence: float, *, alone: bool) -> Estimate | Undefined:
        """Return the mean that people would give.

        Every unit contributes m_h + w f, and a labelled one N_h / n_h times its residual
        y - w f - m_h in addition, m_h the mean residual of its stratum; w is where these
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
            return Undefined(reason=STRATUM_UNSCORED, n=n_seen, unit=POINTS_OF_SCALE, method=POWERED_STRATA)
        degrees = n_labelled - len(judged)
        if n_labelled < 2 or degrees < 1:
            reason = TOO_FEW_HUMAN_SCORES.format(units="dialogues" if alone else "clusters")
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
        _, positions = np.unique(self.clusters, return_inverse=True)
        return np.asarray(np.bincount(positions, parts - parts.mean()), dtype=np.float64)
