"""Detectors over one segment: the scores of one application under one version of the instrument."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.special import betaincinv

from theodolite.domain.annotation import Outcome
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.order import OrderProfile, RankingAgreement, RollingWindows, WorstScore
from theodolite.domain.monitoring import (
    DEFECT_UNKNOWN,
    IS_DEFECT,
    Alert,
    AlertKind,
    Cause,
    DetectableRise,
    History,
    ScaleDirection,
    ScoreColumns,
    Segment,
    WatchRules,
)
from theodolite.domain.undefined_reasons import NO_SCORE, NO_SCORE_RULE
from theodolite.measurement.control_charts import (
    METHOD,
    POWER,
    SPANS,
    Detection,
    confidence_sequence,
    detectable_rate,
    level_detector,
    moving_averages,
    one_sided_sums,
    rate_detector,
    scan,
    sequence_ends,
)
from theodolite.measurement.interval import student_quantile
from theodolite.measurement.order_profile import profile_or_reason
from theodolite.measurement.proportion import DIALOGUES
from theodolite.measurement.ranking import ranking_or_reason
from theodolite.measurement.sequences import Floats, Whole, packed, packed_counts, rolling_mean, rolling_windows

N_DETECTORS: Final = 6
"""Number of detectors that share the false alarms of a segment: rate, level, PEN twice, CIN and LIS; count."""

SR: Final = "e-SR detector"
SCAN: Final = "exact rank-sum scan"
_LEARNING = 0.95
"""One-sided confidence of the upper bound that defines a baseline."""

_LEAST_BASELINE, _MOST_BASELINE = 0.001, 0.95
_CUSUM_SLACK, _EWMA_WEIGHT = 0.5, 0.2
_RANKED = 2_000
"""Number of latest scores with a human score that are ranked; count."""

_RECENT, _MOST_WORST = 100, 5
"""Number of latest scores, and of worst ones shown with their reasons; counts."""

_ORDER_ALERTS = (
    (AlertKind.PEN_ROSE, "pen", 1.0, "permutation entropy"),
    (AlertKind.PEN_FELL, "pen", -1.0, "permutation entropy"),
    (AlertKind.CIN_ROSE, "cin", 1.0, "inversions"),
    (AlertKind.LIS_FELL, "lis", -1.0, "longest increasing subsequence"),
)


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """The scored units of a segment, one for each session.

    Attributes:
        last_positions: Index of each session's last score in the history; shape (sessions,).
        badness: Mean badness of each session; shape (sessions,), fractions.
        defects: Whether any score of the session is a defect; shape (sessions,), None without a rule.
        positions: Index of every score with a value, in order of time; shape (scores,).
        values: These scores; shape (scores,).
        score_defects: Whether each of these scores is a defect; shape (scores,), None without a rule.
        without_value: Number of scores without a value, by outcome; counts.
    """

    last_positions: Whole
    badness: Floats
    defects: Floats | None
    positions: Whole
    values: Floats
    score_defects: Floats | None
    without_value: Mapping[Outcome, int]


def row_of(history: History, placed: Sequence[int] | Whole) -> SegmentRow:
    """Return the sessions of a segment; a score without a session is a separate one.

    Args:
        history: In order of time.
        placed: Positions of the segment's scores in it, ascending.
    """
    columns, all_places = history.columns, np.asarray(placed, dtype=np.int64)
    values = np.frombuffer(columns.value)[all_places] if len(all_places) else np.empty(0)
    scored = ~np.isnan(values)
    positions, values = all_places[scored], values[scored]
    last, group = _sessions(columns, positions)
    n_in = np.bincount(group, minlength=len(last))
    span = history.highest - history.lowest
    low = (values - history.lowest) / span
    badness = np.bincount(group, low if history.worse is ScaleDirection.HIGH else 1.0 - low, minlength=len(last))
    codes = np.frombuffer(columns.defect, dtype=np.uint8)[positions] if len(positions) else np.empty(0, dtype=np.uint8)
    known = bool(len(positions)) and not (codes == DEFECT_UNKNOWN).any()
    outcomes = np.frombuffer(columns.outcome, dtype=np.uint8)[all_places[~scored]] if not scored.all() else ()
    return SegmentRow(
        last_positions=last,
        badness=badness / np.maximum(n_in, 1),
        defects=(np.bincount(group, codes == IS_DEFECT, minlength=len(last)) > 0).astype(np.float64) if known else None,
        positions=positions,
        values=values,
        score_defects=(codes == IS_DEFECT).astype(np.float64) if known else None,
        without_value={tuple(Outcome)[code]: int(n) for code, n in enumerate(np.bincount(outcomes)) if n},
    )


def _sessions(columns: ScoreColumns, positions: Whole) -> tuple[Whole, Whole]:
    """Return the index of each session's last score, ascending, and the session of each score."""
    if not len(positions):
        return positions, positions
    sessions = np.frombuffer(columns.session.codes, dtype=np.int32)[positions].astype(np.int64)
    batches = np.frombuffer(columns.batch.codes, dtype=np.int32)[positions].astype(np.int64)
    named = np.array([bool(name) for name in columns.session.values])[sessions]
    if not named.any():
        return positions, np.arange(len(positions))
    keys = np.where(named, sessions * (len(columns.batch.values) + 1) + batches, -1 - np.arange(len(positions)))
    _, group = np.unique(keys, return_inverse=True)
    last = np.zeros(int(group.max()) + 1, dtype=np.int64)
    np.maximum.at(last, group, positions)
    order = np.argsort(last)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return last[order], rank[group]


def watch_segment(
    history: History,
    application: str,
    instruments: Mapping[str, str],
    placed: Sequence[int] | Whole,
    rules: WatchRules,
) -> tuple[Segment, tuple[Alert, ...]]:
    """Watch the scores of one application under one instrument.

    Args:
        history: The history of scores.
        application: Application of the scores.
        instruments: Part to version.
        placed: Positions of its scores in the history, in order of time.
        rules: The monitoring rules.

    Returns:
        The segment, and its alerts in order of time, without causes.
    """
    row = row_of(history, placed)
    windows = _windows(row, rules)
    rate, over, since_over = _rate(row, rules)
    baselines = _baselines(row, rules)
    result = _detections(row, baselines, rules)
    alerts = [
        *_limit_alert(history, application, row, rules, rate, since_over),
        *_detector_alerts(history, application, row, baselines, result),
        *_order_alerts(history, application, row, windows, rules),
    ]
    segment = Segment(
        application=application,
        instruments=dict(instruments),
        positions=packed_counts(np.asarray(placed, dtype=np.int64)),
        n=len(row.values),
        n_missing=len(placed) - len(row.values),
        n_sessions=len(row.last_positions),
        level=float(row.values.mean()) if len(row.values) else None,
        rate=rate,
        over_limit=over,
        baseline=baselines.get("rate"),
        detectable=_detectable(baselines.get("rate"), rules),
        windows=windows,
        latest=_latest(row, rules),
        rate_detector=result["rate"].path if "rate" in result else (),
        level_detector=result["level"].path if "level" in result else (),
        cusum=_cusum(row, rules),
        ewma=_ewma(row, rules),
        worst=tuple(_worst(history, row)),
        ranking=_ranking(history, row),
        notes=tuple(_notes(row, rules)),
    )
    return segment, tuple(sorted(alerts, key=lambda alert: alert.position or 0))


def _rate(row: SegmentRow, rules: WatchRules) -> tuple[Estimate | Undefined, bool | None, int | None]:
    """Return the rate, whether it is above the limit, and the first session at which that was shown."""
    if row.defects is None:
        reason = NO_SCORE_RULE if len(row.values) else NO_SCORE
        return Undefined(reason=reason, n=len(row.last_positions), unit=DIALOGUES, method=METHOD), None, None
    counts = np.cumsum(row.defects)
    rate = confidence_sequence(int(counts[-1]), len(counts), confidence=rules.confidence)
    if rules.limit is None:
        return rate, None, None
    low, high = sequence_ends(counts, np.arange(1.0, len(counts) + 1), rules.confidence, (0.5, 0.5))
    above = np.flatnonzero(low > rules.limit)
    if len(above):
        return rate, True, int(above[0])
    return rate, False if bool((high < rules.limit).any()) else None, None


def _baselines(row: SegmentRow, rules: WatchRules) -> dict[str, float]:
    """Return the reference values of the detectors; if none is set, a cautious estimate from the reference period."""
    baselines: dict[str, float] = {}
    n = min(rules.reference, len(row.badness))
    if row.defects is not None:
        k = float(row.defects[:n].sum())
        learned = 1.0 if k == n else float(betaincinv(k + 1.0, n - k, _LEARNING))
        baselines["rate"] = rules.baseline if rules.baseline is not None else learned
    if n >= 2:
        error = float(row.badness[:n].std(ddof=1)) / math.sqrt(n)
        quantile = student_quantile(2.0 * _LEARNING - 1.0, n - 1)
        baselines["level"] = float(row.badness[:n].mean()) + quantile * error
    return {name: min(max(value, _LEAST_BASELINE), _MOST_BASELINE) for name, value in baselines.items()}


_WITHIN = (100, 200, 500)
"""Numbers of scores after a rise for which the power is stated; counts."""


def _detectable(baseline: float | None, rules: WatchRules) -> tuple[DetectableRise, ...]:
    """Return the rises that the rate detector detects within some numbers of scores."""
    if baseline is None:
        return ()
    arl = float(rules.arl * N_DETECTORS)
    return tuple(DetectableRise(n=n, rate=detectable_rate(n, baseline=baseline, arl=arl), power=POWER) for n in _WITHIN)


def _detections(row: SegmentRow, baselines: Mapping[str, float], rules: WatchRules) -> dict[str, Detection]:
    """Run the detectors after the in-control period; over the whole history if a baseline is given."""
    arl = float(rules.arl * N_DETECTORS)
    result: dict[str, Detection] = {}
    if row.defects is not None:
        start = 0 if rules.baseline is not None else rules.reference
        if len(row.defects) > start:
            result["rate"] = rate_detector(row.defects[start:], baseline=baselines["rate"], arl=arl)
    if len(row.badness) > rules.reference:
        later = row.badness[rules.reference :]
        result["level"] = level_detector(later, baseline=baselines["level"], arl=arl)
    return result


def _detector_alerts(
    history: History, application: str, row: SegmentRow, baselines: Mapping[str, float], found: Mapping[str, Detection]
) -> Iterator[Alert]:
    for name, kind in (("rate", AlertKind.RATE_ROSE), ("level", AlertKind.LEVEL_SLIPPED)):
        detection = found.get(name)
        if detection is None or not detection.alarms:
            continue
        first, last = detection.alarms[0], detection.alarms[-1]
        start = len(row.badness) - len(detection.path)
        index, since = start + first.index, start + first.since
        seen = row.badness if name == "level" or row.defects is None else row.defects
        now = float(seen[since : index + 1].mean())
        what = "mean score (0 best, 1 worst)" if name == "level" else "defect rate"
        yield _alert(
            history,
            kind,
            application,
            (int(row.last_positions[index]), int(row.last_positions[since]), index - since + 1),
            evidence=math.exp(min(first.log_evidence, 700.0)),
            threshold=math.exp(detection.threshold),
            method=SR,
            detail=f"{what} {now:.3f} in {index - since + 1} sessions since then; baseline {baselines[name]:.3f}",
            last=int(row.last_positions[start + last.index]),
            n_alarms=len(detection.alarms),
        )


def _alert(
    history: History,
    kind: AlertKind,
    application: str,
    last_positions: tuple[int, int, int],
    *,
    evidence: float,
    threshold: float,
    method: str,
    detail: str,
    last: int,
    n_alarms: int,
) -> Alert:
    position, since, delay = last_positions
    return Alert(
        kind=kind,
        application=application,
        position=position,
        at=history.columns.at(position),
        since=since,
        delay=delay,
        cause=Cause.UNKNOWN,
        evidence=evidence,
        threshold=threshold,
        method=method,
        detail=detail,
        n_alarms=n_alarms,
        last=last,
        last_at=history.columns.at(last),
    )


def _limit_alert(
    history: History,
    application: str,
    row: SegmentRow,
    rules: WatchRules,
    rate: Estimate | Undefined,
    since_over: int | None,
) -> Iterator[Alert]:
    if since_over is None or isinstance(rate, Undefined) or rules.limit is None:
        return
    position = int(row.last_positions[since_over])
    yield _alert(
        history,
        AlertKind.RATE_OVER_LIMIT,
        application,
        (position, int(row.last_positions[0]), since_over + 1),
        evidence=rate.low or 0.0,
        threshold=rules.limit,
        method=METHOD,
        detail=f"{rate.count} of {rate.n} sessions; the rate is at least {rate.low:.3f}, the limit {rules.limit:.3f}",
        last=int(row.last_positions[-1]),
        n_alarms=1,
    )


def _order_alerts(
    history: History, application: str, row: SegmentRow, values: RollingWindows, rules: WatchRules
) -> Iterator[Alert]:
    """Scan windows without overlap for a change of order compared with the in-control period."""
    n_reference = _reference_windows(rules)
    arl = rules.arl * N_DETECTORS / rules.window
    for kind, metric, sign, words in _ORDER_ALERTS:
        disjoint = np.asarray(getattr(values, metric)[:: rules.window], dtype=np.float64)
        alarms = scan(sign * disjoint, n_reference=n_reference, arl=arl)
        if not alarms:
            continue
        first, last = alarms[0], alarms[-1]
        end, begin = (first.index + 1) * rules.window - 1, first.since * rules.window
        now, then = disjoint[first.since : first.index + 1].mean(), disjoint[:n_reference].mean()
        yield _alert(
            history,
            kind,
            application,
            (int(row.positions[end]), int(row.positions[begin]), end - begin + 1),
            evidence=1.0 / first.p_value,
            threshold=arl * len(SPANS),
            method=SCAN,
            detail=f"{words} {now:.2f} in {first.index - first.since + 1} windows of {rules.window}, {then:.2f} before",
            last=int(row.positions[(last.index + 1) * rules.window - 1]),
            n_alarms=len(alarms),
        )


def _reference_windows(rules: WatchRules) -> int:
    """Return the in-control windows; at least 12, because ranks of fewer show nothing."""
    return max(12, rules.reference // rules.window)


def _windows(row: SegmentRow, rules: WatchRules) -> RollingWindows:
    windows = rolling_windows(row.values, window=rules.window, order=rules.order, delay=rules.delay)
    shares = rolling_mean(row.score_defects, rules.window) if row.score_defects is not None else np.empty(0)
    positions = packed_counts(row.positions[rules.window - 1 :])
    return replace(windows, positions=positions, defect_share=packed(shares) if len(windows.level) else ())


def _latest(row: SegmentRow, rules: WatchRules) -> OrderProfile | Undefined:
    return profile_or_reason(row.values[-rules.window :].tolist(), order=rules.order, delay=rules.delay)


def _good_times(row: SegmentRow, rules: WatchRules) -> tuple[float, float]:
    """Return the in-control mean and standard deviation of badness; 0 if it never varied."""
    reference = row.badness[: rules.reference]
    if len(reference) < 2:
        return 0.0, 0.0
    return float(reference.mean()), float(reference.std(ddof=1))


def _cusum(row: SegmentRow, rules: WatchRules) -> Sequence[float]:
    target, spread = _good_times(row, rules)
    if not spread:
        return ()
    return packed(one_sided_sums((row.badness - target) / spread - _CUSUM_SLACK))


def _ewma(row: SegmentRow, rules: WatchRules) -> Sequence[float]:
    target, spread = _good_times(row, rules)
    return packed(moving_averages(row.badness, target=target, weight=_EWMA_WEIGHT)) if spread else ()


def _worst(history: History, row: SegmentRow) -> Iterator[WorstScore]:
    """Yield the worst of the latest scores, latest first among equals, excluding the best point of the scale."""
    recent = row.values[-_RECENT:]
    badness = recent if history.worse is ScaleDirection.HIGH else -recent
    order = np.lexsort((-np.arange(len(recent)), -badness))
    best = history.lowest if history.worse is ScaleDirection.HIGH else history.highest
    for index in order[:_MOST_WORST].tolist():
        if recent[index] != best:
            position = int(row.positions[-len(recent) + index])
            score = history.scores[position]
            name = score.item or score.session or f"score {position + 1:,}"
            yield WorstScore(dialogue=name, value=float(recent[index]), reason=score.reason)


def _ranking(history: History, row: SegmentRow) -> RankingAgreement | Undefined | None:
    """Return the agreement of the latest scores with people's order of the same units; None without human scores."""
    if not len(row.positions):
        return None
    human = np.frombuffer(history.columns.human)[row.positions]
    both = np.flatnonzero(~np.isnan(human))[-_RANKED:]
    return ranking_or_reason(human[both].tolist(), row.values[both].tolist()) if len(both) else None


def _notes(row: SegmentRow, rules: WatchRules) -> Iterator[str]:
    n, n_windows = len(row.last_positions), len(row.values) // rules.window
    if not n:
        kinds = ", ".join(f"{count:,} {outcome.value}" for outcome, count in row.without_value.items())
        yield f"No score has a value ({kinds or 'none came'}), so nothing can be monitored"
        return
    if n <= rules.reference:
        yield (
            f"{n} sessions, of which the first {rules.reference} are the reference for later ones:"
            f" {rules.reference + 1 - n} more until changes can be detected"
        )
    if n_windows <= _reference_windows(rules):
        missing = _reference_windows(rules) + 1 - n_windows
        yield f"{n_windows} windows of {rules.window}: {missing} more until a change of order can be seen"
    if row.defects is None:
        yield "No rule says which scores are defects, so there is no rate; state one with --defect"
