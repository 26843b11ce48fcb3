from __future__ import annotations

import math

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.monitoring.charts import TIMES_BASELINE, cusum, ewma, level_detector, rate_detector


def test_sums_never_fall_below_zero():
    chart = cusum([-5, 1, -5, 1], target=0, slack=0, limit=4)

    assert chart.upper == (0, 1, 0, 1)
    assert chart.lower == (5, 4, 9, 8)
    assert chart.signals == (0, 2, 3)


def test_no_observation_is_no_chart():
    assert cusum([], target=0, slack=0, limit=1).upper == ()
    assert ewma([], target=0, sd=1).signals == ()


def test_an_average_that_leaves_its_limits_signals():
    assert ewma([0.0] * 5 + [10.0] * 3, target=0, sd=1).signals == (5, 6, 7)


@pytest.mark.parametrize(
    "call",
    [lambda: cusum([1], target=0, slack=-1, limit=1), lambda: ewma([1], target=0, sd=1, weight=0)],
    ids=["slack", "weight"],
)
def test_charts_that_mean_nothing_are_refused(call):
    with pytest.raises(InputError):
        call()


@pytest.mark.parametrize(
    "chart", [lambda row: cusum(row, target=0, slack=0, limit=1), lambda row: ewma(row, target=0, sd=1)]
)
def test_infinite_observations_are_refused(chart):
    with pytest.raises(InputError, match=r"`observations` must hold finite numbers; 1 of 2 .* \(inf\) at position 1"):
        chart([0.0, float("inf")])


def by_recursion(outcomes, baseline):
    """The detector as it is defined: R = (R + 1) * ratio, averaged over the rates that are bet on."""
    rates = [min(times * baseline, (1 + baseline) / 2) for times in TIMES_BASELINE]
    statistics, path = [0.0] * len(rates), []
    for outcome in outcomes:
        ratios = [rate / baseline if outcome else (1 - rate) / (1 - baseline) for rate in rates]
        statistics = [(old + 1) * ratio for old, ratio in zip(statistics, ratios, strict=True)]
        path.append(math.log(sum(statistics) / len(rates)))
    return path


def test_the_closed_form_is_the_recursion():
    outcomes = (np.random.default_rng(1).random(300) < 0.05).astype(float)

    found = rate_detector(outcomes, baseline=0.05, arl=1e9)

    assert found.path == pytest.approx(by_recursion(outcomes, 0.05), abs=1e-9)


def test_it_starts_anew_after_each_alarm():
    found = rate_detector([0] * 30 + [1] * 40, baseline=0.02, arl=1000)

    indices = [alarm.index for alarm in found.alarms]
    assert len(indices) > 3
    assert found.alarms[1].since > found.alarms[0].index
    assert max(np.delete(found.path, indices)) < found.threshold


def test_a_row_without_observations_is_quiet():
    assert rate_detector([], baseline=0.1, arl=100).alarms == ()
    assert level_detector([], baseline=0.1, arl=100).path.tolist() == []


def test_a_long_row_neither_overflows_nor_alarms_in_good_times():
    found = rate_detector([0.0] * 20_000, baseline=0.2, arl=100)

    assert found.alarms == ()
    assert all(map(math.isfinite, found.path))


@pytest.mark.parametrize(
    "call",
    [
        lambda: rate_detector([0.5], baseline=0.1, arl=100),
        lambda: rate_detector([1], baseline=0.0, arl=100),
        lambda: rate_detector([1], baseline=0.1, arl=0),
        lambda: level_detector([1.5], baseline=0.1, arl=100),
    ],
    ids=["no outcome", "no baseline", "no run length", "off the scale"],
)
def test_what_means_nothing_is_refused(call):
    with pytest.raises(InputError, match=r"`(outcomes|baseline|arl|badness)` must"):
        call()


def test_a_rise_is_found_where_it_began():
    rng = np.random.default_rng(9)
    outcomes = np.concatenate([rng.random(1000) < 0.02, rng.random(1000) < 0.2])

    alarm = rate_detector(outcomes, baseline=0.02, arl=1e5).alarms[0]

    assert 1000 <= alarm.index < 1100
    assert abs(alarm.since - 1000) < 30


def test_blocks_change_no_digit_of_a_long_row():
    rng = np.random.default_rng(4)
    outcomes = (rng.random(3_000) < np.where(np.arange(3_000) < 2_500, 0.05, 0.06)).astype(float)

    found = rate_detector(outcomes, baseline=0.06, arl=1e9)

    assert not found.alarms
    assert found.path == pytest.approx(by_recursion(outcomes, 0.06), abs=1e-9)


def by_whole_rows(outcomes, baseline, arl):
    """The alarms of a detector that computes everything anew after each alarm."""
    rates = np.array([min(times * baseline, (1 + baseline) / 2) for times in TIMES_BASELINE])
    row = np.asarray(outcomes)[:, None] == 1
    ratios = np.where(row, np.log(rates / baseline), np.log((1 - rates) / (1 - baseline)))
    start, alarms = 0, []
    while start < len(ratios):
        running = np.cumsum(ratios[start:], axis=0)
        before = np.concatenate([np.zeros((1, len(rates))), running[:-1]])
        each = running + np.logaddexp.accumulate(-before, axis=0)
        crossed = np.flatnonzero(np.logaddexp.reduce(each, axis=1) - np.log(len(rates)) >= np.log(arl))
        if not len(crossed):
            break
        end = int(crossed[0])
        alarms.append((start + end, start + int(before[: end + 1, each[end].argmax()].argmin())))
        start += end + 1
    return alarms


@pytest.mark.parametrize("share", [0.055, 0.07, 0.3], ids=["slow", "slower than a block", "many alarms"])
def test_alarms_and_their_starts_are_those_of_whole_rows(share):
    rng = np.random.default_rng(9)
    outcomes = (rng.random(4_000) < np.where(np.arange(4_000) < 700, 0.02, share)).astype(float)

    found = rate_detector(outcomes, baseline=0.05, arl=200)

    assert [(alarm.index, alarm.since) for alarm in found.alarms] == by_whole_rows(outcomes, 0.05, 200)
    assert found.alarms
