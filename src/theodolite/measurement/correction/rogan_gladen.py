"""Rates corrected by a judge's sensitivity and specificity, measured elsewhere."""

from __future__ import annotations

import math
from typing import Final

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.interval import check_confidence, normal_quantile, whole_count
from theodolite.measurement.proportion import DIALOGUES, NOTHING_LABELLED, Clusters, defect_rate

ROGAN_GLADEN: Final = "Rogan-Gladen, Lee's interval"
"""Name of the method."""

NO_BETTER_THAN_CHANCE: Final = (
    "Sensitivity and specificity add up to no more than 1, so the judge's verdicts say nothing about the rate."
)
"""Why the correction is undefined for a judge that guesses."""

DOES_NOT_FIT: Final = (
    "The calibration does not fit these dialogues: the judge called {1} a defect, {0} than its {2} in the"
    " calibration sample ({3}) allow. Calibrate it on dialogues like these."
)
"""Why the correction is undefined where its whole interval lies outside of 0 to 1."""


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

    For a calibration sample that is no part of the dialogues: it may hold
    defects more or less often than they do, so only the judge's sensitivity and
    specificity carry over. Where people labelled some of the dialogues
    themselves take `corrected_rate`, which is narrower.

    Args:
        positives: Dialogues that the judge called a defect; count.
        judged: Dialogues with a verdict; count.
        sensitivity: (caught, defects) of the calibration sample; counts.
        specificity: (passed, sound dialogues) of the calibration sample; counts.
        clusters: Pairs (positives, judged) that add up to the totals; None = dialogues are
            independent. Their design effect divides the dialogues that count.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        Unit: fraction of dialogues, clipped to 0..1. `Undefined` when a count
        below a fraction is 0, the judge does no better than chance, or the whole
        interval lies outside of 0..1: the calibration does not fit these dialogues.

    Raises:
        InputError: If a count is above what it is a part of.

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
        return Undefined(reason=NOTHING_LABELLED, unit=DIALOGUES, method=ROGAN_GLADEN)
    if p / n < 0 or q0 / m0 + q1 / m1 <= 1.0:
        return Undefined(reason=NO_BETTER_THAN_CHANCE, n=n, unit=DIALOGUES, method=ROGAN_GLADEN)
    raw = (p / n + q0 / m0 - 1.0) / (q0 / m0 + q1 / m1 - 1.0)
    value = min(max(raw, 0.0), 1.0)
    plain = defect_rate(p, n, clusters=clusters, confidence=confidence)
    effect = plain.design_effect if isinstance(plain, Estimate) else None
    worth = n / max(effect or 1.0, 1.0)
    low, high = _lee(p / n, q0 / m0, q1 / m1, (worth, m0, m1), normal_quantile(confidence))
    if high <= 0.0 or low >= 1.0:
        reason = DOES_NOT_FIT.format(
            "fewer" if high <= 0.0 else "more",
            f"{p} of {n}",
            "false alarms" if high <= 0.0 else "defects caught",
            f"{m0 - q0} of {m0} non-defects" if high <= 0.0 else f"{q1} of {m1} defects",
        )
        return Undefined(reason=reason, n=n, unit=DIALOGUES, method=ROGAN_GLADEN)
    # A value at an edge is no better known than by a judge without errors that saw no defect, or nothing else.
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
    """Return the ends: every fraction is drawn towards a half, and the centre moved for it."""
    n, m0, m1 = sizes[0] + z * z, sizes[1] + 2.0, sizes[2] + 2.0
    p = (sizes[0] * p + z * z / 2.0) / n
    q0, q1 = (sizes[1] * q0 + 1.0) / m0, (sizes[2] * q1 + 1.0) / m1
    gain = q0 + q1 - 1.0
    rate = (p + q0 - 1.0) / gain
    moved = 2.0 * z * z * (rate * q1 * (1.0 - q1) / m1 - (1.0 - rate) * q0 * (1.0 - q0) / m0)
    spread = p * (1.0 - p) / n + (1.0 - rate) ** 2 * q0 * (1.0 - q0) / m0 + rate**2 * q1 * (1.0 - q1) / m1
    reach = z * math.sqrt(spread) / abs(gain)
    return rate + moved - reach, rate + moved + reach
