"""Intervals: quantiles, and what stands in where the data show no variation."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.interval import (
    Concord,
    check_confidence,
    corrected_for_chance,
    normal_quantile,
    student_quantile,
    whole_count,
    wilson,
)

HALF = Concord(agreeing=40, n=40, chance=0.5)


def test_quantiles_are_those_of_the_tables():
    assert normal_quantile(0.95) == pytest.approx(1.959964, abs=1e-6)
    assert student_quantile(0.95, 10) == pytest.approx(2.228139, abs=1e-6)


def test_without_variation_the_share_of_agreeing_units_decides():
    low, high = corrected_for_chance(1.0, 0.0, 1.96, HALF, 0.95)

    assert (low, high) == (pytest.approx((wilson(40, 40, 0.95)[0] - 0.5) / 0.5), 1.0)


def test_with_variation_the_ratio_of_disagreement_is_multiplied_and_divided_by_one_factor():
    low, high = corrected_for_chance(0.8, 0.1, 2.0, HALF, 0.95)

    assert (1 - low) / 0.2 == pytest.approx(0.2 / (1 - high))
    assert low < 0.8 < high < 1.0


def test_an_enormous_standard_error_gives_the_whole_range():
    assert corrected_for_chance(0.5, 1e9, 12.7, HALF, 0.95) == (-1.0, pytest.approx(1.0))


def test_a_value_below_minus_1_stays_in_its_interval():
    low, high = corrected_for_chance(-1.2, 0.1, 2.0, HALF, 0.95)

    assert low <= -1.2 <= high


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.1, float("nan")])
def test_a_confidence_is_a_fraction(confidence):
    with pytest.raises(InputError, match=r"e\.g\. 0\.95"):
        check_confidence(confidence)


def test_a_count_is_named_when_it_is_refused():
    with pytest.raises(InputError, match="`labelled` must be a whole number; got 'ten'"):
        whole_count("ten", "labelled")
