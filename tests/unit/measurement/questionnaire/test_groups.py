"""Rank tests of several groups: gaps, ties, people who tell nothing apart."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import (
    dunn,
    friedman,
    kruskal_wallis,
)

NAN = float("nan")


def test_people_with_a_gap_are_left_out_of_friedmans_test():
    rows = [[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]]

    assert friedman([*rows, [None, 1, 2]]) == friedman(rows)
    assert friedman([[1, 2, 3]] * 5).effect == pytest.approx(1.0)


@pytest.mark.parametrize("rows", [[], [[1, 2]], [[1, 1], [2, 2]], [[1], [2]]])
def test_friedmans_test_needs_people_who_tell_things_apart(rows):
    assert isinstance(friedman(rows), Undefined)


def test_friedmans_rows_must_be_of_the_same_things():
    with pytest.raises(InputError, match=r"got rows of .1, 2."):
        friedman([[1], [1, 2]])


def test_answers_that_are_all_the_same_cannot_be_ranked():
    assert isinstance(kruskal_wallis({"a": [2, 2], "b": [2, 2]}), Undefined)
    assert isinstance(kruskal_wallis({}), Undefined)
    assert dunn({"a": [2, 2], "b": [2, 2]}) == ()
