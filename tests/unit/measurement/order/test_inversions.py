from __future__ import annotations

import numpy as np
import pytest

from theodolite.measurement.order.inversions import MANY_VALUES, greater_before, inversion_count


def by_pairs(scores):
    return int(sum((scores[:place] > scores[place]).sum() for place in range(len(scores))))


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 100, 1000, 1025])
@pytest.mark.parametrize("values", [3, 50, 10_000], ids=["few", "some", "many"])
def test_both_ways_of_counting_agree_with_the_pairs(n, values):
    scores = np.random.default_rng(3).integers(0, values, n)

    assert inversion_count(scores) == by_pairs(scores)


def test_many_values_are_merged_in_blocks_that_need_filling_up():
    scores = np.random.default_rng(4).permutation(2 * MANY_VALUES + 3)

    assert inversion_count(scores) == by_pairs(scores)
    assert inversion_count(-scores) == len(scores) * (len(scores) - 1) // 2 - by_pairs(scores)


def test_no_score_has_no_inversion():
    assert inversion_count([]) == 0


def test_each_score_knows_how_many_before_it_are_higher():
    scores = np.random.default_rng(5).integers(0, 90, 300).astype(float)

    assert greater_before(scores).tolist() == [(scores[:place] > score).sum() for place, score in enumerate(scores)]
