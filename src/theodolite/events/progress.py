"""Progress of an event over time: counts of each day, the forecast of its end, and inactive testers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.event_record import TesterTally
from theodolite.domain.session import Pauser, Session
from theodolite.domain.study import Study
from theodolite.events.context import EventContext
from theodolite.events.results import STUCK_S, CellCount, EventStatus
from theodolite.measurement.pace import time_to_finish
from theodolite.testing.assigning import people_levels
from theodolite.testing.availability import hours_of

DAY = timedelta(hours=24)

SILENT_S = 300
"""Time without a message from which an active session counts as stuck; seconds."""

PAUSED_S = 3600
"""Length of a tester's own pause from which the session counts as stuck; seconds."""

IDLE_S = 86_400
"""Time without a step from which a tester with open sessions counts as stuck; seconds."""

RECENT_S = 600
"""Period in which errors of an application count as recent; seconds."""

MANY_ERRORS = 3
"""Recent errors of an application from which an organiser should look at it; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCounts:
    """One day of an event; counts.

    Attributes:
        day: The day in the time zone of the event.
        started: Sessions that started.
        ended: Sessions that ended.
        dialogues: Dialogues with their first prompt on this day.
        annotations: Submitted annotations of people.
    """

    day: date
    started: int
    ended: int
    dialogues: int
    annotations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTimeline:
    """An event over time.

    Attributes:
        days: Every day from the first to the last one with any activity, or today while the event is open.
        ended: Number of ended sessions at each time, in order of time.
        n_planned: Planned sessions; count.
        n_ended: Ended sessions, including extra ones; count.
        n_extra: Ended sessions beyond the plan of their cell; count.
        n_left: Planned sessions that have not ended; count.
        forecast: Days from now until the planned sessions have ended, or why there is no forecast; None if the event
            is not open.
        opens: When the first level opens by the schedule; None without one.
        closes: When the last level closes by the schedule; None without one.
    """

    days: tuple[DayCounts, ...]
    ended: tuple[tuple[datetime, int], ...]
    n_planned: int
    n_ended: int
    n_extra: int
    n_left: int
    forecast: Estimate | Undefined | None
    opens: datetime | None = None
    closes: datetime | None = None


def timeline_of(
    event: EventContext, cells: Sequence[CellCount], annotations: Mapping[datetime, int], *, is_open: bool
) -> EventTimeline:
    """Return an event over time, in a constant number of queries.

    Args:
        event: The event.
        cells: The sessions of each cell of the design.
        annotations: Submitted annotations of each quarter of an hour, by its start; counts.
        is_open: Whether sessions can start, so that there is an end to predict.
    """
    name, now, study = event.study.name, event.clock.now(), event.study
    zone = ZoneInfo(study.event.zone if study.event else "UTC")
    started, ended = event.sessions.started_per_quarter_hour(name), event.sessions.ended_per_quarter_hour(name)
    dialogues = event.store.events.replies.dialogues_per_quarter_hour(name)
    n_left = sum(cell.left for cell in cells)
    opens, closes = _schedule(study, zone)
    return EventTimeline(
        days=day_counts((started, ended, dialogues, annotations), zone, until=now if is_open else None),
        ended=_running(ended),
        n_planned=sum(cell.planned for cell in cells),
        n_ended=sum(cell.over for cell in cells),
        n_extra=sum(cell.extra for cell in cells),
        n_left=n_left,
        forecast=_forecast(started, ended, n_left, now) if is_open else None,
        opens=opens,
        closes=closes,
    )


def day_counts(
    counts: tuple[Mapping[datetime, int], Mapping[datetime, int], Mapping[datetime, int], Mapping[datetime, int]],
    zone: ZoneInfo,
    *,
    until: datetime | None,
) -> tuple[DayCounts, ...]:
    """Return every day from the first one with any activity; days without any are 0.

    Args:
        counts: Started sessions, ended sessions, dialogues and annotations by moment.
        zone: Time zone of the days.
        until: Moment on the last day; None for the last day with any activity.
    """
    by_day = [_by_day(moments, zone) for moments in counts]
    known = sorted({day for days in by_day for day in days})
    if not known:
        return ()
    last = max(known[-1], until.astimezone(zone).date()) if until else known[-1]
    days = [known[0] + timedelta(days=number) for number in range((last - known[0]).days + 1)]
    return tuple(
        DayCounts(day=day, started=started, ended=ended, dialogues=dialogues, annotations=annotations)
        for day in days
        for started, ended, dialogues, annotations in [[days_of[day] for days_of in by_day]]
    )


def _by_day(moments: Mapping[datetime, int], zone: ZoneInfo) -> Counter[date]:
    days: Counter[date] = Counter()
    for moment, n in moments.items():
        days[moment.astimezone(zone).date()] += n
    return days


def _running(ended: Mapping[datetime, int]) -> tuple[tuple[datetime, int], ...]:
    """Return the sum so far at each moment."""
    total, result = 0, []
    for moment in sorted(ended):
        total += ended[moment]
        result.append((moment, total))
    return tuple(result)


def _forecast(
    started: Mapping[datetime, int], ended: Mapping[datetime, int], n_left: int, now: datetime
) -> Estimate | Undefined:
    return time_to_finish(last_days(ended, first=min(started, default=now), now=now), n_left)


def last_days(ended: Mapping[datetime, int], *, first: datetime, now: datetime) -> list[int]:
    """Return the number of ended sessions in each full period of 24 hours before now, earliest first; counts.

    Periods of equal length contain one night each, so their counts can be compared; days of the calendar cannot,
    because today is not over.

    Args:
        ended: Ended sessions by moment.
        first: Start of the first session; earlier periods do not count.
        now: The present moment.
    """
    counts = [0] * ((now - first) // DAY)
    for moment, n in ended.items():
        number = (now - moment) // DAY
        if 0 <= number < len(counts):
            counts[number] += n
    return counts[::-1]


def _schedule(study: Study, zone: ZoneInfo) -> tuple[datetime | None, datetime | None]:
    hours = [hours_of(study.event, plan, zone) for plan in people_levels(study)]
    opens = [known.opens for known in hours if known.opens]
    closes = [known.closes for known in hours if known.closes]
    return min(opens, default=None), max(closes, default=None)


class StuckReason(StrEnum):
    """Why a tester does not move."""

    REPLY = "waits for a reply"
    SILENT = "has sent no message"
    PAUSED = "has paused the session"
    IDLE = "has not continued"


@dataclass(frozen=True, slots=True, kw_only=True)
class TesterActivity:
    """Status of one tester who has not finished.

    Attributes:
        participant: Opaque key of the tester.
        last: When the tester last did anything: joined, agreed to a text, or started or ended a session.
        is_done: Whether all planned sessions of the tester have ended.
        session: The active session; None between sessions.
        prompted: Time of the last prompt of the session; None before the first one.
        waiting_since: When the reply in progress was requested; None if none is.
    """

    participant: str
    last: datetime
    is_done: bool
    session: Session | None = None
    prompted: datetime | None = None
    waiting_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StuckTester:
    """A tester without progress for too long.

    Attributes:
        participant: Opaque key of the tester.
        reason: Why.
        since: Since when.
        for_s: Duration; seconds.
        session: The active session; None between sessions.
    """

    participant: str
    reason: StuckReason
    since: datetime
    for_s: float
    session: Session | None


def stuck_tester(tester: TesterActivity, now: datetime) -> StuckTester | None:
    """Return why a tester is stuck, and for how long; None if the tester is not stuck.

    A session that an organiser paused is not stuck: its tester cannot do anything.
    """
    reason, since, limit_s = _state_of(tester)
    for_s = (now - since).total_seconds()
    if reason is None or for_s < limit_s:
        return None
    return StuckTester(participant=tester.participant, reason=reason, since=since, for_s=for_s, session=tester.session)


def _state_of(tester: TesterActivity) -> tuple[StuckReason | None, datetime, int]:
    """Return the step at which a tester is stuck, its start, and its limit in seconds."""
    session = tester.session
    if session is None:
        return None if tester.is_done else StuckReason.IDLE, tester.last, IDLE_S
    if Pauser.ORGANISER in session.clock.pausers:
        return None, tester.last, 0
    if session.clock.paused is not None:
        return StuckReason.PAUSED, session.clock.paused, PAUSED_S
    if tester.waiting_since is not None:
        return StuckReason.REPLY, tester.waiting_since, STUCK_S
    return StuckReason.SILENT, max(tester.prompted or tester.last, tester.last), SILENT_S


def stuck_testers(
    event: EventContext,
    joined: Mapping[str, tuple[datetime, int]],
    status: EventStatus,
    tallies: Mapping[str, TesterTally],
) -> tuple[StuckTester, ...]:
    """Return the testers without progress for too long: those in a session first, then the longest.

    Args:
        event: The event.
        joined: Joining time of each remaining tester, and the number of offered sessions (count); by key.
        status: The current state of the event.
        tallies: The sessions of each tester with any; by key.
    """
    name, now = event.study.name, event.clock.now()
    texts = event.participants.last_acknowledgements(name)
    prompts = event.store.events.replies.last_prompts(name)
    active = {session.participant: session for session in status.active}
    result: list[StuckTester] = []
    for key, (moment, n_offered) in joined.items():
        tally, session = tallies.get(key), active.get(key)
        tester = TesterActivity(
            participant=key,
            last=_latest((moment, texts.get(key), tally.last if tally else None)),
            is_done=tally is not None and tally.n_ended >= n_offered,
            session=session,
            prompted=prompts.get(session.key) if session else None,
            waiting_since=status.waiting_since.get(session.key) if session else None,
        )
        stuck = stuck_tester(tester, now)
        result += [stuck] if stuck else []
    return tuple(sorted(result, key=lambda one: (one.session is None, -one.for_s)))


def _latest(moments: Iterable[datetime | None]) -> datetime:
    return max((moment for moment in moments if moment is not None), default=datetime.min.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingApplication:
    """An application with many failed replies in the last minutes; count."""

    name: str
    n_errors: int


def failing_applications(event: EventContext, status: EventStatus) -> tuple[FailingApplication, ...]:
    """Return the applications with many recent errors, those with most errors first.

    Args:
        event: The event.
        status: The current state of the event.
    """
    if not status.failures:
        return ()
    since = event.clock.now() - timedelta(seconds=RECENT_S)
    errors = event.store.events.replies.errors_since(event.study.name, since)
    result = [FailingApplication(name=name, n_errors=n) for name, n in errors.items() if n >= MANY_ERRORS]
    return tuple(sorted(result, key=lambda application: (-application.n_errors, application.name)))
