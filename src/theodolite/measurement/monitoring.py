"""Monitoring of a history: alarms, judge drift on anchors, and changes of the instrument."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from statistics import mean, median

import numpy as np
from scipy.special import bdtrc

from theodolite.domain.findings.order import RankingAgreement
from theodolite.domain.monitoring import (
    Alert,
    AlertKind,
    AnchorCheck,
    Cause,
    History,
    InstrumentChange,
    Score,
    Segment,
    Watch,
    WatchRules,
)
from theodolite.measurement.ranking import ranking_agreement
from theodolite.measurement.segments import watch_segment
from theodolite.measurement.sequences import Whole

SIGN_TESTS = "exact sign tests"


def watch_history(
    history: History,
    rules: WatchRules | None = None,
    *,
    now: datetime | None = None,
    on_rows: Callable[[str, int], None] | None = None,
) -> Watch:
    """Monitor a history of scores for deterioration, changes of order and judge drift.

    Every application is monitored separately, and anew when the instrument
    changes, because a shift at that point says nothing about the application. Within
    a segment, the first scores are the in-control period with which later ones are
    compared. The detectors of a segment share its false alarms: within n scores
    of one application, the probability of a false alarm is at most n / `rules.arl`,
    provided that nothing changed, sessions are independent given the past,
    and the in-control period was in control. Anchors show what changed: the judge or the
    application.

    Args:
        history: In order of time.
        rules: The monitoring rules; the defaults if None.
        now: The current time, for the age of the last review by people; UTC.
        on_rows: Called before each long step with the step and its scores.

    Returns:
        Segments, instrument changes, anchor checks, and alerts in order of time.

    Example:
        >>> from theodolite.domain.monitoring import History, Score
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
    for key, placed in _segments(history, changes):
        if on_rows is not None:
            on_rows(f"Watching {key[0]}".rstrip(), len(placed))
        watched.append(watch_segment(history, *key, placed, rules))
    checks = anchor_checks(history, float(rules.arl))
    alarms = [alert for _, alerts in watched for alert in alerts]
    alerts = [*(_with_cause(alert, history, checks) for alert in alarms), *_drifts(checks, rules)]
    alerts += _recalibrations(history, changes, rules, now)
    return Watch(
        history=history,
        rules=rules,
        segments=tuple(segment for segment, _ in watched),
        changes=changes,
        anchors=checks,
        alerts=tuple(
            sorted(alerts, key=lambda alert: len(history.scores) if alert.position is None else alert.position)
        ),
        notes=tuple(_notes(history, checks, [segment for segment, _ in watched])),
    )


def _segments(
    history: History, changes: Sequence[InstrumentChange]
) -> list[tuple[tuple[str, Mapping[str, str]], Whole]]:
    """Return the indices of each application's scores between two changes of its instrument, in order of time."""
    columns = history.columns
    plain = np.flatnonzero(np.frombuffer(columns.flags, dtype=np.uint8) == 0) if len(columns) else np.empty(0, np.int64)
    change_points = np.array(sorted({change.position for change in changes if change.is_suspected}), dtype=np.int64)
    eras = change_points.searchsorted(plain, "right")
    applications = np.frombuffer(columns.application.codes, dtype=np.int32)[plain] if len(plain) else plain
    instruments = np.frombuffer(columns.instruments.codes, dtype=np.int32)[plain] if len(plain) else plain
    n_instruments, n_eras = len(columns.instruments.values) or 1, len(change_points) + 1
    keys = (applications.astype(np.int64) * n_instruments + instruments) * n_eras + eras
    codes, first = np.unique(keys, return_index=True)
    groups: list[tuple[tuple[str, Mapping[str, str]], Whole]] = []
    for key in codes[np.argsort(first)].tolist():
        application, instrument = divmod(key // n_eras, n_instruments)
        about = columns.application.values[application], dict(columns.instruments.values[instrument])
        groups.append((about, plain[keys == key]))
    return groups


def _with_cause(alert: Alert, history: History, checks: Sequence[AnchorCheck]) -> Alert:
    """Return an alert with its cause, if anchors judged since then show one."""
    begin = alert.since if alert.since is not None else 0
    end = alert.last if alert.last is not None else len(history.scores)
    since = [check for check in checks if check.position >= begin]
    if any(check.is_drift for check in since if check.position <= end or check is since[0]):
        return replace(alert, cause=Cause.JUDGE)
    return replace(alert, cause=Cause.APPLICATION) if since else alert


def _drifts(checks: Sequence[AnchorCheck], rules: WatchRules) -> Iterator[Alert]:
    """Yield one alert for each sequence of batches in which the judge deviates."""
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
        threshold=2.0 * rules.arl * TESTS_PER_SESSION / first.n,
        method=SIGN_TESTS,
        detail=f"of {first.n} anchors {first.n_lower} score lower than at first and {first.n_higher} higher{away}",
        n_alarms=len(drifting),
        last=last.position,
        last_at=last.at,
    )


def _recalibrations(
    history: History, changes: Sequence[InstrumentChange], rules: WatchRules, now: datetime | None
) -> Iterator[Alert]:
    """Yield an alert if people must review again: the last review is too old, or the instrument has changed since."""
    columns = history.columns
    scored = np.flatnonzero(~np.isnan(np.frombuffer(columns.human))).tolist() if len(columns) else []
    anchors = [position for position in scored if columns.is_anchor(position)] if columns.n_anchors else []
    others = [position for position in scored if not columns.is_anchor(position)] if anchors else scored
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


def _notes(history: History, checks: Sequence[AnchorCheck], segments: Sequence[Segment]) -> Iterator[str]:
    if not history.columns.n_anchors:
        yield (
            "There are no anchors, so judge drift and application drift cannot be distinguished."
            " Let each run judge a fixed set with human scores again"
        )
    elif not checks:
        yield "The anchors were judged once; drift can be detected from the second time"
    n_repeats = history.columns.n_repeats
    if n_repeats:
        yield f"{n_repeats:,} of {len(history.scores):,} rows repeat an earlier measurement and count once"
    if not any(segment.rate_detector or segment.level_detector for segment in segments):
        yield "No segment is longer than its reference, so no change can be detected yet"


SPANS = (1, 2, 4)
"""Numbers of latest batches that are compared with the same number of first ones; counts."""

TESTS_PER_SESSION = 2 * len(SPANS)
"""Tests at each batch: for each span, whether scores shifted, and whether they shifted away from people's."""

Placed = tuple[int, Score]
"""A score with its index in the history."""


def sign_test(n_up: int, n_down: int) -> float:
    """Return the probability of at least this many upward shifts if both directions were equally likely.

    Exact: P(X >= n_up) for X binomial with n_up + n_down trials; 1 if nothing moved.

    Example:
        >>> round(sign_test(9, 1), 5)
        0.01074

    Source:
        Dixon, Mood (1946), The statistical sign test, Journal of the American
        Statistical Association 41:557-566.
    """
    moved = n_up + n_down
    return 1.0 if n_up == 0 else float(bdtrc(n_up - 1, moved, 0.5))


def anchor_checks(history: History, arl: float) -> tuple[AnchorCheck, ...]:
    """Compare the latest batches on the anchors with the first ones, and with people.

    The application has no influence: only the judge can move anchors. A judge that
    did not change is equally likely to give an anchor's latest scores
    first and its first scores now. So each anchor is equally likely to move up or down, and
    towards people's score or away from it: the sign tests are exact,
    for one batch against the first and for the last four against the first
    four. A batch of m anchors raises a false alarm with a probability of at most m / (2 *
    `arl`), shared by its tests.

    Args:
        history: With anchors among its scores; each batch scores them once.
        arl: Scores between two false alarms; count.

    Returns:
        One check for each batch after the first, in order of time.
    """
    sessions = [
        _AnchorSession(last=batch[-1], scores={score.item: score for _, score in batch}) for batch in _batches(history)
    ]
    return tuple(_check(sessions[: end + 1], arl) for end in range(1, len(sessions)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _AnchorSession:
    """All anchors that were scored together, by item."""

    last: Placed
    scores: dict[str, Score]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moves:
    """Shifts of anchors from the first batches to the latest ones; counts."""

    span: int
    n: int
    n_lower: int
    n_higher: int
    n_nearer: int
    n_farther: int

    @property
    def p_shift(self) -> float:
        return min(1.0, 2.0 * sign_test(max(self.n_higher, self.n_lower), min(self.n_higher, self.n_lower)))

    @property
    def p_farther(self) -> float:
        return sign_test(self.n_farther, self.n_nearer)


def _batches(history: History) -> Iterator[list[Placed]]:
    """Yield the anchors of each batch, in order of time.

    Without named batches, a batch ends when an anchor is repeated.
    """
    current: list[Placed] = []
    seen: set[str] = set()
    for position in history.columns.anchors():
        score = history.scores[position]
        if score.is_repeat or score.value is None:
            continue
        if current and (score.batch != current[-1][1].batch or score.item in seen):
            yield current
            current, seen = [], set()
        current.append((position, score))
        seen.add(score.item)
    if current:
        yield current


def _check(sessions: Sequence[_AnchorSession], arl: float) -> AnchorCheck:
    candidates = [_anchor_moves(sessions, span) for span in SPANS if 2 * span <= len(sessions)]
    moves = min(candidates, key=lambda moves: min(moves.p_shift, moves.p_farther))
    position, last = sessions[-1].last
    return AnchorCheck(
        batch=last.batch,
        position=position,
        at=last.at,
        span=moves.span,
        n=moves.n,
        n_lower=moves.n_lower,
        n_higher=moves.n_higher,
        n_nearer=moves.n_nearer,
        n_farther=moves.n_farther,
        p_shift=moves.p_shift,
        p_farther=moves.p_farther,
        ranking=_ranking(list(sessions[-1].scores.values())),
        is_drift=min(moves.p_shift, moves.p_farther) <= moves.n / (2.0 * arl * TESTS_PER_SESSION),
    )


def _anchor_moves(sessions: Sequence[_AnchorSession], span: int) -> _Moves:
    blocks = sessions[:span], sessions[-span:]
    items = [
        item for item in blocks[0][0].scores if all(item in session.scores for block in blocks for session in block)
    ]
    pairs = [(_total(blocks[0], item, None), _total(blocks[1], item, None)) for item in items]
    people = [(item, human) for item in items if (human := blocks[0][0].scores[item].human) is not None]
    errors = [(_total(blocks[0], item, human), _total(blocks[1], item, human)) for item, human in people]
    return _Moves(
        span=span,
        n=len(items),
        n_lower=sum(now < then for then, now in pairs),
        n_higher=sum(now > then for then, now in pairs),
        n_nearer=sum(now < then for then, now in errors),
        n_farther=sum(now > then for then, now in errors),
    )


def _total(block: Sequence[_AnchorSession], item: str, human: float | None) -> float:
    """Return the sum of an anchor's scores in some batches, or of their distances from people's score."""
    values = [value for session in block if (value := session.scores[item].value) is not None]
    return sum(values) if human is None else sum(abs(value - human) for value in values)


def _ranking(scores: Sequence[Score]) -> RankingAgreement | None:
    known = [(score.human, score.value) for score in scores if score.human is not None and score.value is not None]
    if len(known) < 3:
        return None
    return ranking_agreement([human for human, _ in known], [value for _, value in known])


FEWEST_MOVED = 8
"""Minimum number of applications that must move together before an instrument is suspected; count."""

MOST_FALSE = 1e-4
"""Probability below which a common shift of all applications is not attributed to chance; fraction."""

UNSTATED = "not stated"
"""Version of a part of the instrument that is unknown in a history."""


def instrument_changes(history: History) -> tuple[InstrumentChange, ...]:
    """Return the changes of a part of the instrument, and the movement of applications at each.

    Declared changes follow from the scores' instruments. A change that is not
    declared is suspected if at least 8 applications move at one moment, and
    either so one-sidedly, or so many of them compared with other moments,
    that it would happen by chance once in 10,000 times: a single application has
    its own causes, but the cause of a common move is the instrument.

    Returns:
        The changes in order of time.
    """
    declared = tuple(_declared(history))
    change_points = {change.position for change in declared}
    names = {plain_name(name) for name in history.columns.application.values}
    # Fewer applications can never reach significance, so they are not tested.
    suspected = tuple(_suspected(history.scores, change_points)) if len(names) >= FEWEST_MOVED else ()
    return tuple(sorted((*declared, *suspected), key=lambda change: change.position))


def _declared(history: History) -> Iterator[InstrumentChange]:
    known: dict[str, str] = {}
    pool, previous = history.columns.instruments, -1
    for position, code in enumerate(pool.codes):
        if code == previous:
            continue
        previous = code
        for part, version in pool.values[code].items():
            before = known.get(part)
            known[part] = version
            if before is not None and before != version:
                yield _change(history.scores, position, part, before, version)


def _change(scores: Sequence[Score], position: int, part: str, before: str, after: str) -> InstrumentChange:
    old = _level_by_application(_latest(scores[:position], part, before))
    new = _level_by_application(_first(scores[position:], part, after))
    return _moved(scores, position, part, (before, after), _moves(old, new), is_suspected=False)


def _latest(scores: Sequence[Score], part: str, version: str) -> list[Score]:
    """Return the scores of each application's latest batch under a version."""
    under = [s for s in scores if s.instruments.get(part, version) == version and not s.is_anchor]
    last = {score.application: _moment(score) for score in under}
    return [score for score in under if _moment(score) == last[score.application]]


def _first(scores: Sequence[Score], part: str, version: str) -> list[Score]:
    """Return the scores of each application's first batch under a version."""
    under = [s for s in scores if s.instruments.get(part, version) == version and not s.is_anchor]
    first: dict[str, str] = {}
    for score in under:
        first.setdefault(score.application, _moment(score))
    return [score for score in under if _moment(score) == first[score.application]]


def _moment(score: Score) -> str:
    return score.batch or (score.at.isoformat() if score.at else "")


def _suspected(scores: Sequence[Score], declared: set[int]) -> Iterator[InstrumentChange]:
    n_moved = n_common = 0
    candidates = []
    for (first, last), moves in _moments(scores):
        n_moved += _n_moved(moves)
        n_common += len(moves)
        if _n_moved(moves) >= FEWEST_MOVED:
            candidates.append(((first, last), moves))
    for (first, last), moves in candidates:
        moved = _n_moved(moves)
        is_near = any(first <= change_point <= last for change_point in declared)
        if is_near:
            continue
        usual = (n_moved - moved) / max(1, n_common - len(moves))
        change = _moved(scores, first, "instrument", (UNSTATED, UNSTATED), moves, is_suspected=True)
        many = 1.0 if usual >= 1.0 else float(bdtrc(moved - 1, len(moves), usual))
        p_value = min(change.p_value or 1.0, many)
        if p_value <= MOST_FALSE:
            yield replace(change, p_value=p_value)


def _moments(scores: Sequence[Score]) -> Iterator[tuple[tuple[int, int], list[float]]]:
    """Yield the first and last index of each time, and how applications moved since their previous scores."""
    plain = ((position, score) for position, score in enumerate(scores) if not score.is_anchor and _moment(score))
    level: dict[str, float] = {}
    for _, group in groupby(plain, key=lambda placed: _moment(placed[1])):
        batch = list(group)
        now = _level_by_application([score for _, score in batch])
        yield (batch[0][0], batch[-1][0]), _moves(level, now)
        level |= now


def _n_moved(moves: Sequence[float]) -> int:
    return sum(move != 0 for move in moves)


def _level_by_application(scores: Sequence[Score]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for score in scores:
        if score.value is not None:
            values.setdefault(plain_name(score.application), []).append(score.value)
    return {application: mean(scores_of) for application, scores_of in values.items()}


def plain_name(application: str) -> str:
    """Return a name without case and punctuation, so that `GPT 4` and `GPT-4` are equal."""
    return re.sub(r"[\W_]+", "", application).casefold()


def _moves(old: Mapping[str, float], new: Mapping[str, float]) -> list[float]:
    return [new[application] - old[application] for application in new if application in old]


def _moved(
    scores: Sequence[Score],
    position: int,
    part: str,
    versions: tuple[str, str],
    moves: Sequence[float],
    *,
    is_suspected: bool,
) -> InstrumentChange:
    n_lower, n_higher = sum(move < 0 for move in moves), sum(move > 0 for move in moves)
    p_value = min(1.0, 2.0 * sign_test(max(n_lower, n_higher), min(n_lower, n_higher)))
    return InstrumentChange(
        part=part,
        before=versions[0],
        after=versions[1],
        at=scores[position].at,
        position=position,
        n_lower=n_lower,
        n_higher=n_higher,
        n_equal=len(moves) - n_lower - n_higher,
        median_shift=median(moves) if moves else None,
        p_value=p_value if moves else None,
        is_suspected=is_suspected,
    )
