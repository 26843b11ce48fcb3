"""Kappa: undefined cases, intervals and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.agreement import exact_agreement
from theodolite.measurement.alpha import krippendorff_alpha
from theodolite.measurement.kappa import (
    KNOWN,
    agreement_weights,
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac,
)

MIXED = (["yes"] * 5 + ["no"] * 5, ["yes"] * 4 + ["no"] * 6)


def test_kappa_without_pairs_is_undefined():
    assert isinstance(cohen_kappa([None], ["yes"], categories=["yes", "no"]), Undefined)


def test_a_constant_annotator_has_a_kappa_of_0():
    kappa = cohen_kappa(["yes"] * 4, ["yes", "yes", "no", "no"], categories=["yes", "no"])

    assert kappa.value == pytest.approx(0.0)
    assert kappa.low < 0.0 < kappa.high


def test_perfect_agreement_has_an_interval_of_positive_width():
    kappa = cohen_kappa(MIXED[0], MIXED[0], categories=["yes", "no"])

    assert (kappa.value, kappa.high) == (1.0, 1.0)
    assert kappa.low == pytest.approx(0.445, abs=1e-3)
    assert kappa.method.startswith("wilson")


def test_an_interval_near_perfect_agreement_stays_below_1():
    a = ["yes"] * 50 + ["no"] * 50
    kappa = cohen_kappa(a, ["no", *a[1:]], categories=["yes", "no"])

    assert kappa.value == pytest.approx(0.98)
    assert kappa.low < 0.9
    assert kappa.high < 1.0


def test_unknown_weights_are_refused():
    with pytest.raises(InputError, match="`weights` must be None, `linear` or `quadratic`; got 'cubic'"):
        cohen_kappa(*MIXED, categories=["yes", "no"], weights="cubic")


@pytest.mark.parametrize("counts", [[], [[0, 0]]])
def test_fleiss_kappa_without_labels_is_undefined(counts):
    result = fleiss_kappa(counts)

    assert isinstance(result, Undefined)
    assert result.reason == "No dialogue has labels from two annotators."


def test_a_single_unit_has_an_interval():
    kappa = fleiss_kappa([[1, 1]])

    assert kappa.low <= kappa.value <= kappa.high


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([[2, 0], [1]], "without gaps; got rows of different length"),
        ([2, 0], r"got shape \(2,\)"),
        ([[2], [2]], r"got shape \(2, 1\)"),
        ([[2, -1]], "whole numbers of 0 or more"),
        ([[1.5, 0.5]], "whole numbers of 0 or more"),
        ([[1, 0], [0, 1]], "needs two annotators at least"),
        ([["a", "b"]], "or no numbers"),
    ],
)
def test_tables_without_counts_are_refused(counts, words):
    with pytest.raises(InputError, match=words):
        fleiss_kappa(counts)


YES_NO = ("no", "yes")


FIRST = (["no"] * 8 + ["yes", "no"]) * 4


SECOND = (["no"] * 8 + ["no", "yes"]) * 4


PERSONAS = [f"p{unit // 10}" for unit in range(40)]


def counts(first, second):
    return [[pair.count(label) for label in YES_NO] for pair in zip(first, second, strict=True)]


def table(first, second):
    return [[YES_NO.index(label) for label in row] for row in (first, second)]


MEASURES = {
    "exact": lambda a, b, ids: exact_agreement(a, b, clusters=ids),
    "cohen": lambda a, b, ids: cohen_kappa(a, b, categories=YES_NO, clusters=ids),
    "fleiss": lambda a, b, ids: fleiss_kappa(counts(a, b), clusters=ids),
    "alpha": lambda a, b, ids: krippendorff_alpha(table(a, b), clusters=ids),
    "gwet": lambda a, b, ids: gwet_ac([a, b], categories=YES_NO, clusters=ids),
    "even": lambda a, b, ids: brennan_prediger([a, b], categories=YES_NO, clusters=ids),
    "conger": lambda a, b, ids: conger_kappa([a, b], categories=YES_NO, clusters=ids),
}


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_clusters_do_not_change_the_value_and_are_counted(measure):
    alone, together = measure(FIRST, SECOND, None), measure(FIRST, SECOND, PERSONAS)

    assert together.value == pytest.approx(alone.value)
    assert (alone.n_clusters, together.n_clusters) == (None, 4)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_correlated_clusters_widen_the_interval(measure):
    first = ["no", "yes"] * 20
    second = ["no", "yes"] * 10 + ["yes", "no"] * 10

    alone = measure(first, second, None)
    together = measure(first, second, [f"p{unit // 5}" for unit in range(40)])

    assert together.high - together.low > 1.3 * (alone.high - alone.low)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_perfect_agreement_of_few_clusters_is_less_certain_than_of_many_units(measure):
    alone, together = measure(FIRST, FIRST, None), measure(FIRST, FIRST, PERSONAS)

    assert together.value == pytest.approx(1.0)
    assert together.low < alone.low
    assert together.method.startswith("beta-binomial")


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_ids_are_unique_per_unit(measure):
    with pytest.raises(InputError, match="`clusters` must name the cluster of each unit"):
        measure(FIRST, SECOND, ["a"])


def test_a_single_used_label_is_full_agreement_by_gwet():
    agreement = gwet_ac([["no"] * 5, ["no"] * 5], categories=YES_NO)

    assert agreement.value == pytest.approx(1.0)
    assert agreement.low < 1.0


def test_an_annotator_without_labels_has_no_marginal_distribution():
    result = conger_kappa([["no", "yes"], ["no", "no"], [None, None]], categories=YES_NO)

    assert isinstance(result, Undefined)
    assert "gave no label" in result.reason


def test_adjacent_labels_agree_within_a_band():
    agreement = gwet_ac([[1, 2, 3, 5], [2, 2, 4, 5]], categories=range(1, 6), weights="band")

    assert agreement.value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("ratings", "words"),
    [
        ([["no"]], "`ratings` must hold two annotators at least"),
        ([["no"], ["no", "no"]], "rows equally long"),
        ([["no"], ["maybe"]], "got .'maybe'.. Give the full scale"),
    ],
)
def test_invalid_ratings_are_refused(ratings, words):
    with pytest.raises(InputError, match=words):
        gwet_ac(ratings, categories=YES_NO)


def test_missing_labels_may_be_none_or_nan():
    some, other = ["no", None, "yes"], ["no", "yes", math.nan]

    assert gwet_ac([some, other], categories=YES_NO).n == 1


def test_numbers_in_an_array_are_read_as_labels_in_lists_are():
    table = np.array([[1, 2, 3, np.nan, 2], [1, 2, 2, 3, 2], [np.nan, 2, 3, 3, 1]])
    lists = [[None if math.isnan(x) else int(x) for x in row] for row in table]

    assert gwet_ac(table, categories=[1, 2, 3]) == gwet_ac(lists, categories=[1, 2, 3])
    with pytest.raises(InputError, match=r"got .'3'.. Give the full scale"):
        gwet_ac(table, categories=[1, 2])


@pytest.mark.parametrize(
    ("weights", "row"),
    [
        ("identity", [1, 0, 0, 0]),
        ("linear", [1, 2 / 3, 1 / 3, 0]),
        ("quadratic", [1, 8 / 9, 5 / 9, 0]),
        ("ordinal", [1, 5 / 6, 1 / 2, 0]),
        ("band", [1, 1, 0, 0]),
    ],
)
def test_weights_decrease_with_the_distance(weights, row):
    assert agreement_weights(4, weights)[0].tolist() == pytest.approx(row)


@pytest.mark.parametrize("weights", KNOWN)
def test_weights_are_symmetric(weights):
    table = agreement_weights(5, weights)

    assert (table == table.T).all()


def test_weights_other_than_the_five_are_refused():
    with pytest.raises(InputError, match=r"`weights` must be one of identity, .* got 'cubic'"):
        agreement_weights(3, "cubic")
