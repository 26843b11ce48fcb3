from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.estimate import Undefined
from theodolite.measurement.order.chance import (
    _patience,
    chance_levels,
    inversions_of_rows,
    not_falling_of_rows,
    null_of,
    rising_of_rows,
    trend_chance,
)

STARS = np.array([5.0, 4] * 4)


def test_up_to_eight_scores_all_orders_are_enumerated():
    chance = null_of(STARS).of(inversions_of_rows, 10)

    assert (chance.at_least, chance.mean) == (pytest.approx(24 / 70), 8.0)
    assert "all orders" in chance.method


def test_random_orders_are_repeatable_and_never_say_never():
    scores = np.arange(30.0)

    one, other = (null_of(scores, seed=1).of(inversions_of_rows, 0) for _ in range(2))

    assert one == other
    assert one.at_most == 1 / 2000


def test_trend_agrees_with_random_orders_where_both_can_be_had():
    scores = np.random.default_rng(1).integers(1, 6, 40).astype(float)
    found = int(inversions_of_rows(scores[None, :].astype(int))[0])

    closed, drawn = trend_chance(scores, found), null_of(scores).of(inversions_of_rows, found)

    assert closed.mean == pytest.approx(drawn.mean, rel=0.02)
    assert closed.sd == pytest.approx(drawn.sd, rel=0.06)
    assert closed.at_least == pytest.approx(drawn.at_least, abs=0.04)


def test_a_sequence_that_is_too_long_says_so():
    levels = chance_levels(np.arange(30_000.0), {"lis": (rising_of_rows, 30_000)})

    assert isinstance(levels["lis"], Undefined)
    assert "rolling windows" in levels["lis"].reason


def test_equal_scores_have_no_trend():
    assert isinstance(trend_chance(np.ones(20), 0), Undefined)


@pytest.mark.parametrize(("found", "verdict"), [(0, "below chance"), (14, "like chance"), (28, "above chance")])
def test_a_verdict_needs_both_tails(found, verdict):
    assert null_of(np.arange(8.0)).of(inversions_of_rows, found).verdict() == verdict


def test_threads_of_few_values_are_as_long_as_patience_finds_them():
    rows = np.random.default_rng(8).integers(0, 5, (200, 30))

    assert np.array_equal(not_falling_of_rows(rows), _patience(rows, strict=False))


def test_the_p_value_is_that_of_both_sides():
    assert null_of(STARS).of(inversions_of_rows, 10).p_value == pytest.approx(2 * 24 / 70)
