from __future__ import annotations

from datetime import timedelta

import pytest

from tests.unit.measurement.monitoring.given import BEGIN, IN_RUN, RUNS, STARS, WRONG_FROM, series
from theodolite.domain.monitoring.history import History, Score
from theodolite.domain.monitoring.watch import AlertKind, Cause, WatchRules
from theodolite.measurement.monitoring.watch import watch_history

RULES = WatchRules(reference=300, recalibrate_days=None)


def first(watch, kind):
    return next(alert for alert in watch.alerts if alert.kind is kind)


def run_of(alert):
    return alert.position // IN_RUN


def test_good_times_raise_nothing():
    assert watch_history(series(), RULES).alerts == ()


@pytest.mark.parametrize("wrong", ["slip", "hallucination"])
def test_a_worse_application_is_told_as_such_within_three_runs(wrong):
    watch = watch_history(series(wrong), RULES)

    slipped = first(watch, AlertKind.LEVEL_SLIPPED)
    assert slipped.cause is Cause.APPLICATION
    assert WRONG_FROM <= run_of(slipped) <= WRONG_FROM + 3
    assert abs(slipped.since // IN_RUN - WRONG_FROM) <= 1
    assert AlertKind.JUDGE_DRIFT not in {alert.kind for alert in watch.alerts}


def test_a_silent_change_of_the_judge_is_not_blamed_on_the_application():
    watch = watch_history(series("judge"), RULES)

    assert WRONG_FROM <= run_of(first(watch, AlertKind.JUDGE_DRIFT)) <= WRONG_FROM + 3
    assert first(watch, AlertKind.LEVEL_SLIPPED).cause is Cause.JUDGE


def test_alternation_shows_in_the_order_and_not_in_the_level():
    watch = watch_history(series("alternation"), RULES)

    assert first(watch, AlertKind.PEN_FELL).cause is Cause.APPLICATION
    assert AlertKind.LEVEL_SLIPPED not in {alert.kind for alert in watch.alerts}


def test_without_anchors_nobody_can_tell_who_moved():
    watch = watch_history(series("judge", with_anchors=False), RULES)

    assert first(watch, AlertKind.LEVEL_SLIPPED).cause is Cause.UNKNOWN
    assert any("no anchors" in note for note in watch.notes)


def test_a_declared_judge_change_begins_a_stretch_and_raises_no_slip():
    before, after = series(instruments={"judge": "1"}), series("slip", instruments={"judge": "2"}, seed=7)
    slipped = after.scores[WRONG_FROM * IN_RUN :]
    history = History(name="changed", scores=(*before.scores, *slipped), lowest=1, highest=5)

    watch = watch_history(history, RULES)

    assert [stretch.instruments["judge"] for stretch in watch.stretches] == ["1", "2"]
    assert {alert.kind for alert in watch.alerts if alert.kind is not AlertKind.RECALIBRATION_DUE} <= {
        AlertKind.JUDGE_DRIFT
    }
    assert watch.changes[0].part == "judge"


def test_people_must_look_again_after_a_change_and_after_a_time():
    old = Score(value=4, human=4, at=BEGIN, instruments={"judge": "1"})
    new = Score(value=4, at=BEGIN + timedelta(days=1), instruments={"judge": "2"})
    history = History(name="h", scores=(old, new), lowest=1, highest=5)

    watch = watch_history(history, WatchRules(recalibrate_days=90), now=BEGIN + timedelta(days=100))

    details = [alert.detail for alert in watch.alerts if alert.kind is AlertKind.RECALIBRATION_DUE]
    assert details == [
        "no person has scored since the change of judge to 2",
        "people scored last 100 days ago; 90 are allowed",
    ]


def test_an_empty_history_is_watched_too():
    watch = watch_history(History(name="empty", scores=(), lowest=0, highest=1))

    assert (watch.alerts, watch.stretches) == ((), ())


def test_the_series_is_as_long_as_it_says():
    assert len(series().scores) == RUNS * IN_RUN


def test_a_measurement_that_is_published_again_counts_once():
    scores = (Score(value=4, at=BEGIN), *[Score(value=4, at=BEGIN, is_repeat=True)] * 300)

    watch = watch_history(History(name="h", scores=scores, lowest=1, highest=5))

    assert watch.stretches[0].n == 1
    assert any("300 of 301 rows" in note for note in watch.notes)


def test_progress_names_what_is_watched():
    told = []

    watch_history(series(), on_rows=lambda *step: told.append(step))

    assert told == [("Watching", RUNS * STARS)]
