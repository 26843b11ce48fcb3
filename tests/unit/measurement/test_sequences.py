from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.sequences import (
    MANY_VALUES,
    all_triples_entropy,
    as_scores,
    check_pattern,
    check_ties,
    greater_before,
    inversion_count,
    longest_increasing_subsequence,
    n_patterns,
    pattern_codes,
    permutation_entropy,
    possible_patterns,
    ranks,
    rolling_entropy,
    rolling_inversions,
    rolling_subsequence,
    tied_patterns,
)


def test_a_missing_score_is_refused_with_its_position():
    with pytest.raises(InputError, match="1 of 3 are, the first at place 1"):
        as_scores([1.0, float("nan"), 2.0])


@pytest.mark.parametrize("scores", [["good"], [[1, 2], [3, 4]]], ids=["words", "a table"])
def test_a_non_numeric_row_is_refused(scores):
    with pytest.raises(InputError, match="`scores` must be"):
        as_scores(scores)


@pytest.mark.parametrize(("order", "delay"), [(1, 1), (8, 1), (3, 0)])
def test_invalid_patterns_are_refused(order, delay):
    with pytest.raises(InputError, match=r"`(order|delay)` must be"):
        check_pattern(order, delay)


@pytest.mark.parametrize(("n", "expected"), [(8, 6), (3, 1), (2, 0)])
def test_the_number_of_patterns_in_a_sequence_is_known(n, expected):
    assert n_patterns(n, 3, 1) == expected


@pytest.mark.parametrize("scores", [[5, 1, 5, 3], [5.5, -1e9, 5.5, 0.25], [float("inf"), -1.0, float("inf"), 0.0]])
def test_equal_scores_share_a_rank(scores):
    assert ranks(np.asarray(scores, dtype=float)).tolist() == [2, 0, 2, 1]


def by_pairs(scores):
    return int(sum((scores[:place] > scores[place]).sum() for place in range(len(scores))))


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 100, 1000, 1025])
@pytest.mark.parametrize("values", [3, 50, 10_000], ids=["few", "some", "many"])
def test_both_counting_algorithms_agree_with_the_pairs(n, values):
    scores = np.random.default_rng(3).integers(0, values, n)

    assert inversion_count(scores) == by_pairs(scores)


def test_many_values_are_merged_in_padded_blocks():
    scores = np.random.default_rng(4).permutation(2 * MANY_VALUES + 3)

    assert inversion_count(scores) == by_pairs(scores)
    assert inversion_count(-scores) == len(scores) * (len(scores) - 1) // 2 - by_pairs(scores)


def test_zero_scores_have_zero_inversions():
    assert inversion_count([]) == 0


def test_the_number_of_higher_predecessors_of_each_score_is_counted():
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
def test_values_and_patience_sorting_agree_with_the_definition(values, strict):
    scores = np.random.default_rng(4).integers(0, values, 200).tolist()

    assert longest_increasing_subsequence(scores, strict=strict) == by_ends(scores, strict=strict)


def test_an_empty_sequence_has_no_subsequence():
    assert longest_increasing_subsequence([]) == 0


def test_five_point_scales_cannot_reach_the_published_high_band():
    assert longest_increasing_subsequence([1, 2, 3, 4, 5, 5, 5, 5]) == 5


@pytest.mark.parametrize("scores", [[], [1], [1, 2]])
def test_a_sequence_without_a_pattern_is_refused(scores):
    with pytest.raises(InputError, match="needs 3 scores at least"):
        permutation_entropy(scores)
    with pytest.raises(InputError, match="needs 3 scores at least"):
        all_triples_entropy(scores)


def test_a_longer_delay_needs_a_longer_sequence():
    with pytest.raises(InputError, match="order 3 and delay 4 needs 9"):
        permutation_entropy([1] * 8, delay=4)


def test_increasing_stars_with_ties_look_constant_unless_ties_count():
    stairs = [1, 1, 2, 2, 3, 3, 4, 4]

    assert permutation_entropy(stairs) == 0
    assert permutation_entropy(stairs, ties="weak") == pytest.approx(math.log(2))


def test_the_longest_patterns_are_coded_too():
    assert permutation_entropy([1, 2, 3, 4, 5, 6, 7, 6], order=7) == pytest.approx(math.log(2))


def test_normalisation_by_all_triples_is_supported():
    scores = [3, 1, 2, 5, 4]

    assert all_triples_entropy(scores, normalize=True) == pytest.approx(all_triples_entropy(scores) / math.log(6))


@pytest.mark.parametrize("order", [2, 3, 4, 5, 6])
def test_codes_are_equal_exactly_if_a_stable_sort_gives_the_same_order(order):
    tuples = np.array(list(product(range(3), repeat=order)), dtype=float)

    codes = [int(pattern_codes(row, order, 1, "stable")[0]) for row in tuples]
    sorts = [tuple(np.argsort(row, kind="stable")) for row in tuples]

    assert len(set(zip(codes, sorts, strict=True))) == len(set(codes)) == len(set(sorts))


@pytest.mark.parametrize("order", [2, 3, 4])
def test_the_number_of_weak_orders_is_the_fubini_number(order):
    tuples = np.array(list(product(range(order), repeat=order)), dtype=float)

    codes = {int(pattern_codes(row, order, 1, "weak")[0]) for row in tuples}

    assert len(codes) == possible_patterns(order, "weak")


def test_a_delay_skips_scores():
    steps = pattern_codes(np.array([1.0, 9, 2, 9, 3]), 3, 2, "stable")

    assert steps.tolist() == [0]


def test_an_unknown_tie_rule_is_refused():
    with pytest.raises(InputError, match="stable, weak"):
        check_ties("random")


@pytest.mark.parametrize(("scores", "share"), [([1, 2, 3, 4], 0.0), ([1, 1, 2, 3], 0.5), ([1, 2], None)])
def test_ties_within_patterns_are_counted(scores, share):
    assert tied_patterns(np.array(scores, dtype=float), 3, 1) == share


def test_a_sequence_shorter_than_the_window_has_no_windows():
    assert len(rolling_entropy([1, 2, 3], window=8)) == 0
    assert len(rolling_inversions([1, 2, 3], window=8)) == 0
    assert len(rolling_subsequence([1, 2, 3], window=8)) == 0


@pytest.mark.parametrize(
    ("call", "window"), [(rolling_entropy, 2), (rolling_inversions, 1), (rolling_subsequence, 256)]
)
def test_empty_and_oversized_windows_are_refused(call, window):
    with pytest.raises(InputError, match="`window` must"):
        call([1, 2, 3], window=window)


def test_long_windows_use_running_sums_with_the_same_result():
    scores = np.random.default_rng(5).integers(1, 6, 120)

    assert rolling_inversions(scores, window=60)[7] == inversion_count(scores[7:67])
    assert rolling_entropy(scores, window=60)[7] == pytest.approx(permutation_entropy(scores[7:67]), abs=1e-12)
    assert rolling_entropy(scores, window=60, normalize=True).max() <= 1
