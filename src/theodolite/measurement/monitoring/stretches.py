"""Stretches: the scores of one application under one instrument, watched."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import betaincinv

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.order import OrderProfile, RollingWindows
from theodolite.domain.monitoring.history import History, Score
from theodolite.domain.monitoring.watch import Alert, AlertKind, Cause, Stretch, WatchRules
from theodolite.measurement.interval import student_quantile
from theodolite.measurement.monitoring.charts import cusum, ewma
from theodolite.measurement.monitoring.detectors import Detection, level_detector, rate_detector
from theodolite.measurement.monitoring.scans import SPANS, scan
from theodolite.measurement.monitoring.sequences import METHOD, confidence_sequence, sequence_ends
from theodolite.measurement.order.profile import relevance_profile
from theodolite.measurement.order.rolling import rolling_entropy, rolling_inversions, rolling_subsequence
from theodolite.measurement.order.sequence import Floats
from theodolite.measurement.proportion import DIALOGUES

N_DETECTORS: Final = 6
"""Detectors that share the false alarms of a stretch: rate, level, and PEN twice, CIN, LIS; count."""

SR: Final = "e-SR detector"
SCAN: Final = "exact rank-sum scan"
_LEARNING = 0.95
"""One-sided confidence at whose upper end a baseline is learned."""

_LEAST_BASELINE, _MOST_BASELINE = 0.001, 0.95
_CUSUM_SLACK, _CUSUM_LIMIT = 0.5, 5.0
_ORDER_ALERTS = (
    (AlertKind.PEN_ROSE, "pen", 1.0, "permutation entropy"),
    (AlertKind.PEN_FELL, "pen", -1.0, "permutation entropy"),
    (AlertKind.CIN_ROSE, "cin", 1.0, "inversions"),
    (AlertKind.LIS_FELL, "lis", -1.0, "longest increasing subsequence"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """The scored units of a stretch, one for each session.

    Attributes:
        places: Place of each session's last score in the history; shape (sessions,).
        badness: Mean badness of each session; shape (sessions,), fractions.
        defects: Whether any score of the session is a defect; shape (sessions,), None without a rule.
        scores: Every score with its place, in order of time.
    """

    places: tuple[int, ...]
    badness: Floats
    defects: Floats | None
    scores: tuple[tuple[int, float], ...]


def row_of(history: History, placed: Sequence[tuple[int, Score]]) -> Row:
    """Return the sessions of a stretch; a score without a session is one of its own."""
    sessions: dict[str, list[tuple[int, Score]]] = {}
    for place, score in placed:
        if score.value is not None:
            sessions.setdefault(f"{score.batch}/{score.session}" if score.session else f"#{place}", []).append(
                (place, score)
            )
    ordered = sorted(sessions.values(), key=lambda members: members[-1][0])
    known = all(score.defect is not None for members in ordered for _, score in members)
    badness = [np.mean([history.badness(_value(score)) for _, score in members]) for members in ordered]
    defects = np.array([float(any(score.defect for _, score in members)) for members in ordered])
    return Row(
        places=tuple(members[-1][0] for members in ordered),
        badness=np.array(badness, dtype=np.float64),
        defects=defects if known and ordered else None,
        scores=tuple((place, score.value) for place, score in placed if score.value is not None),
    )


def _value(score: Score) -> float:
    return 0.0 if score.value is None else score.value


def watch_stretch(
    history: History,
    application: str,
    instruments: Mapping[str, str],
    placed: Sequence[tuple[int, Score]],
    rules: WatchRules,
) -> tuple[Stretch, tuple[Alert, ...]]:
    """Watch the scores of one application under one instrument.

    Args:
        history: What they are part of.
        application: Whose scores.
        instruments: Part to version.
        placed: Scores with their places, in order of time.
        rules: What is watched for.

    Returns:
        The stretch, and its alerts in order of time, causes not yet told.
    """
    row = row_of(history, placed)
    rate, over, since_over = _rate(row, rules)
    baselines = _baselines(row, rules)
    found = _detections(row, baselines, rules)
    alerts = [
        *_limit_alert(history, application, row, rules, rate, since_over),
        *_detector_alerts(history, application, row, baselines, found),
        *_order_alerts(history, application, row, rules),
    ]
    stretch = Stretch(
        application=application,
        instruments=dict(instruments),
        positions=tuple(place for place, _ in placed),
        n=len(row.scores),
        n_missing=len(placed) - len(row.scores),
        n_sessions=len(row.places),
        level=float(np.mean([value for _, value in row.scores])) if row.scores else None,
        rate=rate,
        over_limit=over,
        baseline=baselines.get("rate"),
        windows=_windows(row, placed, rules),
        latest=_latest(row, rules),
        rate_detector=found["rate"].path if "rate" in found else (),
        level_detector=found["level"].path if "level" in found else (),
        cusum=_cusum(row, rules),
        ewma=_ewma(row, rules),
        notes=tuple(_notes(row, rules)),
    )
    return stretch, tuple(sorted(alerts, key=lambda alert: alert.position or 0))


def _rate(row: Row, rules: WatchRules) -> tuple[Estimate | Undefined, bool | None, int | None]:
    """Return the rate, whether it is above the limit, and at which session that was shown first."""
    if row.defects is None:
        reason = "No rule says which scores are defects." if row.scores else "There is no score."
        return Undefined(reason=reason, n=len(row.places), unit=DIALOGUES, method=METHOD), None, None
    counts = np.cumsum(row.defects)
    rate = confidence_sequence(int(counts[-1]), len(counts), confidence=rules.confidence)
    if rules.limit is None:
        return rate, None, None
    low, high = sequence_ends(counts, np.arange(1.0, len(counts) + 1), rules.confidence, (0.5, 0.5))
    above = np.flatnonzero(low > rules.limit)
    if len(above):
        return rate, True, int(above[0])
    return rate, False if bool((high < rules.limit).any()) else None, None


def _baselines(row: Row, rules: WatchRules) -> dict[str, float]:
    """Return what the detectors are held against, learned at the careful end where it is not given."""
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


def _detections(row: Row, baselines: Mapping[str, float], rules: WatchRules) -> dict[str, Detection]:
    """Run the detectors from the end of the good times on; all of a history where its baseline was given."""
    arl = float(rules.arl * N_DETECTORS)
    found: dict[str, Detection] = {}
    if row.defects is not None:
        start = 0 if rules.baseline is not None else rules.reference
        if len(row.defects) > start:
            found["rate"] = rate_detector(row.defects[start:].tolist(), baseline=baselines["rate"], arl=arl)
    if len(row.badness) > rules.reference:
        later = row.badness[rules.reference :].tolist()
        found["level"] = level_detector(later, baseline=baselines["level"], arl=arl)
    return found


def _detector_alerts(
    history: History, application: str, row: Row, baselines: Mapping[str, float], found: Mapping[str, Detection]
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
        what = "mean badness" if name == "level" else "defect rate"
        yield _alert(
            history,
            kind,
            application,
            (row.places[index], row.places[since], index - since + 1),
            evidence=math.exp(min(first.log_evidence, 700.0)),
            threshold=math.exp(detection.threshold),
            method=SR,
            detail=f"{what} {now:.3f} in {index - since + 1} sessions since then, held against {baselines[name]:.3f}",
            last=row.places[start + last.index],
            n_alarms=len(detection.alarms),
        )


def _alert(
    history: History,
    kind: AlertKind,
    application: str,
    places: tuple[int, int, int],
    *,
    evidence: float,
    threshold: float,
    method: str,
    detail: str,
    last: int,
    n_alarms: int,
) -> Alert:
    position, since, delay = places
    return Alert(
        kind=kind,
        application=application,
        position=position,
        at=history.scores[position].at,
        since=since,
        delay=delay,
        cause=Cause.UNKNOWN,
        evidence=evidence,
        threshold=threshold,
        method=method,
        detail=detail,
        n_alarms=n_alarms,
        last=last,
        last_at=history.scores[last].at,
    )


def _limit_alert(
    history: History, application: str, row: Row, rules: WatchRules, rate: Estimate | Undefined, since_over: int | None
) -> Iterator[Alert]:
    if since_over is None or isinstance(rate, Undefined) or rules.limit is None:
        return
    place = row.places[since_over]
    yield _alert(
        history,
        AlertKind.RATE_OVER_LIMIT,
        application,
        (place, row.places[0], since_over + 1),
        evidence=rate.low or 0.0,
        threshold=rules.limit,
        method=METHOD,
        detail=f"{rate.count} of {rate.n} sessions; the rate is at least {rate.low:.3f}, the limit {rules.limit:.3f}",
        last=row.places[-1],
        n_alarms=1,
    )


def _order_alerts(history: History, application: str, row: Row, rules: WatchRules) -> Iterator[Alert]:
    """Scan windows that do not overlap for a change of order against the good times."""
    n_reference = _reference_windows(rules)
    values = _metrics([value for _, value in row.scores], rules)
    arl = rules.arl * N_DETECTORS / rules.window
    for kind, metric, sign, words in _ORDER_ALERTS:
        disjoint = np.asarray(values[metric][:: rules.window], dtype=np.float64)
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
            (row.scores[end][0], row.scores[begin][0], end - begin + 1),
            evidence=1.0 / first.p_value,
            threshold=arl * len(SPANS),
            method=SCAN,
            detail=f"{words} {now:.2f} in {first.index - first.since + 1} windows of {rules.window}, {then:.2f} before",
            last=row.scores[(last.index + 1) * rules.window - 1][0],
            n_alarms=len(alarms),
        )


def _reference_windows(rules: WatchRules) -> int:
    """Return the windows of the good times; 12 at least, since ranks of fewer prove nothing."""
    return max(12, rules.reference // rules.window)


def _metrics(scores: Sequence[float], rules: WatchRules) -> dict[str, Floats]:
    return {
        "pen": rolling_entropy(scores, window=rules.window, order=rules.order, normalize=True),
        "cin": rolling_inversions(scores, window=rules.window).astype(np.float64),
        "lis": rolling_subsequence(scores, window=rules.window).astype(np.float64),
        "lnds": rolling_subsequence(scores, window=rules.window, strict=False).astype(np.float64),
    }


def _windows(row: Row, placed: Sequence[tuple[int, Score]], rules: WatchRules) -> RollingWindows:
    values = np.array([value for _, value in row.scores], dtype=np.float64)
    if len(values) < rules.window:
        return RollingWindows()
    metrics = _metrics(values.tolist(), rules)
    defects = [score.defect for _, score in placed if score.value is not None]
    shares = _means(np.array(defects, dtype=np.float64), rules.window) if None not in defects else ()
    return RollingWindows(
        positions=tuple(place for place, _ in row.scores[rules.window - 1 :]),
        level=_means(values, rules.window),
        defect_share=shares,
        pen=tuple(metrics["pen"].tolist()),
        cin=tuple(int(value) for value in metrics["cin"]),
        lis=tuple(int(value) for value in metrics["lis"]),
        lnds=tuple(int(value) for value in metrics["lnds"]),
    )


def _means(values: Floats, window: int) -> tuple[float, ...]:
    running = np.concatenate(([0.0], np.cumsum(values)))
    return tuple(((running[window:] - running[:-window]) / window).tolist())


def _latest(row: Row, rules: WatchRules) -> OrderProfile | None:
    if len(row.scores) < rules.window:
        return None
    return relevance_profile([value for _, value in row.scores[-rules.window :]], order=rules.order)


def _good_times(row: Row, rules: WatchRules) -> tuple[float, float]:
    """Return mean and standard deviation of badness in the good times; 0 where it never varied."""
    reference = row.badness[: rules.reference]
    if len(reference) < 2:
        return 0.0, 0.0
    return float(reference.mean()), float(reference.std(ddof=1))


def _cusum(row: Row, rules: WatchRules) -> tuple[float, ...]:
    target, spread = _good_times(row, rules)
    if not spread:
        return ()
    return cusum(((row.badness - target) / spread).tolist(), target=0.0, slack=_CUSUM_SLACK, limit=_CUSUM_LIMIT).upper


def _ewma(row: Row, rules: WatchRules) -> tuple[float, ...]:
    target, spread = _good_times(row, rules)
    return ewma(row.badness.tolist(), target=target, sd=spread).upper if spread else ()


def _notes(row: Row, rules: WatchRules) -> Iterator[str]:
    n, n_windows = len(row.places), len(row.scores) // rules.window
    if n <= rules.reference:
        yield (
            f"{n} sessions, of which the first {rules.reference} are the good times that later ones are held"
            f" against: {rules.reference + 1 - n} more until slips can be seen"
        )
    if n_windows <= _reference_windows(rules):
        missing = _reference_windows(rules) + 1 - n_windows
        yield f"{n_windows} windows of {rules.window}: {missing} more until a change of order can be seen"
    if row.defects is None and row.scores:
        yield "No rule says which scores are defects, so there is no rate; state one with --defect"
