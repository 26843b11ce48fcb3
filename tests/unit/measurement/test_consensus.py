from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import exact_agreement, majority_labels, unanimity


def test_all_annotators_of_a_unit_must_agree():
    agreed = unanimity([["a", "a", "a"], ["a", "a", "b"], ["a", "b", None]])

    assert (agreed.count, agreed.n) == (1, 3)


def test_units_with_a_single_label_are_left_out():
    agreed = unanimity([["a", "a", None], ["a", None, None]])

    assert (agreed.count, agreed.n) == (1, 1)


def test_unanimity_of_two_is_their_exact_agreement():
    a, b = ["a", "b", "b", "a"], ["a", "b", "a", "a"]

    assert unanimity([a, b]).value == exact_agreement(a, b).value
    assert unanimity([a, b]).low == exact_agreement(a, b).low


def test_chance_falls_with_the_number_of_annotators():
    two, three = (unanimity([["a", "b"]] * n) for n in (2, 3))

    assert (two.chance, three.chance) == (0.5, 0.25)


def test_without_a_shared_unit_unanimity_is_undefined():
    assert isinstance(unanimity([["a", None], [None, "b"]]), Undefined)
    assert isinstance(unanimity([]), Undefined)


def test_clusters_are_stated():
    assert unanimity([["a", "b", "a"], ["a", "a", "a"]], clusters=["x", "x", "y"]).n_clusters == 2


def test_a_tie_has_no_majority_and_neither_has_a_lone_label():
    assert majority_labels([["a", "a", "a"], ["a", "b", None], ["b", None, None]]) == ["a", None, None]


def test_numbers_are_labels_too():
    assert majority_labels([[4, 1], [4.0, float("nan")]]) == ["4", None]


@pytest.mark.parametrize("measure", [unanimity, majority_labels])
def test_rows_must_be_equally_long(measure):
    with pytest.raises(InputError, match="rows of equal length"):
        measure([["a"], ["a", "b"]])
