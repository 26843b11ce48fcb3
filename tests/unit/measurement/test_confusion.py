"""Confusion matrices."""

from __future__ import annotations

from theodolite.measurement import confusion_matrix


def test_rows_are_the_first_annotator():
    matrix = confusion_matrix(["low", "low", "high"], ["low", "high", "high"], categories=["low", "mid", "high"])

    assert matrix.categories == ("low", "mid", "high")
    assert matrix.counts == ((1, 0, 1), (0, 0, 0), (0, 0, 1))


def test_units_without_both_labels_are_not_in_it():
    assert confusion_matrix([1, None, 2], [1, 1, None], categories=[1, 2]).n == 1


def test_an_empty_matrix_is_full_of_zeros():
    assert confusion_matrix([], [], categories=["yes", "no"]).counts == ((0, 0), (0, 0))
