from __future__ import annotations

from dataclasses import replace

import pytest

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement import defect_rate, newcombe_unpaired
from theodolite.measurement.comparison.unpaired import unpaired_difference


def test_of_two_wilson_intervals_it_is_newcombes():
    change, known = unpaired_difference(defect_rate(48, 80), defect_rate(56, 70)), newcombe_unpaired(48, 80, 56, 70)

    assert (change.value, change.low, change.high) == pytest.approx((known.value, known.low, known.high))
    assert change.n == 150


def test_intervals_that_are_not_symmetric_are_added_by_their_own_arms():
    first = Estimate(value=2, low=1, high=6, confidence=0.95, n=5, unit="turns", method="m")
    second = replace(first, value=10, low=7, high=14)

    change = unpaired_difference(first, second)

    # Down: arms 10 - 7 = 3 and 6 - 2 = 4; up: 14 - 10 = 4 and 2 - 1 = 1.
    assert (change.value, change.low, change.high) == pytest.approx((8, 3, 8 + 17**0.5))


def test_a_number_without_interval_leaves_the_difference_without_one():
    change = unpaired_difference(defect_rate(2, 8), replace(defect_rate(2, 4), low=None, high=None))

    assert (change.value, change.low, change.high) == (0.25, None, None)


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (Undefined(reason="Nothing.", n=1, unit="fraction of dialogues"), "no value"),
        (replace(defect_rate(1, 4), unit="turns"), "unit"),
        (defect_rate(1, 4, confidence=0.9), "confidence"),
    ],
    ids=["undefined", "other unit", "other confidence"],
)
def test_what_cannot_be_compared_is_undefined_and_says_why(second, why):
    change = unpaired_difference(defect_rate(2, 8), second)

    assert isinstance(change, Undefined)
    assert why in change.reason
