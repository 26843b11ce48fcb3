from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.order.patterns import check_ties, pattern_codes, possible_patterns, tied_patterns


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
