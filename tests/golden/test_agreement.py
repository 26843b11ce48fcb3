"""Agreement against published tables and independent libraries."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pytest
from scipy.special import stdtrit
from sklearn.metrics import cohen_kappa_score
from sklearn.metrics import confusion_matrix as sklearn_matrix
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from tests.golden.published import agreement, counts_of, units_of
from theodolite.measurement.agreement import exact_agreement, relaxed_agreement
from theodolite.measurement.alpha import krippendorff_alpha
from theodolite.measurement.kappa import brennan_prediger, cohen_kappa, conger_kappa, fleiss_kappa, gwet_ac
from theodolite.measurement.labels import confusion_matrix

SCALES = ["nominal", "ordinal", "interval", "ratio"]


def standard_error(estimate, quantile):
    """Return the standard error that an interval on the logarithm of 1 - value comes from."""
    ratio = 1 - estimate.value
    return math.log(ratio / (1 - estimate.high)) / quantile * ratio


@pytest.mark.parametrize("scale", SCALES)
def test_alpha_of_the_table_of_krippendorff_with_gaps(scale):
    published = agreement()["alpha_4x12"]

    alpha = krippendorff_alpha(published["ratings"], scale=scale)

    assert alpha.value == pytest.approx(published["alpha"][scale], abs=1e-9)


def test_alpha_of_the_binary_table_of_krippendorff():
    published = agreement()["alpha_binary"]

    assert krippendorff_alpha(published["ratings"]).value == pytest.approx(published["alpha"], abs=1e-12)


def random_ratings(seed):
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 6, size=(4, 30)).astype(float)
    ratings[:, :15] = ratings[0, :15]
    ratings[rng.random(ratings.shape) < 0.2] = np.nan
    return ratings


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", range(5))
def test_alpha_equals_that_of_the_krippendorff_library(seed, scale):
    ratings = random_ratings(seed)

    theirs = krippendorff.alpha(reliability_data=ratings, level_of_measurement=scale)

    assert krippendorff_alpha(ratings, scale=scale).value == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("table", ["fleiss_1971", "fleiss_14_annotators"])
def test_fleiss_kappa_of_published_tables(table):
    published = agreement()[table]

    assert fleiss_kappa(published["counts"]).value == pytest.approx(published["kappa"], abs=1e-9)
    assert statsmodels_fleiss(np.array(published["counts"])) == pytest.approx(published["kappa"], abs=1e-9)


def test_fleiss_kappa_with_unequal_numbers_of_labels_and_its_standard_error():
    published = agreement()["gwet_unequal"]

    kappa = fleiss_kappa(counts_of(agreement()["alpha_4x12"]["ratings"]))

    assert kappa.value == pytest.approx(published["fleiss"], abs=5.1e-6)
    assert standard_error(kappa, stdtrit(11, 0.975)) == pytest.approx(published["fleiss_error"], abs=5.1e-6)


def test_the_jackknife_of_alpha_is_close_to_the_analytic_standard_error():
    alpha = krippendorff_alpha(agreement()["alpha_4x12"]["ratings"])

    error = standard_error(alpha, stdtrit(10, 0.975))

    assert error == pytest.approx(agreement()["gwet_unequal"]["alpha_error"], rel=0.02)


@pytest.mark.parametrize("case", agreement()["paradox"], ids=lambda case: str(case["table"]))
def test_kappa_may_be_low_where_agreement_is_high(case):
    a, b = units_of(case["table"])

    assert exact_agreement(a, b).value == pytest.approx(case["agreement"], abs=5e-5)
    assert cohen_kappa(a, b, categories=[0, 1]).value == pytest.approx(case["kappa"], abs=5.1e-5)
    assert gwet_ac([a, b], categories=[0, 1]).value == pytest.approx(case["ac1"], abs=5.1e-5)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_weighted_kappa_needs_the_full_scale(weights):
    published = agreement()["anxiety"]

    kappa = cohen_kappa(published["first"], published["second"], categories=range(1, 7), weights=weights)

    assert kappa.value == pytest.approx(published["full_scale"][weights or "none"], abs=1e-8)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_without_an_unused_point_has_another_value(weights):
    published = agreement()["anxiety"]

    kappa = cohen_kappa(published["first"], published["second"], categories=[1, 2, 3, 4, 6], weights=weights)

    assert kappa.value == pytest.approx(published["without_unused"][weights], abs=1e-7)


@pytest.mark.parametrize("weights", [None, "linear"])
def test_kappa_and_its_standard_error_equal_those_of_sas(weights):
    a, b = units_of(agreement()["sas"]["table"])

    kappa = cohen_kappa(a, b, categories=range(3), weights=weights)

    printed = agreement()["sas"][weights or "none"]
    assert [kappa.value, standard_error(kappa, 1.959964)] == pytest.approx(printed, abs=5.1e-5)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("seed", range(5))
def test_kappa_and_matrix_equal_those_of_scikit_learn(seed, weights):
    a, b = np.random.default_rng(seed).integers(1, 6, size=(2, 40))

    kappa = cohen_kappa(list(a), list(b), categories=range(1, 6), weights=weights)

    assert kappa.value == pytest.approx(cohen_kappa_score(a, b, labels=range(1, 6), weights=weights), abs=1e-12)
    assert np.array_equal(
        confusion_matrix(a, b, categories=range(1, 6)).counts, sklearn_matrix(a, b, labels=range(1, 6))
    )


def test_annotators_who_choose_evenly_at_random_are_within_one_point_in_52_of_100():
    evenly = [1, 2, 3, 4, 5]

    relaxed = relaxed_agreement(evenly, evenly[::-1])

    assert relaxed.chance == pytest.approx(0.52)


PANEL = agreement()["gwet_panel"]
"""Coefficients that irrCAC prints, by weights; a pair is (value, standard error)."""

COEFFICIENTS = {
    "gwet_ac1": gwet_ac,
    "ac2": gwet_ac,
    "bp": brennan_prediger,
    "brennan_prediger": brennan_prediger,
    "conger": conger_kappa,
    "fleiss": lambda ratings, categories, weights: fleiss_kappa(counts_of(ratings), weights=weights),
}
PRINTED = [(weights, name, value) for weights, row in PANEL.items() for name, value in row.items()]


def irrcac_ratings():
    """Return Krippendorff's table as irrCAC has it: the lone label of unit 12 is of annotator 3."""
    ratings = [list(row) for row in agreement()["alpha_4x12"]["ratings"]]
    ratings[1][11], ratings[2][11] = None, 3
    return ratings


@pytest.mark.parametrize(
    ("weights", "name", "printed"),
    [case for case in PRINTED if case[1] in COEFFICIENTS],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_coefficients_and_standard_errors_equal_those_of_irrcac(weights, name, printed):
    value, error = printed if isinstance(printed, list) else (printed, None)

    result = COEFFICIENTS[name](irrcac_ratings(), categories=range(1, 6), weights=weights)

    assert result.value == pytest.approx(value, abs=5.1e-6)
    if error and name != "conger":
        assert standard_error(result, stdtrit(11, 0.975)) == pytest.approx(error, abs=5.1e-6)


def test_the_share_of_agreeing_pairs_behind_the_coefficients_is_the_printed_one():
    evenly = brennan_prediger(irrcac_ratings(), categories=range(1, 6)).value

    assert evenly * (1 - 1 / 5) + 1 / 5 == pytest.approx(PANEL["identity"]["pa"], abs=5.1e-6)


def test_the_standard_error_of_conger_is_close_to_that_of_irrcac():
    result = conger_kappa(irrcac_ratings(), categories=range(1, 6))

    assert standard_error(result, stdtrit(11, 0.975)) == pytest.approx(PANEL["identity"]["conger"][1], rel=0.02)
