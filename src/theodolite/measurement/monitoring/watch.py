"""The watch: a whole history, its instruments told apart from its applications."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from theodolite.domain.monitoring.history import History, InstrumentChange
from theodolite.domain.monitoring.watch import Alert, AlertKind, AnchorCheck, Cause, Stretch, Watch, WatchRules
from theodolite.measurement.monitoring.anchors import TESTS_PER_SITTING, anchor_checks
from theodolite.measurement.monitoring.shifts import instrument_changes
from theodolite.measurement.monitoring.stretches import watch_stretch
from theodolite.measurement.order.sequence import Whole

SIGN_TESTS = "exact sign tests"


def watch_history(
    history: History,
    rules: WatchRules | None = None,
    *,
    now: datetime | None = None,
    on_rows: Callable[[str, int], None] | None = None,
) -> Watch:
    """Watch a history of scores for slips, disorder and drift of the judge.

    Every application is watched on its own, and anew where the instrument
    changed: what moves at such a line is no news about the application. Within
    a stretch the first scores are the good times that later ones are held
    against. The detectors of a stretch share its false alarms: within n scores
    of one application there is one with a probability of n / `rules.arl` at
    most, provided that nothing changed, sessions are independent given the past,
    and the good times were good. Anchors tell who moved: the judge or the
    application.

    Args:
        history: In order of time.
        rules: What is watched for; the defaults where None.
        now: The present moment, for the age of the last look by people; UTC.
        on_rows: Called before each long step with the step and its scores.

    Returns:
        Stretches, instrument changes, anchor checks, and alerts in order of time.

    Example:
        >>> from theodolite.domain.monitoring.history import History, Score
        >>> stars = [5, 4, 5, 5] * 40 + [2, 1, 3, 2] * 10
        >>> scores = tuple(Score(value=value, defect=value <= 3) for value in stars)
        >>> seen = watch_history(History(name="stars", scores=scores, lowest=1, highest=5))
        >>> [(alert.kind.value, alert.since, alert.delay) for alert in seen.alerts[:2]]
        [('defect rate rose', 160, 5), ('scores slipped', 160, 7)]

    Source:
        Requirements: RELEVANCE (Microsoft Research, 2024), monitoring over time.
        Detectors: `rate_detector`, `level_detector`; decision: ADR-0018.
    """
    rules = rules or WatchRules()
    changes = instrument_changes(history)
    watched = []
    for key, placed in _stretches(history, changes):
        if on_rows is not None:
            on_rows(f"Watching {key[0]}".rstrip(), len(placed))
        watched.append(watch_stretch(history, *key, placed, rules))
    checks = anchor_checks(history, float(rules.arl))
    found = [alert for _, alerts in watched for alert in alerts]
    alerts = [*(_told_apart(alert, history, checks) for alert in found), *_drifts(checks, rules)]
    alerts += _recalibrations(history, changes, rules, now)
    return Watch(
        history=history,
        rules=rules,
        stretches=tuple(stretch for stretch, _ in watched),
        changes=changes,
        anchors=checks,
        alerts=tuple(
            sorted(alerts, key=lambda alert: len(history.scores) if alert.position is None else alert.position)
        ),
        notes=tuple(_notes(history, checks, [stretch for stretch, _ in watched])),
    )


def _stretches(
    history: History, changes: Sequence[InstrumentChange]
) -> list[tuple[tuple[str, Mapping[str, str]], Whole]]:
    """Return the places of each application's scores between two changes of its instrument, in order of time."""
    columns = history.columns
    plain = np.flatnonzero(np.frombuffer(columns.flags, dtype=np.uint8) == 0) if len(columns) else np.empty(0, np.int64)
    lines = np.array(sorted({change.position for change in changes if change.is_suspected}), dtype=np.int64)
    eras = lines.searchsorted(plain, "right")
    applications = np.frombuffer(columns.application.codes, dtype=np.int32)[plain] if len(plain) else plain
    instruments = np.frombuffer(columns.instruments.codes, dtype=np.int32)[plain] if len(plain) else plain
    n_instruments, n_eras = len(columns.instruments.values) or 1, len(lines) + 1
    keys = (applications.astype(np.int64) * n_instruments + instruments) * n_eras + eras
    found, first = np.unique(keys, return_index=True)
    groups: list[tuple[tuple[str, Mapping[str, str]], Whole]] = []
    for key in found[np.argsort(first)].tolist():
        application, instrument = divmod(key // n_eras, n_instruments)
        about = columns.application.values[application], dict(columns.instruments.values[instrument])
        groups.append((about, plain[keys == key]))
    return groups


def _told_apart(alert: Alert, history: History, checks: Sequence[AnchorCheck]) -> Alert:
    """Return an alert with its cause, as far as anchors that were judged since can tell."""
    begin = alert.since if alert.since is not None else 0
    end = alert.last if alert.last is not None else len(history.scores)
    since = [check for check in checks if check.position >= begin]
    if any(check.is_drift for check in since if check.position <= end or check is since[0]):
        return replace(alert, cause=Cause.JUDGE)
    return replace(alert, cause=Cause.APPLICATION) if since else alert


def _drifts(checks: Sequence[AnchorCheck], rules: WatchRules) -> Iterator[Alert]:
    """Yield one alert for each row of sittings in which the judge is off."""
    drifting: list[AnchorCheck] = []
    for check in (*checks, None):
        if check is not None and check.is_drift:
            drifting.append(check)
        elif drifting:
            yield _drift(drifting, rules)
            drifting = []


def _drift(drifting: Sequence[AnchorCheck], rules: WatchRules) -> Alert:
    first, last = drifting[0], drifting[-1]
    p_value = min(first.p_shift, first.p_farther)
    away = f"; {first.n_farther} moved away from people's score, {first.n_nearer} towards it"
    return Alert(
        kind=AlertKind.JUDGE_DRIFT,
        application="",
        position=first.position,
        at=first.at,
        since=None,
        delay=None,
        cause=Cause.JUDGE,
        evidence=1.0 / p_value,
        threshold=2.0 * rules.arl * TESTS_PER_SITTING / first.n,
        method=SIGN_TESTS,
        detail=f"of {first.n} anchors {first.n_lower} score lower than at first and {first.n_higher} higher{away}",
        n_alarms=len(drifting),
        last=last.position,
        last_at=last.at,
    )


def _recalibrations(
    history: History, changes: Sequence[InstrumentChange], rules: WatchRules, now: datetime | None
) -> Iterator[Alert]:
    """Yield one alert where people must look again: too long ago, or the instrument changed since."""
    columns = history.columns
    scored = np.flatnonzero(~np.isnan(np.frombuffer(columns.human))).tolist() if len(columns) else []
    anchors = [place for place in scored if columns.is_anchor(place)] if columns.n_anchors else []
    others = [place for place in scored if not columns.is_anchor(place)] if anchors else scored
    looked = [*others[-1:], *anchors[:1]]
    last = max(looked, default=None)
    since = [change for change in changes if last is None or change.position > last]
    if since:
        change = since[-1]
        what = "an instrument (suspected)" if change.is_suspected else f"{change.part} to {change.after}"
        yield _due(change.position, change.at, f"no person has scored since the change of {what}")
    at = columns.at(last) if last is not None else None
    if rules.recalibrate_days is None or now is None or at is None:
        return
    age = now - at
    if age > timedelta(days=rules.recalibrate_days):
        yield _due(None, now, f"people scored last {age.days} days ago; {rules.recalibrate_days} are allowed")


def _due(position: int | None, at: datetime | None, detail: str) -> Alert:
    return Alert(
        kind=AlertKind.RECALIBRATION_DUE,
        application="",
        position=position,
        at=at,
        since=None,
        delay=None,
        cause=Cause.UNKNOWN,
        evidence=1.0,
        threshold=1.0,
        method="rule",
        detail=detail,
        last=position,
        last_at=at,
    )


def _notes(history: History, checks: Sequence[AnchorCheck], stretches: Sequence[Stretch]) -> Iterator[str]:
    if not history.columns.n_anchors:
        yield (
            "There are no anchors, so a drift of the judge cannot be told from one of the application."
            " Let a frozen set with human scores be judged again each time"
        )
    elif not checks:
        yield "The anchors were judged once; their second sitting will be the first that can tell"
    n_repeats = history.columns.n_repeats
    if n_repeats:
        yield f"{n_repeats:,} of {len(history.scores):,} rows publish an earlier measurement again and count once"
    if not any(stretch.rate_detector or stretch.level_detector for stretch in stretches):
        yield "No stretch is longer than its good times, so no slip could be seen yet"
