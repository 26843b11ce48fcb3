from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.order.sequence import as_scores, check_pattern, n_patterns, ranks


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
