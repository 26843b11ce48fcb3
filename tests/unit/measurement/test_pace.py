"""The time that open sessions take: against an integral and a recorded process, and undefined with little data."""

from __future__ import annotations

import math

import pytest
from scipy.integrate import quad
from scipy.stats import gamma

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import NOTHING_LEFT
from theodolite.measurement.pace import dispersion, time_to_finish


def reached_by(days: float, n: int, n_days: int, n_left: int) -> float:
    """Probability that a Poisson process with n events in n_days has n_left more by then, by numerical integration.

    The rate has the distribution of Gamma(n) / n_days, and the time of n_left events given a rate that of
    Gamma(n_left) / rate: another derivation than the quantile of F.
    """

    def joint(rate: float) -> float:
        return gamma.pdf(rate, n, scale=1 / n_days) * gamma.cdf(days, n_left, scale=1 / rate)

    middle = n / n_days
    return quad(joint, 1e-9, middle * 6, limit=200)[0]


@pytest.mark.parametrize(("per_day", "n_left"), [((5, 5, 5), 8), ((20, 21, 19, 20), 40), ((4, 4, 4), 100)])
def test_the_interval_has_its_coverage_if_days_vary_by_chance(per_day, n_left):
    found = time_to_finish(per_day, n_left)
    n, n_days = sum(per_day), len(per_day)

    assert isinstance(found, Estimate)
    assert math.isclose(found.value, n_days * n_left / n)
    assert math.isclose(reached_by(found.low, n, n_days, n_left), 0.025, abs_tol=1e-4)
    assert math.isclose(reached_by(found.high, n, n_days, n_left), 0.975, abs_tol=1e-4)


def test_varying_days_widen_the_interval():
    even, uneven = time_to_finish((10, 10, 10), 10), time_to_finish((2, 20, 8), 10)

    assert even.value == uneven.value
    assert uneven.high - uneven.low > 1.5 * (even.high - even.low)
    assert uneven.design_effect == dispersion((2, 20, 8)) == pytest.approx(8.4)


@pytest.mark.parametrize(
    ("per_day", "n_left", "part"),
    [((5, 5), 3, "3 days of data"), ((1, 2, 3), 3, "10 completed"), ((9, 9, 9), 0, NOTHING_LEFT)],
    ids=["days", "sessions", "done"],
)
def test_there_is_no_forecast_with_little_data_or_nothing_remaining(per_day, n_left, part):
    found = time_to_finish(per_day, n_left)

    assert isinstance(found, Undefined)
    assert part in found.reason
    assert found.n == sum(per_day)
