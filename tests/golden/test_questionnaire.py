"""Tests and models of answers against published tables and scipy."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from statsmodels.miscmodels.ordinal_model import OrderedModel

from tests.golden.published import HERE
from theodolite.measurement.ordinal import ordinal_model
from theodolite.measurement.rank_tests import (
    brunner_munzel_test,
    dunn,
    friedman,
    kruskal_wallis,
    rank_sum_test,
    signed_rank_test,
)

PUBLISHED = json.loads((HERE / "questionnaire.json").read_text(encoding="utf-8"))
WINE = PUBLISHED["wine"]
FACTORS = {"warm": ([0] * 4 + [1] * 4) * 9, "contact": [0, 0, 1, 1] * 18}
JUDGES = [row // 8 for row in range(72)]


@pytest.mark.parametrize("name", ["air", "sprays"])
def test_kruskal_and_wallis_equal_r(name):
    case = PUBLISHED[name]

    test = kruskal_wallis(case["groups"])

    assert test.statistic == pytest.approx(case["h"], abs=1e-5)
    assert test.p_value == pytest.approx(case["p"], rel=1e-4)


def test_dunns_comparisons_are_the_published_ones():
    pairs = {f"{pair.first}-{pair.second}": pair for pair in dunn(PUBLISHED["sprays"]["groups"])}

    for name, z in PUBLISHED["sprays"]["dunn"].items():
        assert pairs[name].test.statistic == pytest.approx(z, abs=5.1e-5)
    for name, p in PUBLISHED["sprays"]["holm"].items():
        assert pairs[name].adjusted_p_value == pytest.approx(p, abs=5.1e-5)


def test_signed_ranks_equal_r():
    case = PUBLISHED["depression"]

    test = signed_rank_test(case["after"], case["before"])

    assert test.statistic == case["falls"]
    assert test.p_value == pytest.approx(2 * case["p_greater"], abs=1e-12)


def test_rank_sums_equal_r():
    case = PUBLISHED["permeability"]

    test = rank_sum_test(case["b"], case["a"])

    assert test.statistic == case["w"]
    assert test.p_value == pytest.approx(2 * case["p_greater"], abs=1.1e-7)


@pytest.mark.parametrize("points", [4, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_tests_of_groups_equal_those_of_scipy(seed, points):
    rng = np.random.default_rng(seed)
    a, b, c = (rng.integers(0, points, size).astype(float) for size in (30, 26, 40))

    theirs = stats.mannwhitneyu(b, a, method="asymptotic")
    assert rank_sum_test(a, b).p_value == pytest.approx(theirs.pvalue, abs=1e-12)
    theirs = stats.brunnermunzel(a, b)
    assert brunner_munzel_test(a, b).statistic == pytest.approx(theirs.statistic)
    assert brunner_munzel_test(a, b).p_value == pytest.approx(theirs.pvalue)
    theirs = stats.kruskal(a, b, c)
    ours = kruskal_wallis({"a": a, "b": b, "c": c})
    assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))


@pytest.mark.parametrize(("n", "m"), [(3, 4), (8, 12), (25, 20)])
def test_exact_rank_sums_equal_those_of_scipy(n, m):
    rng = np.random.default_rng(n)
    a, b = rng.random(n), rng.random(m) + 0.1

    assert rank_sum_test(a, b).p_value == pytest.approx(stats.mannwhitneyu(b, a, method="exact").pvalue, abs=1e-12)


@pytest.mark.parametrize("points", [3, 1000])
def test_tests_of_the_same_people_equal_those_of_scipy(points):
    rng = np.random.default_rng(points)
    rows = rng.integers(0, points, (24, 4)) + (rng.random((24, 4)) if points > 3 else 0.0)

    theirs = stats.friedmanchisquare(*rows.T)
    assert friedman(rows).statistic == pytest.approx(theirs.statistic)
    assert friedman(rows).p_value == pytest.approx(theirs.pvalue)
    theirs = stats.wilcoxon(rows[:, 1], rows[:, 0], correction=points == 3, method="approx" if points == 3 else "exact")
    assert signed_rank_test(rows[:, 0], rows[:, 1]).p_value == pytest.approx(theirs.pvalue)


def test_the_model_of_wine_without_judges_is_the_published_one():
    fit = ordinal_model(WINE["rating"], FACTORS, categories=range(1, 6))

    slopes = [fit.coefficients[name] for name in FACTORS]
    assert [slope.value for slope in slopes] == pytest.approx(WINE["alone"]["slopes"], abs=5.1e-5)
    errors = [(slope.high - slope.low) / 2 / 1.959964 for slope in slopes]
    assert errors == pytest.approx(WINE["alone"]["errors"], abs=5.1e-5)
    assert fit.thresholds == pytest.approx(WINE["alone"]["thresholds"], abs=5.1e-5)
    assert fit.log_likelihood == pytest.approx(WINE["alone"]["log_likelihood"], abs=5.1e-4)


def test_the_model_of_wine_with_a_random_effect_per_judge_is_the_published_one():
    fit = ordinal_model(WINE["rating"], FACTORS, categories=range(1, 6), people=JUDGES)

    slopes = [fit.coefficients[name].value for name in FACTORS]
    assert slopes == pytest.approx(WINE["judges"]["slopes"], abs=5.1e-4)
    assert fit.thresholds == pytest.approx(WINE["judges"]["thresholds"], abs=5.1e-4)
    assert fit.person_variance == pytest.approx(WINE["judges"]["variance"], abs=5.1e-4)
    assert fit.log_likelihood == pytest.approx(WINE["judges"]["log_likelihood"], abs=5.1e-4)


def test_the_model_without_random_effects_equals_that_of_statsmodels():
    rng = np.random.default_rng(8)
    x = rng.normal(size=300)
    y = np.digitize(0.8 * x + rng.logistic(size=300), [-1.0, 0.5, 1.5])

    ours = ordinal_model(y.tolist(), {"x": x.tolist()}, categories=range(4))

    theirs = OrderedModel(y, x[:, None], distr="logit").fit(method="bfgs", disp=False)
    assert ours.coefficients["x"].value == pytest.approx(theirs.params[0], abs=1e-4)
    assert ours.log_likelihood == pytest.approx(theirs.llf, abs=1e-5)
