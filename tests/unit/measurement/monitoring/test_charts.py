from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.monitoring.charts import cusum, ewma


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
