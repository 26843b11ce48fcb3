"""The summaries of Table 2 of NIST AI 700-1, for one row and for many rows at once."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.trees.methods import BUILT_IN, SCALE_NORMALISED_MEDIAN, SummaryMethod, methods_with
from theodolite.measurement.trees.replicates import summarise


def row(name: str, values: list[float], weights: list[float], highest: float | None = None) -> float:
    given = np.array([values], dtype=float), np.array([weights], dtype=float)
    return float(summarise(BUILT_IN[name], *given, highest=highest)[0])


def test_the_scale_normalised_median_divides_by_the_maximum_of_the_scale_rather_than_of_the_values():
    assert row(SCALE_NORMALISED_MEDIAN, [1, 2, 2], [1, 1, 1], highest=5) == 0.4


def test_the_literal_formula_gives_the_best_answer_of_a_scale_from_1_one_tenth():
    assert row(SCALE_NORMALISED_MEDIAN, [1, 1, 1], [1, 1, 1], highest=10) == 0.1


def test_equal_maxima_are_one_maximum():
    assert row("max", [3, 5, 5], [1, 1, 1]) == 5


@pytest.mark.parametrize(("values", "middle"), [([3], 3), ([5, 1, 2], 2), ([1, 2, 3, 4], 2.5)])
def test_the_median_of_odd_and_even_numbers_of_values(values, middle):
    assert row("median", values, [1] * len(values)) == middle


@pytest.mark.parametrize(("weights", "mean"), [([1, 1], 2), ([1, 0], 1), ([3, 1], 1.5)])
def test_a_weight_of_zero_is_neither_missing_nor_zero(weights, mean):
    assert row("mean", [1, 3], weights) == mean


@pytest.mark.parametrize("name", ["mean", "max", "median", "product"])
def test_only_zero_weights_are_no_data(name):
    assert np.isnan(row(name, [1, 3], [0, 0]))


@pytest.mark.parametrize(("name", "result"), [("mean", 2), ("max", 3), ("median", 2)])
def test_a_child_without_data_is_excluded(name, result):
    assert row(name, [1, float("nan"), 3], [1, 1, 1]) == result


def test_a_factor_without_data_leaves_the_product_undefined():
    assert np.isnan(row("product", [0.5, float("nan")], [1, 1]))
    assert row("product", [0.5, 0.4], [1, 1]) == 0.2


def test_a_weighted_median_splits_at_half_of_the_weight():
    assert row("median", [1, 2, 3], [1, 1, 2]) == 2.5
    assert row("median", [3, 1, 2], [2, 1, 1.1]) == 2


def test_fractions_of_a_third_sum_to_one_dialogue():
    assert row("median", [1, 2, 3, 9], [1 / 3, 1 / 3, 1 / 3, 1]) == 6


def test_a_leading_weight_of_zero_is_not_the_median():
    assert row("median", [0, 5], [0, 1]) == 5


def test_rows_may_share_values():
    values, weights = np.array([[1.0, 2.0, 4.0]]), np.array([[1.0, 1, 1], [0, 0, 1], [0, 0, 0]])

    assert summarise(BUILT_IN["median"], values, weights, highest=None).tolist()[:2] == [2, 4]


def test_a_custom_function_receives_available_values_only():
    spread = SummaryMethod(name="our/range@1", combine=lambda values, weights: max(values) - min(values))
    values, weights = np.array([[1.0, np.nan, 4.0, 9.0]]), np.array([[1.0, 1, 1, 0]])

    assert summarise(spread, values, weights, highest=None).tolist() == [3]


def test_a_method_may_return_no_number():
    nothing = SummaryMethod(name="our/none@1", combine=lambda values, weights: None)

    assert np.isnan(summarise(nothing, np.ones((1, 1)), np.ones((1, 1)), highest=None)[0])


def test_a_new_method_needs_a_unique_name_and_a_function():
    with pytest.raises(InputError, match="already"):
        methods_with([SummaryMethod(name="mean", combine=lambda values, weights: 1.0)])
    with pytest.raises(InputError, match="needs its function"):
        methods_with([SummaryMethod(name="our/x@1")])


def test_a_factor_of_zero_makes_the_product_zero_despite_unknown_factors():
    assert row("product", [0.0, float("nan")], [1, 1]) == 0
    assert np.isnan(row("product", [0.0, float("nan")], [0, 1]))
