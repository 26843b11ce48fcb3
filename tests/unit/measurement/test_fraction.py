"""Means of fractions and their exact interval."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.measurement.fraction import mean_fraction
from theodolite.measurement.interval import clopper_pearson


def mean(values, clusters=None):
    return mean_fraction(values, clusters=clusters, unit="u", confidence=0.95, otherwise="nothing")


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_nothing_that_varies_gives_the_exact_interval_of_as_many_clusters(value):
    found = mean([value] * 40, clusters=[place // 4 for place in range(40)])

    assert (found.low, found.high) == pytest.approx(clopper_pearson(int(10 * value), 10, 0.95))


def test_independent_yes_and_no_give_nearly_the_exact_interval():
    found = mean([1.0] * 30 + [0.0] * 170)

    assert (found.low, found.high) == pytest.approx(clopper_pearson(30, 200, 0.95), abs=2e-3)


def test_intervals_hold_what_is_true_over_clusters():
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(300):
        shares = np.repeat(rng.beta(2, 6, 20), 10)
        found = mean(rng.binomial(5, shares) / 5, clusters=np.repeat(range(20), 10).tolist())
        held += found.low <= 0.25 <= found.high

    assert held >= 276
