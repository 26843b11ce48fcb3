from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.order.entropy import (
    all_triples_entropy,
    check_ties,
    pattern_codes,
    permutation_entropy,
    possible_patterns,
    rolling_entropy,
    rolling_inversions,
    rolling_subsequence,
    tied_patterns,
)
from theodolite.measurement.order.sequence import inversion_count


@pytest.mark.parametrize("scores", [[], [1], [1, 2]])
def test_a_sequence_without_a_pattern_is_refused(scores):
    with pytest.raises(InputError, match="needs 3 scores at least"):
        permutation_entropy(scores)
    with pytest.raises(InputError, match="needs 3 scores at least"):
        all_triples_entropy(scores)


def test_a_longer_delay_needs_a_longer_sequence():
    with pytest.raises(InputError, match="order 3 and delay 4 needs 9"):
        permutation_entropy([1] * 8, delay=4)


def test_stars_that_rise_in_steps_look_constant_unless_ties_count():
    stairs = [1, 1, 2, 2, 3, 3, 4, 4]

    assert permutation_entropy(stairs) == 0
    assert permutation_entropy(stairs, ties="weak") == pytest.approx(math.log(2))


def test_the_longest_patterns_are_coded_too():
    assert permutation_entropy([1, 2, 3, 4, 5, 6, 7, 6], order=7) == pytest.approx(math.log(2))


def test_all_triples_may_be_normalised():
    scores = [3, 1, 2, 5, 4]

    assert all_triples_entropy(scores, normalize=True) == pytest.approx(all_triples_entropy(scores) / math.log(6))


@pytest.mark.parametrize("order", [2, 3, 4, 5, 6])
def test_codes_are_equal_exactly_where_a_stable_sort_gives_one_order(order):
    tuples = np.array(list(product(range(3), repeat=order)), dtype=float)

    codes = [int(pattern_codes(row, order, 1, "stable")[0]) for row in tuples]
    sorts = [tuple(np.argsort(row, kind="stable")) for row in tuples]

    assert len(set(zip(codes, sorts, strict=True))) == len(set(codes)) == len(set(sorts))


@pytest.mark.parametrize("order", [2, 3, 4])
def test_weak_orders_are_as_many_as_fubini_says(order):
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


def test_a_sequence_shorter_than_the_window_has_no_window():
    assert len(rolling_entropy([1, 2, 3], window=8)) == 0
    assert len(rolling_inversions([1, 2, 3], window=8)) == 0
    assert len(rolling_subsequence([1, 2, 3], window=8)) == 0


@pytest.mark.parametrize(
    ("call", "window"), [(rolling_entropy, 2), (rolling_inversions, 1), (rolling_subsequence, 256)]
)
def test_windows_that_hold_nothing_or_too_much_are_refused(call, window):
    with pytest.raises(InputError, match="`window` must"):
        call([1, 2, 3], window=window)


def test_long_windows_use_running_sums_with_the_same_result():
    scores = np.random.default_rng(5).integers(1, 6, 120)

    assert rolling_inversions(scores, window=60)[7] == inversion_count(scores[7:67])
    assert rolling_entropy(scores, window=60)[7] == pytest.approx(permutation_entropy(scores[7:67]), abs=1e-12)
    assert rolling_entropy(scores, window=60, normalize=True).max() <= 1
