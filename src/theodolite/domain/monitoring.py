"""Monitoring: histories of scores in columns of some fifty bytes per score, and their alerts with causes."""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Final, Generic, TypeVar, overload

from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.order import OrderProfile, RankingAgreement, RollingWindows, WorstScore
from theodolite.domain.undefined_reasons import NO_SCORE


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One score at one moment, under the instruments of that moment.

    Attributes:
        value: The score, in points of the scale; None unless the outcome is `ANSWERED`.
        outcome: Its outcome.
        defect: Whether it is a defect; None without a rule or a value.
        at: Time in its original time zone; None if the history has an order but no times.
        application: The scored application; empty if there is only one.
        item: The item, so that anchors can be matched again.
        session: Scores of one session resemble each other and count once.
        batch: Run, or other occasion, of the score.
        instruments: Version of each part of the instrument, e.g. judge, data, schema.
        human: People's score; None without one.
        is_anchor: Whether it belongs to the frozen set that is judged repeatedly.
        is_repeat: Whether it republishes an earlier measurement.
        reason: Reason, in the annotator's words; empty if none is given.
    """

    value: float | None
    outcome: Outcome = Outcome.ANSWERED
    defect: bool | None = None
    at: datetime | None = None
    application: str = ""
    item: str = ""
    session: str = ""
    batch: str = ""
    instruments: Mapping[str, str] = field(default_factory=dict)
    human: float | None = None
    is_anchor: bool = False
    is_repeat: bool = False
    reason: str = ""

    def __post_init__(self) -> None:
        """Reject a value without an answered outcome, and an answered outcome without a value."""
        if (self.outcome is Outcome.ANSWERED) != (self.value is not None):
            message = f"only an `answered` score has a value; outcome={self.outcome.value!r}, value={self.value!r}"
            raise InputError(message)


NO_TIME: Final = -(2**63)
"""Represents the time of a score without one."""


NOT_A_DEFECT, IS_DEFECT, DEFECT_UNKNOWN = 0, 1, 2
"""Codes of the column `defect`."""


MOST_REASONS: Final = 5_000
"""Maximum number of stored reasons; count."""


_ANCHOR, _REPEAT = 1, 2


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


_MICROSECOND: Final = timedelta(microseconds=1)


_OUTCOMES: Final = tuple(Outcome)


_CODES: Final = {outcome: code for code, outcome in enumerate(_OUTCOMES)}


T = TypeVar("T")


class _Pool(Generic[T]):
    """A column of few different values: a code for each row, and each value once.

    Attributes:
        codes: Code of each row.
        values: The values by their code.
    """

    __slots__ = ("_known", "codes", "values")

    def __init__(self) -> None:
        """Start without rows."""
        self.codes = array("i")
        self.values: list[T] = []
        self._known: dict[Hashable, int] = {}

    def append(self, value: T, key: Hashable) -> None:
        """Add a row; equal keys share one value."""
        code = self._known.get(key)
        if code is None:
            code = self._known[key] = len(self.values)
            self.values.append(value)
        self.codes.append(code)

    def close(self) -> None:
        """Forget the keys, which are needed only while rows are added."""
        self._known = {}

    def __getitem__(self, row: int) -> T:
        """Return the value of a row."""
        return self.values[self.codes[row]]


class ScoreColumns(Sequence[Score]):
    """Scores in the order of time, read one by one or column by column; they cannot be changed.

    Attributes:
        value: Score of each row; NaN if there is none.
        outcome: Code of the outcome of each row.
        defect: Code of each row: no, yes, or not known.
        moment: Microseconds since 1970 in UTC; `NO_TIME` if there is none.
        human: People's score; NaN without one.
        flags: Whether a row is an anchor, or a repeat.
        zone: Time zone in which a moment was written.
        application: The scored application.
        item: The item.
        session: Session of each row.
        batch: Run of each row.
        instruments: Parts of the instrument with their versions.
        reasons: Row to reason, for the latest five thousand, because only the worst scores are shown with a reason.
    """

    __slots__ = (
        "application",
        "batch",
        "defect",
        "flags",
        "human",
        "instruments",
        "item",
        "moment",
        "outcome",
        "reasons",
        "session",
        "value",
        "zone",
    )

    def __init__(self, scores: Iterable[Score] = ()) -> None:
        """Read scores one by one without storing them."""
        self.value, self.human, self.moment = array("d"), array("d"), array("q")
        self.outcome, self.defect, self.flags = bytearray(), bytearray(), bytearray()
        self.zone, self.instruments = _Pool[tzinfo | None](), _Pool[Mapping[str, str]]()
        self.application, self.item, self.session, self.batch = _Pool[str](), _Pool[str](), _Pool[str](), _Pool[str]()
        self.reasons: dict[int, str] = {}
        for score in scores:
            self._append(score)
        for pool in (self.zone, self.application, self.item, self.session, self.batch, self.instruments):
            pool.close()

    def _append(self, score: Score) -> None:
        if score.reason:
            self.reasons[len(self.value)] = score.reason
            if len(self.reasons) > MOST_REASONS:
                del self.reasons[next(iter(self.reasons))]
        self.value.append(math.nan if score.value is None else score.value)
        self.human.append(math.nan if score.human is None else score.human)
        self.outcome.append(_CODES[score.outcome])
        self.defect.append(DEFECT_UNKNOWN if score.defect is None else int(score.defect))
        self.flags.append(_ANCHOR * score.is_anchor + _REPEAT * score.is_repeat)
        zone = score.at.tzinfo if score.at is not None else None
        self.moment.append(NO_TIME if score.at is None else _microseconds(score.at))
        self.zone.append(zone, zone)
        self.application.append(score.application, score.application)
        self.item.append(score.item, score.item)
        self.session.append(score.session, score.session)
        self.batch.append(score.batch, score.batch)
        self.instruments.append(score.instruments, tuple(sorted(score.instruments.items())))

    def __len__(self) -> int:
        """Return the number of scores; count."""
        return len(self.value)

    @overload
    def __getitem__(self, row: int) -> Score: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Score]: ...
    def __getitem__(self, row: int | slice) -> Score | Sequence[Score]:
        """Return one score, or some."""
        if isinstance(row, slice):
            return tuple(self[index] for index in range(*row.indices(len(self))))
        value, human, defect = self.value[row], self.human[row], self.defect[row]
        return Score(
            value=None if math.isnan(value) else value,
            outcome=_OUTCOMES[self.outcome[row]],
            defect=None if defect == DEFECT_UNKNOWN else bool(defect),
            at=self.at(row),
            application=self.application[row],
            item=self.item[row],
            session=self.session[row],
            batch=self.batch[row],
            instruments=self.instruments[row],
            human=None if math.isnan(human) else human,
            is_anchor=self.is_anchor(row),
            is_repeat=self.is_repeat(row),
            reason=self.reasons.get(row if row >= 0 else len(self) + row, ""),
        )

    def at(self, row: int) -> datetime | None:
        """Return the time of a score in its original time zone; None if unknown."""
        moment = self.moment[row]
        if moment == NO_TIME:
            return None
        zone = self.zone[row]
        local_time = _EPOCH + moment * _MICROSECOND
        return local_time.astimezone(zone) if zone is not None else local_time.replace(tzinfo=None)

    def is_anchor(self, row: int) -> bool:
        """Return whether a score is about an anchor."""
        return bool(self.flags[row] & _ANCHOR)

    def is_repeat(self, row: int) -> bool:
        """Return whether a score republishes an earlier measurement."""
        return bool(self.flags[row] & _REPEAT)

    @property
    def n_anchors(self) -> int:
        """Scores about anchors; count."""
        return self._flagged(_ANCHOR)

    @property
    def n_repeats(self) -> int:
        """Scores that republish an earlier measurement; count."""
        return self._flagged(_REPEAT)

    def _flagged(self, flag: int) -> int:
        return sum(self.flags.count(code) for code in range(4) if code & flag)

    def anchors(self) -> Iterator[int]:
        """Yield the rows of anchors."""
        if self.n_anchors:
            yield from (row for row, flags in enumerate(self.flags) if flags & _ANCHOR)

    def n_of(self, outcome: Outcome) -> int:
        """Return the number of scores with an outcome; count."""
        return self.outcome.count(_CODES[outcome])

    def __eq__(self, other: object) -> bool:
        """Return whether another sequence contains equal scores in the same order."""
        if not isinstance(other, Sequence) or len(other) != len(self):
            return NotImplemented if not isinstance(other, Sequence) else False
        return all(one == two for one, two in zip(self, other, strict=True))

    def __hash__(self) -> int:
        """Return a hash by length and values."""
        return hash((len(self), self.value.tobytes()))


def _microseconds(moment: datetime) -> int:
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


def in_order_of_time(scores: ScoreColumns) -> ScoreColumns:
    """Return the same scores sorted by time; unsorted if one has no time."""
    moments = scores.moment
    if NO_TIME in moments or all(moments[row] <= moments[row + 1] for row in range(len(moments) - 1)):
        return scores
    order = sorted(range(len(moments)), key=moments.__getitem__)
    return ScoreColumns(scores[row] for row in order)


__all__ = ["History", "InstrumentChange", "ScaleDirection", "Score"]


class ScaleDirection(StrEnum):
    """Which end of a scale is the bad one."""

    LOW = "low"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Scores in the order of time.

    Attributes:
        name: Displayed name.
        scores: In order of time; any sequence becomes columns.
        lowest: Lower end of the scale.
        highest: Upper end of the scale.
        worse: Which end is the bad one.
        source: Description of its source.
    """

    name: str
    scores: Sequence[Score]
    lowest: float
    highest: float
    worse: ScaleDirection = ScaleDirection.LOW
    source: str = ""

    def __post_init__(self) -> None:
        """Reject a scale without length, and scores outside it."""
        if not self.lowest < self.highest:
            message = f"a scale needs a lower and a higher end; got {self.lowest} and {self.highest}"
            raise InputError(message)
        object.__setattr__(self, "scores", _columns(self.scores))
        strange = [value for value in self.columns.value if value < self.lowest or value > self.highest]
        if strange:
            message = (
                f"{len(strange):,} of {len(self.scores):,} scores lie outside the scale {self.lowest:g} to"
                f" {self.highest:g}, e.g. {strange[0]:g}. State the whole scale"
            )
            raise InputError(message)

    @property
    def columns(self) -> ScoreColumns:
        """The scores, column by column."""
        return _columns(self.scores)

    def badness(self, value: float) -> float:
        """Return a value as a fraction of the scale, 0 for the good end and 1 for the bad end."""
        share = (value - self.lowest) / (self.highest - self.lowest)
        return share if self.worse is ScaleDirection.HIGH else 1.0 - share


def _columns(scores: Sequence[Score]) -> ScoreColumns:
    return scores if isinstance(scores, ScoreColumns) else ScoreColumns(scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentChange:
    """A change of the instrument in a history, with the shift of scores.

    Attributes:
        part: The changed part, e.g. judge, data, schema.
        before: Its version until then.
        after: Its version from then on.
        at: When; None if the history has no times.
        position: Index of the first score after it, from 0.
        n_lower: Applications whose mean score is lower after it; count.
        n_higher: Applications whose mean score is higher after it; count.
        n_equal: Applications that did not move; count.
        median_shift: Median of these shifts; points of the scale, None if no application was scored on both sides.
        p_value: Probability of shifts this one-sided, or for a suspected change this numerous; None if undefined.
        is_suspected: Whether it is undeclared: all applications shifted together.
    """

    part: str
    before: str
    after: str
    at: datetime | None
    position: int
    n_lower: int = 0
    n_higher: int = 0
    n_equal: int = 0
    median_shift: float | None = None
    p_value: float | None = None
    is_suspected: bool = False


class AlertKind(StrEnum):
    """Subject of an alert."""

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
    """The changed part, as far as the anchors show."""

    APPLICATION = "application"
    JUDGE = "judge"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRules:
    """The monitored change.

    Attributes:
        window: Scores in a window; count.
        order: Scores in a pattern of permutation entropy; count.
        delay: Step between them; count.
        arl: Average number of scores between two false alarms, at least; count.
        reference: Scores of the in-control period; count.
        baseline: In-control defect rate; fraction, None to estimate it.
        limit: Defect rate that must not be exceeded; fraction, None for no limit.
        confidence: Coverage of confidence sequences; fraction in (0, 1).
        recalibrate_days: Days after which people must review again; None for never.
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
        """Reject invalid rules; names all of them."""
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


_NO_SCORES = Undefined(reason=NO_SCORE)


def _fraction(value: float | None) -> bool:
    return value is None or 0.0 < value < 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alarm, with its evidence.

    Attributes:
        kind: Its subject.
        application: Application of the scores; empty if it concerns the judge or all.
        position: Index in the whole history, from 0, of the score that raised it; None if a date did.
        at: Time of that score; None if the history has no times.
        since: Estimated index of the first score of the change; None if unknown.
        delay: Scores of this application from `since` to the alarm; count, None if unknown.
        cause: The changed part, as far as the anchors show.
        evidence: Value of the statistic at the alarm.
        threshold: Value at which it alarms.
        method: Name of the detector, with its guarantee.
        detail: The observation, in one sentence.
        n_alarms: Alarms of this kind without a break; count.
        last: Index of the latest of them.
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
class DetectableRise:
    """The power of the rate detector over a number of scores.

    Attributes:
        n: Scores since the rise; count.
        rate: Lowest defect rate detectable within them; fraction, None if none is.
        power: Minimum probability of detecting it; fraction.
    """

    n: int
    rate: float | None
    power: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Scores of one application under one instrument.

    Attributes:
        application: Application of the scores.
        instruments: Part to version.
        positions: Indices of its scores in the whole history.
        n: Scores with a value; count.
        n_missing: Scores without one; count.
        n_sessions: Sessions with a value; count.
        level: Mean score; points of the scale, None if there is none.
        rate: Defect rate over sessions, valid at every reading.
        over_limit: Whether the rate is above the limit (True), below it (False), or neither is shown (None).
        baseline: Defect rate that alarms are compared with; fraction, None if there is no rule.
        detectable: Detectable rises of the defect rate within some numbers of scores; empty without a rule.
        windows: Metrics of its rolling windows.
        latest: Profile of its latest window, or the reason why there is none.
        rate_detector: Statistic of the rate detector at each session; logarithms.
        level_detector: Statistic of the level detector at each session; logarithms.
        cusum: Upper cumulative sum of badness at each session; standard deviations.
        ewma: Weighted moving average of badness at each session; fractions.
        worst: The worst of the latest scores with their reasons.
        ranking: Agreement of the latest scores with people's ranking, or why undefined; None without human scores.
        notes: Series that cannot be monitored here, and why.
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
    detectable: tuple[DetectableRise, ...] = ()
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
    """A repeated judgement of the frozen anchors.

    Attributes:
        batch: Run or occasion.
        position: Index of its last anchor in the whole history.
        at: When; None if the history has no times.
        span: Number of latest batches that are compared with the same number of first ones; count.
        n: Anchors scored in all of them; count.
        n_lower: Of these, scored lower than at first; count.
        n_higher: Of these, scored higher than at first; count.
        n_nearer: Of these, nearer to people's score than at first; count.
        n_farther: Of these, farther from people's score than at first; count.
        p_shift: Sign test of lower against higher.
        p_farther: Sign test, one-sided, of farther against nearer.
        ranking: The judge's agreement with people's ranking now; None if people scored fewer than three.
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
    """Result of monitoring a history.

    Attributes:
        history: The monitored history.
        rules: The monitoring rules.
        segments: One for each application and instrument, in order of time.
        changes: Changes of the instrument.
        anchors: Repeated judgements of the anchors.
        alerts: The alerts, in order of time.
        notes: Series that cannot be monitored, and why.
    """

    history: History
    rules: WatchRules
    segments: tuple[Segment, ...]
    changes: tuple[InstrumentChange, ...]
    anchors: tuple[AnchorCheck, ...]
    alerts: tuple[Alert, ...]
    notes: tuple[str, ...] = ()
