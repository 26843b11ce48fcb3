"""Laws of monitoring."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theodolite.domain.monitoring import History, Score
from theodolite.measurement.control_charts import confidence_sequence, cusum, ewma, level_detector, rate_detector
from theodolite.measurement.monitoring import watch_history
from theodolite.measurement.proportion import defect_rate

OF_MONITORING = {"confidence_sequence", "cusum", "ewma", "level_detector", "rate_detector", "watch_history"}
OUTCOMES = st.lists(st.integers(0, 1), max_size=60)
SHARES = st.lists(st.floats(0, 1), max_size=40)
law = settings(deadline=None, max_examples=60)


@given(n=st.integers(1, 400), data=st.data())
@law
def test_a_confidence_sequence_is_wider_than_an_interval_for_one_look(n, data):
    defects = data.draw(st.integers(0, n))

    always, once = confidence_sequence(defects, n), defect_rate(defects, n)

    assert 0 <= always.low <= once.low <= always.value <= once.high <= always.high <= 1


@given(n=st.integers(1, 400), data=st.data())
@law
def test_non_defects_mirror_defects_in_a_sequence(n, data):
    defects = data.draw(st.integers(0, n))

    one, other = confidence_sequence(defects, n), confidence_sequence(n - defects, n)

    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9)


@given(outcomes=OUTCOMES, later=OUTCOMES)
@law
def test_later_scores_change_no_earlier_alarm(outcomes, later):
    then = rate_detector(outcomes, baseline=0.1, arl=50)
    now = rate_detector([*outcomes, *later], baseline=0.1, arl=50)

    assert now.path[: len(outcomes)] == pytest.approx(then.path, abs=1e-9)
    assert [alarm.index for alarm in now.alarms if alarm.index < len(outcomes)] == [a.index for a in then.alarms]


@given(row=SHARES, worse=st.floats(0, 0.5))
@law
def test_a_worse_row_never_alarms_later(row, worse):
    shifted = [min(1.0, value + worse) for value in row]

    plain, bad = (level_detector(values, baseline=0.3, arl=50).alarms for values in (row, shifted))

    assert not plain or bad[0].index <= plain[0].index


@given(row=SHARES)
@law
def test_charts_are_reversed_with_their_observations(row):
    turned = [-value for value in row]

    there, back = (cusum(values, target=t, slack=0.1, limit=1) for values, t in ((row, 0.5), (turned, -0.5)))
    average, mirrored = ewma(row, target=0.5, sd=1), ewma(turned, target=-0.5, sd=1)

    assert there.upper == pytest.approx(back.lower, abs=1e-9)
    assert average.upper == pytest.approx([-value for value in mirrored.upper], abs=1e-9)


@given(stars=st.lists(st.integers(1, 5), max_size=40))
@settings(deadline=None, max_examples=20)
def test_every_score_is_in_one_segment(stars):
    scores = tuple(Score(value=star, instruments={"judge": str(place // 15)}) for place, star in enumerate(stars))

    watch = watch_history(History(name="h", scores=scores, lowest=1, highest=5))

    assert sorted(place for segment in watch.segments for place in segment.positions) == list(range(len(stars)))
    assert sum(segment.n for segment in watch.segments) == len(stars)
