from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import rankdata

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import control_charts
from theodolite.measurement.control_charts import (
    TIMES_BASELINE,
    confidence_sequence,
    cusum,
    detectable_rate,
    ewma,
    level_detector,
    rate_detector,
    scan,
)


def test_sums_never_fall_below_zero():
    chart = cusum([-5, 1, -5, 1], target=0, slack=0, limit=4)

    assert chart.upper == (0, 1, 0, 1)
    assert chart.lower == (5, 4, 9, 8)
    assert chart.signals == (0, 2, 3)


def test_no_observation_gives_no_chart():
    assert cusum([], target=0, slack=0, limit=1).upper == ()
    assert ewma([], target=0, sd=1).signals == ()


def test_an_average_outside_its_limits_signals():
    assert ewma([0.0] * 5 + [10.0] * 3, target=0, sd=1).signals == (5, 6, 7)


@pytest.mark.parametrize(
    "call",
    [lambda: cusum([1], target=0, slack=-1, limit=1), lambda: ewma([1], target=0, sd=1, weight=0)],
    ids=["slack", "weight"],
)
def test_invalid_chart_settings_are_refused(call):
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


def test_the_closed_form_equals_the_recursion():
    outcomes = (np.random.default_rng(1).random(300) < 0.05).astype(float)

    found = rate_detector(outcomes, baseline=0.05, arl=1e9)

    assert found.path == pytest.approx(by_recursion(outcomes, 0.05), abs=1e-9)


def test_the_chart_restarts_after_each_alarm():
    found = rate_detector([0] * 30 + [1] * 40, baseline=0.02, arl=1000)

    indices = [alarm.index for alarm in found.alarms]
    assert len(indices) > 3
    assert found.alarms[1].since > found.alarms[0].index
    assert max(np.delete(found.path, indices)) < found.threshold


def test_a_row_without_observations_gives_no_alarm():
    assert rate_detector([], baseline=0.1, arl=100).alarms == ()
    assert level_detector([], baseline=0.1, arl=100).path.tolist() == []


def test_a_long_row_neither_overflows_nor_alarms_in_control():
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
def test_invalid_settings_are_refused(call):
    with pytest.raises(InputError, match=r"`(outcomes|baseline|arl|badness)` must"):
        call()


def share_found(rate, baseline, arl, n, n_histories=400):
    """The share of simulated histories in which the detector alarms within n observations of the rise."""
    rng = np.random.default_rng(11)
    alarmed = [
        bool(rate_detector((rng.random(n) < rate).astype(float), baseline=baseline, arl=arl).alarms)
        for _ in range(n_histories)
    ]
    return sum(alarmed) / n_histories


@pytest.mark.parametrize(
    ("n", "baseline"), [(100, 0.045), (200, 0.045), (200, 0.12), (500, 0.02)], ids=["100", "200", "high", "500"]
)
def test_the_stated_rise_is_detected_at_least_as_often_as_promised(n, baseline):
    rate = detectable_rate(n, baseline=baseline, arl=60_000)

    assert rate > baseline
    assert share_found(rate, baseline, 60_000, n) >= 0.8
    assert share_found(0.75 * rate, baseline, 60_000, n) < 0.8


def test_the_bound_follows_from_the_binomial_tail_of_one_bet():
    n, baseline, arl = 50, 0.1, 1000
    rate = detectable_rate(n, baseline=baseline, arl=arl)
    fewest = min(
        k
        for k in range(n + 1)
        for bet in (min(times * baseline, (1 + baseline) / 2) for times in TIMES_BASELINE)
        if k * math.log(bet / baseline) + (n - k) * math.log((1 - bet) / (1 - baseline)) >= math.log(5 * arl)
    )

    tail = sum(math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(fewest, n + 1))
    assert tail == pytest.approx(0.8, abs=1e-4)


def test_too_few_observations_detect_no_rise():
    assert detectable_rate(3, baseline=0.1, arl=60_000) is None


@pytest.mark.parametrize(("n", "power"), [(0, 0.8), (10, 1.0)], ids=["n", "power"])
def test_an_invalid_power_is_refused(n, power):
    with pytest.raises(InputError, match="`n` must be 1 or more"):
        detectable_rate(n, baseline=0.1, arl=1000, power=power)


def test_the_start_of_a_rise_is_estimated():
    rng = np.random.default_rng(9)
    outcomes = np.concatenate([rng.random(1000) < 0.02, rng.random(1000) < 0.2])

    alarm = rate_detector(outcomes, baseline=0.02, arl=1e5).alarms[0]

    assert 1000 <= alarm.index < 1100
    assert abs(alarm.since - 1000) < 30


def test_blocks_give_the_same_digits_on_a_long_row():
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


def test_the_probability_of_a_rank_sum_is_exact_with_ties():
    values = np.array([1, 1, 2, 2, 3, 3, 3, 4])
    doubled = control_charts._doubled_ranks(values)
    found = int(doubled[6:].sum())

    sums = [doubled[list(chosen)].sum() for chosen in combinations(range(8), 2)]

    assert doubled.tolist() == (2 * rankdata(values)).tolist()
    assert control_charts._at_least(doubled, 2, found) == pytest.approx(np.mean(np.array(sums) >= found))


def test_a_rise_is_reported_with_its_start_and_the_scan_restarts():
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.integers(0, 12, 60), rng.integers(10, 22, 30)]).astype(float)

    alarms = scan(values, n_reference=40, arl=1000)

    assert abs(alarms[0].since - 60) <= 2
    assert alarms[0].index <= 66
    assert alarms[1].since > alarms[0].index


def test_a_fall_is_not_a_rise():
    values = np.concatenate([np.arange(40.0) % 10 + 10, np.zeros(20)])

    assert scan(values, n_reference=40, arl=100) == ()
    assert scan(-values, n_reference=40, arl=100) != ()


def test_equal_windows_never_alarm():
    assert scan(np.ones(100), n_reference=20, arl=100) == ()
    assert scan(np.ones(10), n_reference=20, arl=100) == ()


def by_every_window(values, *, n_reference, arl):
    """The scan without a look at what is worth one: an exact probability for every window and span."""
    reference, alarms, fresh = values[:n_reference], [], n_reference
    for end in range(n_reference + 1, len(values) + 1):
        for span in (span for span in control_charts.SPANS if end - span >= fresh):
            p_value = control_charts._rank_sum_p(reference, values[end - span : end])
            if p_value <= 1 / (arl * len(control_charts.SPANS)):
                alarms.append((end - 1, end - span, p_value))
                fresh = end
                break
    return alarms


@pytest.mark.parametrize("seed", range(12))
def test_no_alarming_window_is_skipped(seed):
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.integers(0, 5, 60), rng.integers(seed % 4, 6, 60)]).astype(float)

    alarms = scan(values, n_reference=20, arl=50)

    assert [(one.index, one.since, one.p_value) for one in alarms] == by_every_window(values, n_reference=20, arl=50)


def test_without_labels_there_is_no_sequence():
    assert isinstance(confidence_sequence(0, 0), Undefined)


def test_more_defects_than_labels_are_refused():
    with pytest.raises(InputError, match=r"within 0\.\.`labelled`"):
        confidence_sequence(3, 2)


@pytest.mark.parametrize(("defects", "end"), [(0, 0.0), (20, 1.0)])
def test_the_edges_are_exact(defects, end):
    found = confidence_sequence(defects, 20)

    assert end in {found.low, found.high}
