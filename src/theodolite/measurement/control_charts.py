"""Control charts (EWMA, CUSUM, rates, levels) and scans of a history for changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, betaln, xlog1py, xlogy

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import NO_LABEL
from theodolite.measurement.interval import check_confidence, whole_count
from theodolite.measurement.proportion import DIALOGUES
from theodolite.measurement.sequences import Floats, Whole, as_scores, packed


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlChart:
    """A statistic at each observation, with its control limits.

    Attributes:
        upper: The statistic, or its upper side; in units of the observations.
        lower: Its lower side; the same as `upper` for an EWMA.
        high: Upper limit at each observation.
        low: Lower limit at each observation.
        signals: Indices of observations outside the limits, from 0.
    """

    upper: tuple[float, ...]
    lower: tuple[float, ...]
    high: tuple[float, ...]
    low: tuple[float, ...]
    signals: tuple[int, ...]


def cusum(observations: Sequence[float], *, target: float, slack: float, limit: float) -> ControlChart:
    """Return the cumulative sums of deviations above and below a target.

    High: S = max(0, S + x - target - slack); low: S = max(0, S + target - slack
    - x). This is a familiar view: its false alarm rate depends on the
    distribution, so alerts come from the detectors instead.

    Args:
        observations: In order of time; shape (n,).
        target: In-control mean.
        slack: Half of the smallest relevant shift; 0 or more.
        limit: Sum at which it signals; above 0.

    Raises:
        InputError: If `slack` is below 0 or `limit` is not above 0.

    Example:
        >>> chart = cusum([0, 0, 2, 2, 2], target=0, slack=0.5, limit=4)
        >>> chart.upper, chart.signals
        ((0.0, 0.0, 1.5, 3.0, 4.5), (4,))

    Source:
        Page (1954), Continuous inspection schemes, Biometrika 41:100-115;
        NIST/SEMATECH e-Handbook of Statistical Methods, section 6.3.2.3.
        Golden values: tests/golden/monitoring.json.
    """
    row = as_scores(observations, "observations")
    if slack < 0 or limit <= 0:
        message = f"`slack` must be 0 or more and `limit` above 0; got slack={slack}, limit={limit}"
        raise InputError(message)
    upper, lower = (tuple(one_sided_sums(sign * (row - target) - slack).tolist()) for sign in (1.0, -1.0))
    signals = np.flatnonzero((np.array(upper) > limit) | (np.array(lower) > limit))
    return ControlChart(
        upper=upper,
        lower=lower,
        high=(float(limit),) * len(row),
        low=(0.0,) * len(row),
        signals=tuple(signals.tolist()),
    )


def one_sided_sums(steps: Floats) -> Floats:
    """Return a running sum that never falls below 0: the sum less its lowest value so far; shape (n,)."""
    running = np.concatenate(([0.0], np.cumsum(steps)))
    sums: Floats = (running - np.minimum.accumulate(running))[1:]
    return sums


def ewma(
    observations: Sequence[float], *, target: float, sd: float, weight: float = 0.2, width: float = 3.0
) -> ControlChart:
    """Return the exponentially weighted moving average with its control limits.

    z = weight * x + (1 - weight) * z, from the target on; limits target -+ width
    * sd * sqrt(weight / (2 - weight) * (1 - (1 - weight)**(2 t))).

    Args:
        observations: In order of time; shape (n,).
        target: In-control mean.
        sd: In-control standard deviation of one observation; 0 or more.
        weight: Weight of the newest observation; fraction in (0, 1].
        width: Width of the limits; standard errors.

    Raises:
        InputError: If `weight` is outside (0, 1] or `sd` is below 0.

    Example:
        >>> ewma([1.0, 1.0], target=0.0, sd=1.0, weight=0.5).upper
        (0.5, 0.75)

    Source:
        Roberts (1959), Control chart tests based on geometric moving averages,
        Technometrics 1:239-250; NIST/SEMATECH e-Handbook of Statistical
        Methods, section 6.3.2.4. Golden values: tests/golden/monitoring.json.
    """
    row = as_scores(observations, "observations")
    if not 0.0 < weight <= 1.0 or sd < 0:
        message = f"`weight` must lie in (0, 1] and `sd` be 0 or more; got weight={weight}, sd={sd}"
        raise InputError(message)
    averages = moving_averages(row, target=target, weight=weight)
    times = np.arange(1, len(row) + 1)
    step = width * sd * math.sqrt(weight / (2.0 - weight)) * np.sqrt(1.0 - (1.0 - weight) ** (2 * times))
    outside = np.flatnonzero(np.abs(averages - target) > step) if len(row) else np.empty(0, dtype=int)
    path = tuple(averages.tolist())
    return ControlChart(
        upper=path,
        lower=path,
        high=tuple((target + step).tolist()),
        low=tuple((target - step).tolist()),
        signals=tuple(outside.tolist()),
    )


def moving_averages(row: Floats, *, target: float, weight: float) -> Floats:
    """Return z = weight * x + (1 - weight) * z at each observation, from the target on; shape (n,)."""
    averages, average = np.empty(len(row)), target
    for index, observation in enumerate(row):
        average = weight * float(observation) + (1.0 - weight) * average
        averages[index] = average
    return averages


TIMES_BASELINE: Final = (1.5, 2.0, 3.0, 5.0, 10.0)
"""Alternative rates of the bets, as multiples of the baseline."""

BETS: Final = (0.05, 0.1, 0.2, 0.4, 0.7)
"""Stakes of the bets on a bounded mean, as fractions of the largest safe one."""

_SHORTEST_BLOCK, _LONGEST_BLOCK = 256, 65_536
"""Chunk sizes of observations, after an alarm and while there is none; counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """Alarm of a detector.

    Attributes:
        index: Index of the observation that raised it, from 0.
        since: Estimated index of the first observation after the change.
        log_evidence: Logarithm of the detector's statistic.
    """

    index: int
    since: int
    log_evidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """The result of a detector over a sequence of observations.

    Attributes:
        alarms: All alarms; the detector restarts after each.
        path: Logarithm of its statistic after each observation.
        threshold: Logarithm at which it alarms.
    """

    alarms: tuple[Alarm, ...]
    path: Sequence[float]
    threshold: float


def rate_detector(outcomes: Sequence[float] | Floats, *, baseline: float, arl: float) -> Detection:
    """Watch a share of defects for a rise above its baseline.

    A Shiryaev-Roberts detector, R = (R + 1) * likelihood ratio, averaged over
    several possible new rates. While the true rate is at or below the baseline,
    R - n is a supermartingale for any past, so a false alarm within n
    observations has a probability of at most n / `arl`, and false alarms are on
    average at least `arl` observations apart. No simulation is needed.

    Args:
        outcomes: 1 for a defect, 0 for none, in order of time; one for each
            session, since turns of one session are not independent.
        baseline: In-control rate; fraction in (0, 1).
        arl: Required average run length; observations.

    Raises:
        InputError: If the baseline is not a fraction, `arl` is below 1, or an outcome is neither 0 nor 1.

    Example:
        >>> found = rate_detector([0] * 50 + [1] * 10, baseline=0.02, arl=1000)
        >>> found.alarms[0].index, found.alarms[0].since
        (52, 50)

    Source:
        Shin, Ramdas, Rinaldo (2023), E-detectors: a nonparametric framework for
        sequential change detection, New England Journal of Statistics in Data
        Science, arXiv:2203.03532. Simulated: benchmarks/ALERTS.md.
    """
    row = as_scores(outcomes, "outcomes")
    _check(baseline, arl)
    if not np.isin(row, (0.0, 1.0)).all():
        message = "`outcomes` must be 0 or 1, one for each session; use `level_detector` for scores"
        raise InputError(message)
    of_defect, of_sound = _log_ratios(baseline)
    return _shiryaev_roberts(row, lambda part: np.where(part[:, None] == 1.0, of_defect, of_sound), arl)


def _log_ratios(baseline: float) -> tuple[Floats, Floats]:
    """Return the log likelihood ratios of a defect and of no defect, for each alternative rate; shape (bets,)."""
    rates = np.array([min(times * baseline, (1.0 + baseline) / 2.0) for times in TIMES_BASELINE])
    return np.log(rates / baseline), np.log((1.0 - rates) / (1.0 - baseline))


POWER: Final = 0.8
"""Required probability of detecting a stated rise; fraction."""


def detectable_rate(n: int, *, baseline: float, arl: float, power: float = POWER) -> float | None:
    """Return the lowest defect rate that `rate_detector` detects within a number of observations.

    The detector's statistic after n observations is at least exp(S) / bets for
    each alternative rate, with S the sum of its log likelihood ratios since the rise,
    so it alarms at the latest when S reaches log(arl * bets). That takes a known
    number of defects, and their count is binomial: the probability is a lower
    bound, exact, without simulation. Starts before the rise only increase it.

    Args:
        n: Observations since the rise; count.
        baseline: In-control rate; fraction in (0, 1).
        arl: Average run length of the detector; observations.
        power: Minimum probability of detecting the rise; fraction in (0, 1).

    Returns:
        The rate, fraction; None if even a rate of 1 is not detected.

    Raises:
        InputError: If `n` is below 1, the baseline or `power` is not a fraction, or `arl` is below 1.

    Example:
        >>> round(detectable_rate(200, baseline=0.045, arl=60_000), 3)
        0.159

    Source:
        Shin, Ramdas, Rinaldo (2023), arXiv:2203.03532, for the statistic; the
        bound follows from its first summand. Simulated: tests/unit/measurement/test_control_charts.py.
    """
    _check(baseline, arl)
    if n < 1 or not 0.0 < power < 1.0:
        message = f"`n` must be 1 or more and `power` a fraction between 0 and 1; got n={n}, power={power}"
        raise InputError(message)
    of_defect, of_sound = _log_ratios(baseline)
    needed = np.ceil((math.log(arl * len(of_defect)) - n * of_sound) / (of_defect - of_sound))
    fewest = int(max(needed.min(), 1))
    if fewest > n or bdtrc(fewest - 1, n, 1.0) < power:
        return None
    low, high = 0.0, 1.0
    while high - low > _PRECISION:
        middle = (low + high) / 2.0
        low, high = (low, middle) if bdtrc(fewest - 1, n, middle) >= power else (middle, high)
    return max(high, baseline)


_PRECISION = 1e-6
"""Width at which the search for a rate ends; fraction."""


def level_detector(badness: Sequence[float] | Floats, *, baseline: float, arl: float) -> Detection:
    """Watch the mean of bounded scores for a turn to the worse.

    This is the detector of `rate_detector` with bets instead of likelihoods: 1 + stake * (score -
    baseline) has a mean of at most 1 while the mean is at or below the baseline,
    for any distribution on 0..1.

    Args:
        badness: Scores as fractions of their scale, 1 the bad end, in order of time; one for each session.
        baseline: In-control mean; fraction in (0, 1).
        arl: Required average run length; observations.

    Raises:
        InputError: If a score is outside 0..1, the baseline is not a fraction, or `arl` is below 1.

    Example:
        >>> found = level_detector([0.1] * 50 + [0.8] * 20, baseline=0.2, arl=1000)
        >>> found.alarms[0].index, found.alarms[0].since
        (56, 50)

    Source:
        Shin, Ramdas, Rinaldo (2023), arXiv:2203.03532, with the bets of
        Waudby-Smith, Ramdas (2024), Estimating means of bounded random
        variables by betting, arXiv:2010.09686.
    """
    row = as_scores(badness, "badness")
    _check(baseline, arl)
    if len(row) and not (row.min() >= 0.0 and row.max() <= 1.0):
        message = f"`badness` must lie within 0..1, fractions of the scale; got {row.min():g} to {row.max():g}"
        raise InputError(message)
    stakes = np.array(BETS) / baseline
    return _shiryaev_roberts(row, lambda part: np.log1p(stakes * (part[:, None] - baseline)), arl)


def _check(baseline: float, arl: float) -> None:
    if not 0.0 < baseline < 1.0:
        message = f"`baseline` must be a fraction between 0 and 1; got {baseline!r}"
        raise InputError(message)
    if arl < 1:
        message = f"`arl` must be 1 observation or more; got {arl!r}"
        raise InputError(message)


def _shiryaev_roberts(row: Floats, increments_of: Callable[[Floats], Floats], arl: float) -> Detection:
    """Run the detector over log likelihood ratios, shape (observations, bets); it restarts after each alarm.

    R_n = sum over starts j of the product of ratios j..n, so its logarithm is
    S_n + logsumexp of -S_(j-1), j = 1..n, with S the running sum. The row is
    processed in blocks that grow while there is no alarm, so that time and memory do
    not grow with the number of alarms.
    """
    threshold, alarms = float(np.log(arl)), list[Alarm]()
    path = np.empty(len(row))
    start, block, state = 0, _SHORTEST_BLOCK, _State.fresh(0)
    while start < len(row):
        increments = increments_of(row[start : start + block])
        whole, each, before = state.extend(increments)
        crossed = np.flatnonzero(whole >= threshold)
        end = int(crossed[0]) if len(crossed) else len(whole) - 1
        path[start : start + end + 1] = whole[: end + 1]
        if len(crossed):
            best = int(each[end].argmax())
            since = state.since(before[: end + 1, best], start, best)
            alarms.append(Alarm(index=start + end, since=since, log_evidence=float(whole[end])))
            state, block = _State.fresh(start + end + 1), _SHORTEST_BLOCK
        else:
            state, block = state.after(increments, before, start), min(2 * block, _LONGEST_BLOCK)
        start += end + 1
    return Detection(alarms=tuple(alarms), path=packed(path), threshold=threshold)


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """Sums of a detector from its start up to a block.

    Attributes:
        begin: First observation since the detector restarted.
        total: Running sum before the block; shape (bets,), None before the first observation.
        spread: Logarithm of the sum of exp(-S) over all starts before the block; likewise.
        lowest: Smallest running sum before an observation; likewise.
        lowest_at: The observation before which it occurred; likewise.
    """

    begin: int
    total: Floats | None = None
    spread: Floats | None = None
    lowest: Floats | None = None
    lowest_at: Whole | None = None

    @classmethod
    def fresh(cls, begin: int) -> _State:
        """Return the initial state of a detector."""
        return cls(begin=begin)

    def extend(self, increments: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the statistic, its parts by bet, and the running sums before each observation of a block."""
        total = np.zeros(increments.shape[1]) if self.total is None else self.total
        sums = np.cumsum(np.concatenate([total[None], increments]), axis=0)
        before, running = sums[:-1], sums[1:]
        if self.spread is None:
            spreads = np.logaddexp.accumulate(-before, axis=0)
        else:
            spreads = np.logaddexp.accumulate(np.concatenate([self.spread[None], -before]), axis=0)[1:]
        each = running + spreads
        return np.logaddexp.reduce(each, axis=1) - np.log(each.shape[1]), each, before

    def after(self, increments: Floats, before: Floats, start: int) -> _State:
        """Return the state after a block without an alarm."""
        lowest, at = before.min(axis=0), start + before.argmin(axis=0)
        if self.spread is not None and self.lowest is not None and self.lowest_at is not None:
            # The order of the sums is that of one pass, so that blocks do not change any digit.
            spreads = np.logaddexp.accumulate(np.concatenate([self.spread[None], -before]), axis=0)[-1]
            at = np.where(lowest < self.lowest, at, self.lowest_at)
            lowest = np.minimum(lowest, self.lowest)
        else:
            spreads = np.logaddexp.accumulate(-before, axis=0)[-1]
        return _State(begin=self.begin, total=before[-1] + increments[-1], spread=spreads, lowest=lowest, lowest_at=at)

    def since(self, before: Floats, start: int, bet: int) -> int:
        """Return the observation since which a bet won most."""
        change_point = int(before.argmin())
        if self.lowest is None or self.lowest_at is None or before[change_point] < self.lowest[bet]:
            return start + change_point
        return int(self.lowest_at[bet])


Flags: TypeAlias = NDArray[np.bool_]

SPANS: Final = (2, 4, 8, 16)
"""Numbers of latest windows that are compared with the in-control windows; counts."""

_WORTH_A_LOOK = 2.5
"""Standard deviations below which no exact probability can be small enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanAlarm:
    """Alarm of a scan.

    Attributes:
        index: Index of the last compared window, from 0.
        since: Index of the first of them.
        p_value: Exact in-control probability of ranks at least this high.
    """

    index: int
    since: int
    p_value: float


def scan(values: Floats, *, n_reference: int, arl: float) -> tuple[ScanAlarm, ...]:
    """Compare the latest windows repeatedly with in-control windows.

    For every window and each span, the latest windows are compared with the
    reference by the rank sum, whose exact distribution given ties is used. If
    nothing changed, all windows are exchangeable, so each comparison alarms with
    its own small probability regardless of the others; their sum bounds the false
    alarms: n / `arl` within n windows. After an alarm the spans fill up again.

    Order metrics of windows take few values and have no useful likelihood. Ranks
    need none, and high values need not be likely in control.

    Args:
        values: A metric of windows that do not overlap, in order of time; shape (n,). A rise is tested.
        n_reference: Number of first windows that are in control; count.
        arl: Windows between two false alarms, on average; count.

    Returns:
        The alarms in order of time; none if there is no window after the reference.

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
    """Return for each end whether the rank sum of the `span` windows before it is far enough above its mean.

    The rank sum is the sum over windows of the number of exceeded reference windows, plus
    a constant; its variance needs the counts of equal values. Both are running
    sums, so no window is evaluated twice. A tolerance allows for
    rounding: `_rank_sum_p` decides.
    """
    result = np.zeros(len(values) + 1, dtype=bool)
    if len(values) < span or not len(reference):
        return result
    low, high = np.sort(reference).searchsorted(values, "left"), np.sort(reference).searchsorted(values, "right")
    doubled = _running(low + high, span) + span * (span + 1)
    n = len(reference) + span
    ties = np.zeros(len(doubled))
    for value in np.unique(values):
        count = _running(values == value, span) + int((reference == value).sum())
        ties += count.astype(np.float64) * (count * count - 1.0)
    # Population variance of doubled mid-ranks: (n^2 - 1) / 3 minus the ties' part.
    spread = np.maximum((n**3 - n - ties) / (3.0 * n), 0.0)
    sd = np.sqrt(span * (n - span) / (n - 1) * spread)
    result[span:] = doubled - span * (n + 1) >= (_WORTH_A_LOOK - 1e-6) * sd
    return result


def _running(row: Whole | Flags, span: int) -> Whole:
    sums = np.concatenate(([0], np.cumsum(row, dtype=np.int64)))
    return np.asarray(sums[span:] - sums[:-span])


def _rank_sum_p(reference: Floats, latest: Floats) -> float:
    """Return the probability of a rank sum as high as that of `latest`; 1 where it cannot be small."""
    n, span = len(reference) + len(latest), len(latest)
    if latest.sum() / span <= reference.mean():
        return 1.0
    doubled = _doubled_ranks(np.concatenate([reference, latest]))
    observed, mean = int(doubled[len(reference) :].sum()), span * (n + 1)
    variance = span * (n - span) / (n - 1) * float(doubled.var())
    if variance == 0 or (observed - mean) / math.sqrt(variance) < _WORTH_A_LOOK:
        return 1.0
    return _at_least(doubled, span, observed)


def _doubled_ranks(values: Floats) -> Whole:
    """Return twice the mean rank of each value: an integer, even with ties."""
    _, which, sizes = np.unique(values, return_inverse=True, return_counts=True)
    doubled: Whole = (2 * np.cumsum(sizes) - sizes + 1)[which]
    return doubled


def _at_least(ranks: Whole, span: int, found: int) -> float:
    """Return the share of subsets of `span` ranks with a sum of `found` or more.

    ways[k, s] counts the subsets of k ranks with the sum s; ranks are added one by one.
    """
    counts = np.zeros((span + 1, int(np.sort(ranks)[-span:].sum()) + 1))
    counts[0, 0] = 1.0
    for rank in ranks.tolist():
        # From the largest sum down, so that no rank is used twice.
        counts[1:, rank:] = counts[1:, rank:] + counts[:-1, : counts.shape[1] - rank]
    return float(counts[span, found:].sum() / math.comb(len(ranks), span))


METHOD: Final = "confidence sequence, beta mixture"
"""Name of the interval that is valid at every reading."""

_STEPS = 60


def confidence_sequence(
    defects: int, labelled: int, *, confidence: float = 0.95, prior: tuple[float, float] = (0.5, 0.5)
) -> Estimate | Undefined:
    """Estimate a share of defects with an interval that is valid at every reading.

    Wilson's interval, read after every session, misses the true share at some time
    in 40 to 49% of histories. This interval misses it in 1 -
    `confidence` of histories, for any number of readings and any stopping
    time: it contains the shares against which a mixture of all others has not
    reached the odds 1 / (1 - confidence). Its price is width.

    Args:
        defects: Sessions with a defect until now; count.
        labelled: Sessions with a label until now; count.
        confidence: Share of histories whose intervals always contain the true value; fraction in (0, 1).
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
        return Undefined(reason=NO_LABEL, unit=DIALOGUES, method=METHOD)
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
    """Return both ends at each reading; shapes (looks,), fractions.

    The log odds of the mixture against a share p are 0 or more at both ends of
    0..1 and fall to their minimum at the observed share, so each end is found
    by halving.
    """
    k, n = np.asarray(defects, dtype=np.float64), np.asarray(labelled, dtype=np.float64)
    a, b = prior
    mixed, threshold = betaln(a + k, b + n - k) - betaln(a, b), math.log(1.0 / (1.0 - confidence))

    def is_inside(share: Floats) -> Floats:
        return np.asarray(mixed - xlogy(k, share) - xlog1py(n - k, -share) < threshold)

    middle = k / n
    ends = []
    for outer in (np.zeros_like(middle), np.ones_like(middle)):
        inside, outside = middle.copy(), outer
        for _ in range(_STEPS):
            half = (inside + outside) / 2.0
            selected = is_inside(half)
            inside, outside = np.where(selected, half, inside), np.where(selected, outside, half)
        ends.append(np.where(is_inside(outer), outer, outside))
    return ends[0], ends[1]
