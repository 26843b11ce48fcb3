"""Scans of the latest windows against a reference period, and confidence sequences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, xlog1py, xlogy

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.interval import check_confidence, whole_count
from theodolite.measurement.order.sequence import Floats, Whole
from theodolite.measurement.proportion import DIALOGUES, NOTHING_LABELLED

Flags: TypeAlias = NDArray[np.bool_]

SPANS: Final = (2, 4, 8, 16)
"""Latest windows that are compared with the good times at a time; counts."""

_WORTH_A_LOOK = 2.5
"""Standard deviations below which no exact probability can be small enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanAlarm:
    """Where a scan alarmed.

    Attributes:
        index: Place of the last of the compared windows, from 0.
        since: Place of the first of them.
        p_value: Exact probability of ranks as high as these, in the good times.
    """

    index: int
    since: int
    p_value: float


def scan(values: Floats, *, n_reference: int, arl: float) -> tuple[ScanAlarm, ...]:
    """Compare the latest windows with those of the good times, again and again.

    For every window and each span, the latest windows are held against the
    reference by the rank sum, whose exact distribution given ties is used. If
    nothing changed, all windows are exchangeable, so each comparison alarms with
    its own small probability whatever the others do; their sum bounds the false
    alarms: n / `arl` within n windows. After an alarm the spans fill up anew.

    Order metrics of windows take few values and have no useful likelihood; ranks
    need none, and high values need not be likely in the good times.

    Args:
        values: A metric of windows that do not overlap, in order of time; shape (n,). A rise is looked for.
        n_reference: First windows that are the good times; count.
        arl: Windows between two false alarms, on average; count.

    Returns:
        The alarms in order of time; none where there is no window after the reference.

    Source:
        Wilcoxon (1945), Individual comparisons by ranking methods, Biometrics
        Bulletin 1:80-83, with the union bound over comparisons; ADR-0018.
        Simulated: benchmarks/ALERTS.md.
    """
    reference, alarms, fresh = values[:n_reference], list[ScanAlarm](), n_reference
    level = 1.0 / (arl * len(SPANS))
    worth = {span: _worth_a_look(reference, values, span) for span in SPANS}
    ends = np.flatnonzero(np.logical_or.reduce(list(worth.values())))
    for end in ends[ends > n_reference].tolist():
        for span in SPANS:
            if end - span < fresh:
                break
            p_value = _rank_sum_p(reference, values[end - span : end]) if worth[span][end] else 1.0
            if p_value <= level:
                alarms.append(ScanAlarm(index=end - 1, since=end - span, p_value=p_value))
                fresh = end
                break
    return tuple(alarms)


def _worth_a_look(reference: Floats, values: Floats, span: int) -> Flags:
    """Return for each end whether the rank sum of the `span` windows before it lies far enough above its mean.

    The rank sum is the sum of how many reference windows each one exceeds, plus
    a constant; its variance needs the counts of equal values. Both are running
    sums, so that no window is looked at twice. A little room is left for
    rounding: `_rank_sum_p` decides.
    """
    found = np.zeros(len(values) + 1, dtype=bool)
    if len(values) < span or not len(reference):
        return found
    low, high = np.sort(reference).searchsorted(values, "left"), np.sort(reference).searchsorted(values, "right")
    doubled = _running(low + high, span) + span * (span + 1)
    n = len(reference) + span
    ties = np.zeros(len(doubled))
    for value in np.unique(values):
        count = _running(values == value, span) + int((reference == value).sum())
        ties += count.astype(np.float64) * (count * count - 1.0)
    # Population variance of doubled mid-ranks: (n^2 - 1) / 3 less the ties' share.
    spread = np.maximum((n**3 - n - ties) / (3.0 * n), 0.0)
    sd = np.sqrt(span * (n - span) / (n - 1) * spread)
    found[span:] = doubled - span * (n + 1) >= (_WORTH_A_LOOK - 1e-6) * sd
    return found


def _running(row: Whole | Flags, span: int) -> Whole:
    sums = np.concatenate(([0], np.cumsum(row, dtype=np.int64)))
    return np.asarray(sums[span:] - sums[:-span])


def _rank_sum_p(reference: Floats, latest: Floats) -> float:
    """Return the probability of a rank sum as high as that of `latest`; 1 where it cannot be small."""
    n, span = len(reference) + len(latest), len(latest)
    if latest.sum() / span <= reference.mean():
        return 1.0
    doubled = _doubled_ranks(np.concatenate([reference, latest]))
    found, mean = int(doubled[len(reference) :].sum()), span * (n + 1)
    variance = span * (n - span) / (n - 1) * float(doubled.var())
    if variance == 0 or (found - mean) / math.sqrt(variance) < _WORTH_A_LOOK:
        return 1.0
    return _at_least(doubled, span, found)


def _doubled_ranks(values: Floats) -> Whole:
    """Return twice the mean rank of each value: a whole number, ties or not."""
    _, which, sizes = np.unique(values, return_inverse=True, return_counts=True)
    doubled: Whole = (2 * np.cumsum(sizes) - sizes + 1)[which]
    return doubled


def _at_least(ranks: Whole, span: int, found: int) -> float:
    """Return the share of subsets of `span` ranks whose sum is `found` or more.

    ways[k, s] counts the subsets of k ranks that add up to s; ranks come one by one.
    """
    ways = np.zeros((span + 1, int(np.sort(ranks)[-span:].sum()) + 1))
    ways[0, 0] = 1.0
    for rank in ranks.tolist():
        # From the right-hand side, so that no rank is used twice.
        ways[1:, rank:] = ways[1:, rank:] + ways[:-1, : ways.shape[1] - rank]
    return float(ways[span, found:].sum() / math.comb(len(ranks), span))


METHOD: Final = "confidence sequence, beta mixture"
"""Name of the interval that is valid at every look."""

_STEPS = 60


def confidence_sequence(
    defects: int, labelled: int, *, confidence: float = 0.95, prior: tuple[float, float] = (0.5, 0.5)
) -> Estimate | Undefined:
    """Estimate a share of defects with an interval that is valid at every look.

    An interval that is looked at after every session misses the truth some time
    in 40 to 49 % of histories if it is Wilson's. This one misses it in 1 -
    `confidence` of them at most, however often one looks and whenever one
    stops: it holds the shares against which a mixture of all others has not
    won the odds 1 / (1 - confidence). The price is width.

    Args:
        defects: Sessions with a defect until now; count.
        labelled: Sessions with a label until now; count.
        confidence: Share of histories in which the truth is never missed; fraction in (0, 1).
        prior: Parameters of the mixing beta distribution.

    Returns:
        Unit: fraction of dialogues. `Undefined` when `labelled` is 0.

    Raises:
        InputError: If `defects` is outside 0..labelled.

    Example:
        >>> found = confidence_sequence(5, 100)
        >>> round(found.low, 5), round(found.high, 5)
        (0.00715, 0.15579)

    Source:
        Robbins (1970), Statistical methods related to the law of the iterated
        logarithm, Annals of Mathematical Statistics 41:1397-1409; Howard,
        Ramdas, McAuliffe, Sekhon (2021), Time-uniform, nonparametric,
        nonasymptotic confidence sequences, Annals of Statistics 49:1055-1080.
        Golden values: tests/golden/monitoring.json.
    """
    defects, labelled = whole_count(defects, "defects"), whole_count(labelled, "labelled")
    check_confidence(confidence)
    if defects > labelled:
        message = f"`defects` must be within 0..`labelled`; got defects={defects}, labelled={labelled}"
        raise InputError(message)
    if labelled == 0:
        return Undefined(reason=NOTHING_LABELLED, unit=DIALOGUES, method=METHOD)
    low, high = sequence_ends(np.array([defects]), np.array([labelled]), confidence, prior)
    return Estimate(
        value=defects / labelled,
        low=float(low[0]),
        high=float(high[0]),
        confidence=confidence,
        n=labelled,
        unit=DIALOGUES,
        method=METHOD,
        count=defects,
    )


def sequence_ends(
    defects: Sequence[int] | Floats, labelled: Sequence[int] | Floats, confidence: float, prior: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return both ends at each look; shapes (looks,), fractions.

    The log odds of the mixture against a share p are 0 or more at both ends of
    0..1 and fall to their minimum at the observed share, so each end is found
    by halving.
    """
    k, n = np.asarray(defects, dtype=np.float64), np.asarray(labelled, dtype=np.float64)
    a, b = prior
    mixed, wanted = betaln(a + k, b + n - k) - betaln(a, b), math.log(1.0 / (1.0 - confidence))

    def is_inside(share: Floats) -> Floats:
        return np.asarray(mixed - xlogy(k, share) - xlog1py(n - k, -share) < wanted)

    middle = k / n
    ends = []
    for outer in (np.zeros_like(middle), np.ones_like(middle)):
        inside, outside = middle.copy(), outer
        for _ in range(_STEPS):
            half = (inside + outside) / 2.0
            kept = is_inside(half)
            inside, outside = np.where(kept, half, inside), np.where(kept, outside, half)
        ends.append(np.where(is_inside(outer), outer, outside))
    return ends[0], ends[1]
