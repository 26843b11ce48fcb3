"""Watches: alerts and their causes in a history of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.order import OrderProfile, RankingAgreement, RollingWindows, WorstScore
from theodolite.domain.score_history import History, InstrumentChange


class AlertKind(StrEnum):
    """What an alert is about."""

    RATE_ROSE = "defect rate rose"
    RATE_OVER_LIMIT = "defect rate is above the limit"
    LEVEL_SLIPPED = "scores slipped"
    PEN_ROSE = "order became more random"
    PEN_FELL = "order became more monotonous"
    CIN_ROSE = "scores slide within windows"
    LIS_FELL = "rising threads became shorter"
    JUDGE_DRIFT = "judge drifts on the anchors"
    RECALIBRATION_DUE = "re-calibration is due"


class Cause(StrEnum):
    """Who moved, as far as the anchors can tell."""

    APPLICATION = "application"
    JUDGE = "judge"
    UNKNOWN = "not to be told"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRules:
    """What is watched for.

    Attributes:
        window: Scores in a window; count.
        order: Scores in a pattern of permutation entropy; count.
        delay: Step between them; count.
        arl: Scores between two false alarms, at least on average; count.
        reference: Scores from which the good times are learned; count.
        baseline: Defect rate of the good times; fraction, None to learn it.
        limit: Defect rate that must not be passed; fraction, None for no limit.
        confidence: Coverage of confidence sequences; fraction in (0, 1).
        recalibrate_days: Days after which people must look again; None for never.
    """

    window: int = 8
    order: int = 3
    delay: int = 1
    arl: int = 10_000
    reference: int = 100
    baseline: float | None = None
    limit: float | None = None
    confidence: float = 0.95
    recalibrate_days: int | None = 90

    @property
    def reach(self) -> int:
        """Scores from the first to the last of a pattern; count."""
        return self.delay * (self.order - 1) + 1

    def __post_init__(self) -> None:
        """Refuse rules that mean nothing; all are named at once."""
        wrong = [
            text
            for is_wrong, text in (
                (not 2 <= self.order <= 7, f"`order` must be within 2..7; got {self.order}"),
                (self.delay < 1, f"`delay` must be 1 or more; got {self.delay}"),
                (self.window <= self.reach, f"`window` must be larger than {self.reach}; got {self.window}"),
                (self.arl < 100, f"`arl` must be 100 scores at least; got {self.arl}"),
                (self.reference < 20, f"`reference` must be 20 scores at least; got {self.reference}"),
                (not _fraction(self.baseline), f"`baseline` must be a fraction in (0, 1); got {self.baseline}"),
                (not _fraction(self.limit), f"`limit` must be a fraction in (0, 1); got {self.limit}"),
            )
            if is_wrong
        ]
        if wrong:
            raise InputError("; ".join(wrong))


_NO_SCORES = Undefined(reason="There is no score.")


def _fraction(value: float | None) -> bool:
    return value is None or 0.0 < value < 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alarm, with what it rests on.

    Attributes:
        kind: What it is about.
        application: Whose scores; empty where it is about the judge or the whole.
        position: Place of the score that raised it, from 0, in the whole history; None where a date did.
        at: When that score was given; None where the history has no times.
        since: Estimated place of the first score of the change; None where it cannot be told.
        delay: Scores of this application from `since` to the alarm; count, None likewise.
        cause: Who moved, as far as the anchors can tell.
        evidence: Value of the statistic at the alarm.
        threshold: Value from which it alarms.
        method: Name of the detector, with its guarantee.
        detail: What was seen, one sentence.
        n_alarms: Alarms of this kind without a break; count.
        last: Place of the latest of them.
        last_at: When that was.
    """

    kind: AlertKind
    application: str
    position: int | None
    at: datetime | None
    since: int | None
    delay: int | None
    cause: Cause
    evidence: float
    threshold: float
    method: str
    detail: str
    n_alarms: int = 1
    last: int | None = None
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Scores of one application under one instrument.

    Attributes:
        application: Whose scores.
        instruments: Part to version.
        positions: Places of its scores in the whole history.
        n: Scores with a value; count.
        n_missing: Scores without one; count.
        n_sessions: Sessions with a value; count.
        level: Mean score; points of the scale, None where there is none.
        rate: Defect rate over sessions, valid at every look.
        over_limit: Whether the rate is above the limit (True), below it (False), or neither is shown (None).
        baseline: Defect rate that alarms are held against; fraction, None where there is no rule.
        windows: Metrics of its rolling windows.
        latest: Profile of its latest window, or why there is none.
        rate_detector: Statistic of the rate detector at each session; logarithms.
        level_detector: The same of the level detector; logarithms.
        cusum: Upper cumulative sum of badness at each session; standard deviations.
        ewma: Weighted moving average of badness at each session; fractions.
        worst: The worst of the latest scores with their reasons.
        ranking: How far the latest scores follow people's order, or why that is undefined; None without human scores.
        notes: What could not be watched here, and why.
    """

    application: str
    instruments: Mapping[str, str]
    positions: Sequence[int]
    n: int
    n_missing: int
    n_sessions: int
    level: float | None
    rate: Estimate | Undefined
    over_limit: bool | None = None
    baseline: float | None = None
    windows: RollingWindows = field(default_factory=RollingWindows)
    latest: OrderProfile | Undefined = _NO_SCORES
    rate_detector: Sequence[float] = ()
    level_detector: Sequence[float] = ()
    cusum: Sequence[float] = ()
    ewma: Sequence[float] = ()
    worst: tuple[WorstScore, ...] = ()
    ranking: RankingAgreement | Undefined | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorCheck:
    """One sitting in which the frozen anchors were judged again.

    Attributes:
        batch: Run or sitting.
        position: Place of its last anchor in the whole history.
        at: When; None where the history has no times.
        span: Latest sittings that are held against as many first ones; count.
        n: Anchors scored in all of them; count.
        n_lower: Of these, scored lower than at first; count.
        n_higher: Of these, scored higher than at first; count.
        n_nearer: Of these, nearer to people's score than at first; count.
        n_farther: Of these, farther from people's score than at first; count.
        p_shift: Sign test of lower against higher.
        p_farther: Sign test, one-sided, of farther against nearer.
        ranking: How far the judge follows people's ranking now; None where people scored fewer than three.
        is_drift: Whether one of the tests alarms.
    """

    batch: str
    position: int
    at: datetime | None
    span: int
    n: int
    n_lower: int
    n_higher: int
    n_nearer: int
    n_farther: int
    p_shift: float
    p_farther: float
    ranking: RankingAgreement | None
    is_drift: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What looking at a history brought.

    Attributes:
        history: What was looked at.
        rules: What was watched for.
        stretches: One for each application and instrument, in order of time.
        changes: Where the instrument changed.
        anchors: Sittings in which anchors were judged again.
        alerts: What was found, in order of time.
        notes: What could not be watched, and why.
    """

    history: History
    rules: WatchRules
    stretches: tuple[Stretch, ...]
    changes: tuple[InstrumentChange, ...]
    anchors: tuple[AnchorCheck, ...]
    alerts: tuple[Alert, ...]
    notes: tuple[str, ...] = ()
