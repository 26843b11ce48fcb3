"""Rank tests: gaps, ties, groups that do not overlap."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.rank_tests import (
    brunner_munzel_test,
    dunn,
    friedman,
    kruskal_wallis,
    rank_sum_test,
    signed_rank_test,
    superiority,
)

NAN = float("nan")


@pytest.mark.parametrize("test", [rank_sum_test, brunner_munzel_test, superiority])
def test_missing_answers_are_excluded(test):
    assert test([1, 2, None, 3, 5], [2, NAN, 4, 5, 3]) == test([1, 2, 3, 5], [2, 4, 5, 3])


@pytest.mark.parametrize("test", [rank_sum_test, brunner_munzel_test, superiority])
def test_a_group_of_one_cannot_be_compared(test):
    assert isinstance(test([1], [2, 3]), Undefined)


def test_separated_groups_have_newcombes_interval_and_no_t_test():
    found = superiority([1, 2, 3], [4, 5, 6])

    assert (found.value, found.high, found.method) == (1.0, 1.0, "Newcombe, method 5")
    # At the lower end the squared error times z squared is the squared distance: N = 3, nm = 9.
    p, z = found.low, 1.959964
    assert (1 - p) ** 2 == pytest.approx(z**2 * p * (1 - p) * (1 + 2 * ((1 - p) / (2 - p) + p / (1 + p))) / 9, rel=1e-5)
    assert "do not overlap" in brunner_munzel_test([1, 2, 3], [4, 5, 6]).reason
    assert rank_sum_test([1, 2, 3], [4, 5, 6]).effect == 1.0


def test_superiority_counts_ties_as_one_half():
    assert superiority([1, 2, 3, 4, 5] * 6, [1, 2, 3, 4, 5, 5] * 5).value == pytest.approx(17 / 30)


def test_an_empty_change_is_undefined_and_lists_must_match():
    assert isinstance(signed_rank_test([1, 2], [1, 2]), Undefined)
    with pytest.raises(InputError, match="answers of the same people; got 1 and 2"):
        signed_rank_test([1], [1, 2])


def test_identical_answers_cannot_be_ranked():
    assert rank_sum_test([2, 2], [2, 2]).reason.startswith("All answers are the same")


@pytest.mark.parametrize("test", [signed_rank_test, rank_sum_test, superiority, brunner_munzel_test])
def test_infinite_answers_are_refused(test):
    with pytest.raises(InputError, match="must hold finite numbers"):
        test([1, 2, float("inf"), 3], [1, 3, float("inf"), 4])


def test_people_with_missing_answers_are_excluded_from_friedmans_test():
    rows = [[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]]

    assert friedman([*rows, [None, 1, 2]]) == friedman(rows)
    assert friedman([[1, 2, 3]] * 5).effect == pytest.approx(1.0)


@pytest.mark.parametrize("rows", [[], [[1, 2]], [[1, 1], [2, 2]], [[1], [2]]])
def test_friedmans_test_needs_people_who_distinguish_the_conditions(rows):
    assert isinstance(friedman(rows), Undefined)


def test_friedmans_rows_must_cover_the_same_conditions():
    with pytest.raises(InputError, match=r"got rows of .1, 2."):
        friedman([[1], [1, 2]])


def test_groups_of_equal_answers_cannot_be_ranked():
    assert isinstance(kruskal_wallis({"a": [2, 2], "b": [2, 2]}), Undefined)
    assert isinstance(kruskal_wallis({}), Undefined)
    assert dunn({"a": [2, 2], "b": [2, 2]}) == ()
