"""Scans: are the latest windows higher than those of the good times?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from theodolite.measurement.order.sequence import Floats, Whole

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
