from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.order.sequence import (
    MANY_VALUES,
    as_scores,
    check_pattern,
    greater_before,
    inversion_count,
    longest_increasing_subsequence,
    n_patterns,
    ranks,
)


def test_a_missing_score_is_refused_with_its_place():
    with pytest.raises(InputError, match="1 of 3 are, the first at place 1"):
        as_scores([1.0, float("nan"), 2.0])


@pytest.mark.parametrize("scores", [["good"], [[1, 2], [3, 4]]], ids=["words", "a table"])
def test_what_is_no_row_of_numbers_is_refused(scores):
    with pytest.raises(InputError, match="`scores` must be"):
        as_scores(scores)


@pytest.mark.parametrize(("order", "delay"), [(1, 1), (8, 1), (3, 0)])
def test_patterns_that_mean_nothing_are_refused(order, delay):
    with pytest.raises(InputError, match=r"`(order|delay)` must be"):
        check_pattern(order, delay)


@pytest.mark.parametrize(("n", "expected"), [(8, 6), (3, 1), (2, 0)])
def test_a_sequence_holds_so_many_patterns(n, expected):
    assert n_patterns(n, 3, 1) == expected


@pytest.mark.parametrize("scores", [[5, 1, 5, 3], [5.5, -1e9, 5.5, 0.25], [float("inf"), -1.0, float("inf"), 0.0]])
def test_equal_scores_share_a_rank(scores):
    assert ranks(np.asarray(scores, dtype=float)).tolist() == [2, 0, 2, 1]


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


def by_ends(scores, *, strict):
    longest = []
    for place, score in enumerate(scores):
        before = [longest[at] for at in range(place) if (scores[at] < score if strict else scores[at] <= score)]
        longest.append(1 + max(before, default=0))
    return max(longest, default=0)


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "not falling"])
@pytest.mark.parametrize("values", [1, 5, 33, 1000])
def test_values_and_patience_agree_with_the_definition(values, strict):
    scores = np.random.default_rng(4).integers(0, values, 200).tolist()

    assert longest_increasing_subsequence(scores, strict=strict) == by_ends(scores, strict=strict)


def test_nothing_has_no_subsequence():
    assert longest_increasing_subsequence([]) == 0


def test_five_stars_can_never_rise_to_the_published_high():
    assert longest_increasing_subsequence([1, 2, 3, 4, 5, 5, 5, 5]) == 5
