from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.measurement.series_of_scores import BEGIN, IN_RUN, RUNS, STARS, WRONG_FROM, series
from theodolite.domain.monitoring import AlertKind, Cause, History, Score, WatchRules
from theodolite.measurement.monitoring import (
    anchor_checks,
    instrument_changes,
    plain_name,
    sign_test,
    watch_history,
)

RULES = WatchRules(reference=300, recalibrate_days=None)


def first(watch, kind):
    return next(alert for alert in watch.alerts if alert.kind is kind)


def run_of(alert):
    return alert.position // IN_RUN


def test_a_stable_series_raises_no_alert():
    assert watch_history(series(), RULES).alerts == ()


@pytest.mark.parametrize("wrong", ["slip", "hallucination"])
def test_a_worse_application_is_identified_within_three_runs(wrong):
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


def test_alternation_appears_in_the_order_metrics_and_not_in_the_level():
    watch = watch_history(series("alternation"), RULES)

    assert first(watch, AlertKind.PEN_FELL).cause is Cause.APPLICATION
    assert AlertKind.LEVEL_SLIPPED not in {alert.kind for alert in watch.alerts}


def test_without_anchors_the_cause_of_a_change_is_unknown():
    watch = watch_history(series("judge", with_anchors=False), RULES)

    assert first(watch, AlertKind.LEVEL_SLIPPED).cause is Cause.UNKNOWN
    assert any("no anchors" in note for note in watch.notes)


def test_a_declared_judge_change_starts_a_segment_and_raises_no_drift_alert():
    before, after = series(instruments={"judge": "1"}), series("slip", instruments={"judge": "2"}, seed=7)
    slipped = after.scores[WRONG_FROM * IN_RUN :]
    history = History(name="changed", scores=(*before.scores, *slipped), lowest=1, highest=5)

    watch = watch_history(history, RULES)

    assert [segment.instruments["judge"] for segment in watch.segments] == ["1", "2"]
    assert {alert.kind for alert in watch.alerts if alert.kind is not AlertKind.RECALIBRATION_DUE} <= {
        AlertKind.JUDGE_DRIFT
    }
    assert watch.changes[0].part == "judge"


def test_human_review_is_due_after_a_change_and_after_some_time():
    old = Score(value=4, human=4, at=BEGIN, instruments={"judge": "1"})
    new = Score(value=4, at=BEGIN + timedelta(days=1), instruments={"judge": "2"})
    history = History(name="h", scores=(old, new), lowest=1, highest=5)

    watch = watch_history(history, WatchRules(recalibrate_days=90), now=BEGIN + timedelta(days=100))

    details = [alert.detail for alert in watch.alerts if alert.kind is AlertKind.RECALIBRATION_DUE]
    assert details == [
        "no person has scored since the change of judge to 2",
        "people scored last 100 days ago; 90 are allowed",
    ]


def test_an_empty_history_is_monitored_too():
    watch = watch_history(History(name="empty", scores=(), lowest=0, highest=1))

    assert (watch.alerts, watch.segments) == ((), ())


def test_the_series_has_the_stated_length():
    assert len(series().scores) == RUNS * IN_RUN


def test_a_republished_measurement_counts_once():
    scores = (Score(value=4, at=BEGIN), *[Score(value=4, at=BEGIN, is_repeat=True)] * 300)

    watch = watch_history(History(name="h", scores=scores, lowest=1, highest=5))

    assert watch.segments[0].n == 1
    assert any("300 of 301 rows" in note for note in watch.notes)


def test_progress_names_the_monitored_part():
    told = []

    watch_history(series(), on_rows=lambda *step: told.append(step))

    assert told == [("Watching", RUNS * STARS)]


def anchors(*sittings, human=(1, 2, 3, 4, 5), batch=""):
    scores = [
        Score(value=value, item=str(place), human=human[place] if human else None, is_anchor=True, batch=batch)
        for sitting in sittings
        for place, value in enumerate(sitting)
        if value is not None
    ]
    return History(name="anchors", scores=tuple(scores), lowest=1, highest=5)


@pytest.mark.parametrize(("up", "down", "p"), [(0, 0, 1.0), (0, 5, 1.0), (1, 0, 0.5), (3, 1, 5 / 16)])
def test_the_sign_test_counts_changes(up, down, p):
    assert sign_test(up, down) == pytest.approx(p)


def test_a_session_ends_where_an_anchor_repeats():
    checks = anchor_checks(anchors((1, 2, 3, 4, 5), (1, 2, 3, 4, 4), (2, 2, 3, 4, 5)), 1000)

    assert [(check.n, check.n_lower, check.n_higher, check.n_farther) for check in checks] == [
        (5, 1, 0, 1),
        (5, 0, 1, 1),
    ]


def test_order_against_people_is_reported_per_session():
    (check,) = anchor_checks(anchors((1, 2, 3, 4, 5), (5, 4, 3, 2, 1)), 1000)

    assert check.span == 1
    assert (check.ranking.cin, check.ranking.lis) == (10, 1)


def test_anchors_without_human_scores_still_show_a_shift():
    checks = anchor_checks(anchors((5,) * 30, (4,) * 30, human=()), 1000)

    assert (checks[0].is_drift, checks[0].n_lower, checks[0].ranking) == (True, 30, None)


def test_a_history_without_anchors_has_no_checks():
    assert anchor_checks(series(with_anchors=False), 1000) == ()


def test_a_silent_change_of_a_noisy_judge_is_detected_within_three_sessions():
    drifts = [check for check in anchor_checks(series("judge"), 10_000) if check.is_drift]

    assert WRONG_FROM <= drifts[0].position // IN_RUN <= WRONG_FROM + 3


def test_several_sessions_are_compared_with_as_many_first_ones():
    good, bad = [(3, 2, 4, 5, 4), (3, 3, 4, 4, 4)] * 4, [(2, 2, 3, 4, 3), (2, 2, 3, 3, 3)] * 2

    last = anchor_checks(anchors(*good, *bad), 1000)[-1]

    assert (last.n_lower, last.n_higher) == (5, 0)
    assert last.p_shift == pytest.approx(2 / 32)


JUNE, JULY = datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)


def history(*months, names=None):
    scores = [
        Score(value=value, at=at, application=f"{prefix}{place}", instruments=instruments)
        for at, prefix, values, instruments in months
        for place, value in enumerate(values)
    ]
    return History(name="h", scores=tuple(scores), lowest=0, highest=10)


def test_a_declared_change_states_the_shifts():
    june, july = (JUNE, "m", [5, 5, 5, 5], {"judge": "1"}), (JULY, "m", [4, 4, 6, 5], {"judge": "2"})

    (change,) = instrument_changes(history(june, july))

    assert (change.part, change.before, change.after, change.position, change.at) == ("judge", "1", "2", 4, JULY)
    assert (change.n_lower, change.n_higher, change.n_equal, change.median_shift) == (2, 1, 1, -0.5)
    assert not change.is_suspected


def test_two_components_may_change_together():
    june, july = (JUNE, "m", [5], {"judge": "1", "data": "a"}), (JULY, "m", [4], {"judge": "2", "data": "b"})

    assert {change.part for change in instrument_changes(history(june, july))} == {"judge", "data"}


def test_all_applications_shifting_one_way_is_suspicious():
    (change,) = instrument_changes(history((JUNE, "GPT ", [5] * 20, {}), (JULY, "gpt-", [4] * 20, {})))

    assert (change.is_suspected, change.n_lower, change.position) == (True, 20, 20)
    assert change.p_value <= 2 * 0.5**20


def test_many_shifts_in_both_directions_are_suspicious_in_a_stable_series():
    quiet = [(datetime(2026, month, 1, tzinfo=UTC), "m", [5] * 20, {}) for month in range(1, 6)]

    (change,) = instrument_changes(history(*quiet, (JUNE, "m", [4, 6] * 10, {}), (JULY, "m", [4, 6] * 10, {})))

    assert (change.at, change.n_lower, change.n_higher) == (JUNE, 10, 10)


def test_few_or_mixed_shifts_are_not_suspicious():
    months = [(datetime(2026, month, 1, tzinfo=UTC), "m", [5 + month % 2, 6] * 10, {}) for month in range(1, 6)]
    both = history(
        *months[:1],
        (JULY, "m", [4, 7] * 10, {}),
        *((JULY.replace(day=day), "m", [day, 9 - day] * 10, {}) for day in (2, 3, 4)),
    )
    few = history((JUNE, "m", [5] * 7, {}), (JULY, "m", [4] * 7, {}))

    assert instrument_changes(both) == instrument_changes(few) == ()


def test_a_change_without_common_applications_has_no_shifts():
    (change,) = instrument_changes(history((JUNE, "a", [5], {"judge": "1"}), (JULY, "b", [4], {"judge": "2"})))

    assert (change.median_shift, change.p_value) == (None, None)


def test_names_are_compared_without_case_and_accents():
    assert plain_name("GPT 4-Turbo_1") == plain_name("gpt-4 turbo 1")
