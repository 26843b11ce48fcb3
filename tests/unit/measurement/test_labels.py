"""Labels and pairs: what counts as the same label, what is missing, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement import confusion_matrix, exact_agreement
from theodolite.measurement.labels import label_text, scale_points


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("yes", "yes"),
        (4, "4"),
        (4.0, "4"),
        (0.5, "0.5"),
        (np.int64(3), "3"),
        (np.float64(3), "3"),
        (True, "1"),
        (np.bool_(True), "1"),
        (None, None),
        (float("nan"), None),
        (np.float64("nan"), None),
    ],
)
def test_labels_are_compared_as_texts(label, text):
    assert label_text(label) == text


def test_a_label_of_another_kind_is_refused():
    with pytest.raises(InputError, match="a label must be a text, a number or None"):
        label_text(["yes"])


def test_arrays_are_taken_as_they_are():
    assert exact_agreement(np.array([1, 2, 3]), np.array([1.0, 2.0, np.nan])).n == 2


def test_annotators_of_different_length_are_refused():
    with pytest.raises(InputError, match=r"must label the same units; got 2 and 1 labels\. Put None"):
        exact_agreement(["yes", "no"], ["yes"])


def test_all_labels_off_the_scale_are_named_at_once_with_a_guess():
    with pytest.raises(InputError, match=r"got `nope`.*`yess`. Did you mean `yes`\?"):
        confusion_matrix(["yess", "no"], ["yes", "nope"], categories=["yes", "no"])


@pytest.mark.parametrize("categories", [["yes"], ["yes", "yes"], []])
def test_a_scale_has_two_different_points_at_least(categories):
    with pytest.raises(InputError, match="two different labels at least"):
        scale_points(categories)


def test_rows_are_the_first_annotator():
    matrix = confusion_matrix(["low", "low", "high"], ["low", "high", "high"], categories=["low", "mid", "high"])

    assert matrix.categories == ("low", "mid", "high")
    assert matrix.counts == ((1, 0, 1), (0, 0, 0), (0, 0, 1))


def test_units_without_both_labels_are_not_in_it():
    assert confusion_matrix([1, None, 2], [1, 1, None], categories=[1, 2]).n == 1


def test_an_empty_matrix_is_full_of_zeros():
    assert confusion_matrix([], [], categories=["yes", "no"]).counts == ((0, 0), (0, 0))
