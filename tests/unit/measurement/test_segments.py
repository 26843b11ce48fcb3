from __future__ import annotations

from theodolite.domain.annotation import Outcome
from theodolite.domain.estimate import Undefined
from theodolite.domain.monitoring import AlertKind, History, ScaleDirection, Score, WatchRules
from theodolite.measurement.segments import row_of, watch_segment

MISSING = Score(value=None, outcome=Outcome.UNPARSEABLE)


def history(scores, **of_history):
    return History(name="h", scores=tuple(scores), lowest=1, highest=5, **of_history)


def watched(scores, **rules):
    made = history(scores)
    return watch_segment(made, "bot", {}, range(len(made.scores)), WatchRules(**rules))


def test_scores_of_one_session_count_once():
    turns = [Score(value=value, session="s", defect=value < 3) for value in (5, 1, 5)]
    made = history([*turns, Score(value=4, defect=False)])

    row = row_of(made, range(len(made.scores)))

    assert row.last_positions.tolist() == [2, 3]
    assert row.defects.tolist() == [1, 0]
    assert row.badness.round(3).tolist() == [0.333, 0.25]


def test_with_a_high_bad_end_badness_is_reversed():
    made = history([Score(value=4)], worse=ScaleDirection.HIGH)

    assert row_of(made, [0]).badness.tolist() == [0.75]


def test_missing_scores_are_counted_even_if_all_are_missing():
    stretch, alerts = watched([MISSING] * 3)

    assert (stretch.n, stretch.n_missing, stretch.level, alerts) == (0, 3, None, ())
    assert isinstance(stretch.rate, Undefined)
    assert stretch.notes == ("No score has a value (3 unparseable), so nothing can be monitored",)
    assert stretch.latest.reason == "Order metrics need 8 scores; there are 0."


def test_a_rate_over_the_limit_alarms_at_the_first_look_that_shows_it():
    stretch, alerts = watched([Score(value=1, defect=True)] * 30, limit=0.2)

    assert stretch.over_limit is True
    (alert,) = [alert for alert in alerts if alert.kind is AlertKind.RATE_OVER_LIMIT]
    assert 2 < alert.delay < 10


def test_a_rate_below_the_limit_is_reported_and_one_in_between_is_open():
    below, _ = watched([Score(value=5, defect=False)] * 200, limit=0.2)
    between, _ = watched([Score(value=5, defect=place % 5 == 0) for place in range(50)], limit=0.2)

    assert (below.over_limit, between.over_limit) == (False, None)


def test_a_given_baseline_is_monitored_from_the_first_session():
    stretch, alerts = watched([Score(value=1, defect=True)] * 12, baseline=0.05)

    assert len(stretch.rate_detector) == 12
    assert alerts[0].kind is AlertKind.RATE_ROSE
    assert (stretch.baseline, alerts[0].since) == (0.05, 0)


def test_a_short_segment_states_the_missing_number():
    stretch, _ = watched([Score(value=5)] * 90)

    assert any("11 more until changes can be detected" in note for note in stretch.notes)
    assert any("more until a change of order" in note for note in stretch.notes)
    assert any("no rate" in note for note in stretch.notes)


def test_a_decline_within_windows_raises_inversions_and_lowers_entropy():
    good = [Score(value=(7 * place) % 5 + 1) for place in range(160)]
    sliding = [Score(value=value) for value in (5, 5, 4, 4, 3, 2, 2, 1)] * 12

    _, alerts = watched([*good, *sliding])

    kinds = {alert.kind for alert in alerts}
    assert {AlertKind.CIN_ROSE, AlertKind.LIS_FELL} <= kinds


def test_windows_report_level_share_and_order():
    stretch, _ = watched([Score(value=value, defect=value < 3) for value in (5, 4) * 6])

    assert stretch.windows.level[0] == 4.5
    assert stretch.windows.defect_share[0] == 0
    assert (stretch.windows.cin[0], stretch.windows.lis[0], stretch.windows.lnds[0]) == (10, 2, 4)
    assert stretch.windows.positions[0] == 7
    assert stretch.latest.cin.value in {6, 10}


def test_fewer_than_eight_scores_have_no_order_metrics_and_state_why():
    stretch, _ = watched([Score(value=5)] * 7)

    assert stretch.latest.reason == "Order metrics need 8 scores; there are 7."


def test_order_and_delay_of_patterns_follow_the_settings():
    stretch, _ = watched([Score(value=(7 * place) % 5 + 1) for place in range(30)], order=4, delay=2, window=12)

    assert (stretch.latest.order, stretch.latest.delay, stretch.latest.n) == (4, 2, 12)
    assert len(stretch.windows.pen) == 19


def test_the_worst_recent_scores_are_listed_with_their_reasons():
    scores = [Score(value=1, item="old", reason="long ago"), *[Score(value=5)] * 100]
    scores += [Score(value=2, item="a", reason="no brand"), Score(value=1, session="s")]

    stretch, _ = watched(scores)

    assert [(one.dialogue, one.value, one.reason) for one in stretch.worst] == [("s", 1, ""), ("a", 2, "no brand")]


def test_scores_are_ranked_against_people_without_anchors():
    scores = [Score(value=value, human=value) for value in (1, 2, 3, 4, 5, 1, 2, 3)]

    ranked, _ = watched([*scores, Score(value=2)])
    few, _ = watched(scores[:3])
    none, _ = watched([Score(value=2)] * 9)

    assert (ranked.ranking.n, ranked.ranking.cin, ranked.ranking.tau.value) == (8, 0, 1)
    assert few.ranking.reason == "People and judge both scored 3 units; a ranking needs 8."
    assert none.ranking is None
