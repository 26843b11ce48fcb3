"""The course of an event: days in its time zone, forecasts from whole days, and who has stopped."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from tests.fakes.event import a_session, an_open_event, exchange, failed

from theodolite.domain.estimate import Undefined
from theodolite.domain.session import Pauser
from theodolite.events.chat import finish_turn, send_prompt
from theodolite.events.progress import (
    IDLE_S,
    PAUSED_S,
    SILENT_S,
    StuckReason,
    TesterActivity,
    day_counts,
    failing_applications,
    last_days,
    stuck_tester,
    stuck_testers,
    timeline_of,
)
from theodolite.events.results import STUCK_S, status_of
from theodolite.events.sessions import end_session

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def hours(*ago: float) -> dict[datetime, int]:
    return {NOON - timedelta(hours=one): 1 for one in ago}


def test_days_are_those_of_the_time_zone_of_the_event_and_have_no_gaps():
    late = {datetime(2026, 3, 1, 23, 30, tzinfo=UTC): 2}  # half past midnight in Berlin
    days = day_counts((late, {}, {}, {NOON: 5}), BERLIN, until=None)

    assert [(one.day, one.started, one.annotations) for one in days] == [
        (date(2026, 3, 2), 2, 0),
        (date(2026, 3, 3), 0, 0),
        (date(2026, 3, 4), 0, 5),
    ]
    assert day_counts((late, {}, {}, {}), BERLIN, until=NOON)[-1].day == date(2026, 3, 4)
    assert day_counts(({}, {}, {}, {}), BERLIN, until=NOON) == ()


def test_the_rate_counts_whole_periods_of_24_hours_before_now():
    ended = hours(1, 2, 25, 60, 71.9, 73)

    assert last_days(ended, first=NOON - timedelta(hours=72), now=NOON) == [2, 1, 2]
    assert last_days(ended, first=NOON - timedelta(hours=23), now=NOON) == []


def test_a_timeline_counts_events_and_has_no_forecast_on_the_first_day():
    event = an_open_event()
    session = a_session(event)
    exchange(event, session)
    end_session(event, session.key)
    open_, closed = (timeline_of(event, status_of(event).cells, {}, is_open=one) for one in (True, False))
    (day,) = open_.days

    assert (day.started, day.ended, day.dialogues) == (1, 1, 1)
    assert (open_.n_planned, open_.n_ended, open_.n_left, open_.n_extra) == (4, 1, 3, 0)
    assert [n for _, n in open_.ended] == [1]
    assert isinstance(open_.forecast, Undefined)
    assert "3 days of data" in open_.forecast.reason
    assert closed.forecast is None


def activity(**more) -> TesterActivity:
    return TesterActivity(**({"participant": "p1", "last": NOON, "is_done": False} | more))


def after(tester: TesterActivity, seconds: float):
    return stuck_tester(tester, NOON + timedelta(seconds=seconds))


def test_a_tester_between_sessions_is_stuck_after_a_day_and_a_finished_one_never():
    assert after(activity(), IDLE_S - 1) is None
    assert after(activity(), IDLE_S).reason is StuckReason.IDLE
    assert after(activity(is_done=True), 10 * IDLE_S) is None


@pytest.fixture
def session():
    return a_session(an_open_event())


def test_in_a_session_silence_and_a_waiting_reply_count_from_the_last_prompt(session):
    silent = activity(session=session, prompted=NOON + timedelta(seconds=60))
    waiting = activity(session=session, waiting_since=NOON)

    assert after(silent, SILENT_S) is None
    assert (after(silent, SILENT_S + 60).reason, after(silent, SILENT_S + 60).for_s) == (StuckReason.SILENT, SILENT_S)
    assert after(waiting, STUCK_S - 1) is None
    assert after(waiting, STUCK_S).reason is StuckReason.REPLY


def test_a_session_paused_by_the_tester_is_stuck_after_an_hour_and_one_paused_by_an_organiser_never(session):
    own, ours = (activity(session=session.paused(by, NOON)) for by in (Pauser.TESTER, Pauser.ORGANISER))

    assert after(own, PAUSED_S - 1) is None
    assert after(own, PAUSED_S).reason is StuckReason.PAUSED
    assert after(ours, 10 * PAUSED_S) is None


def test_stuck_testers_are_listed_with_those_in_a_session_first():
    event = an_open_event()
    session = a_session(event, "p1")
    exchange(event, session)
    start = event.clock.now()
    joined = {"p1": (start, 2), "p2": (start - timedelta(days=3), 2), "p3": (start, 2)}
    event.clock.passed_s += SILENT_S

    found = stuck_testers(event, joined, status_of(event), event.sessions.tester_tallies(event.study.name))

    assert [(one.participant, one.reason) for one in found] == [("p1", StuckReason.SILENT), ("p2", StuckReason.IDLE)]


def test_an_application_with_many_recent_errors_is_named():
    event = an_open_event()
    session = a_session(event)
    for _ in range(3):
        finish_turn(event, send_prompt(event, session.key, "Again?")[0].key, failed())

    assert [(one.name, one.n_errors) for one in failing_applications(event, status_of(event))] == [
        (session.application, 3)
    ]
