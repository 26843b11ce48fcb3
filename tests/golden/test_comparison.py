"""Comparisons against published tables and independent libraries."""

from __future__ import annotations

import json

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.stats.multitest import multipletests

from tests.golden.published import HERE
from theodolite.measurement.comparison import (
    adjust_p_values,
    mcnemar,
    newcombe_difference,
    newcombe_unpaired,
    paired_difference,
)
from theodolite.measurement.sample_size import detectable_difference, n_for_difference, n_for_flips

PUBLISHED = json.loads((HERE / "comparison.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("method", "statistic"), [("chi2", "chi2"), ("chi2, corrected", "corrected")])
def test_mcnemars_statistic_equals_that_of_r(method, statistic):
    case = PUBLISHED["mcnemar"]

    assert mcnemar(case["only_a"], case["only_b"], method=method).statistic == pytest.approx(
        case[statistic], abs=5.1e-5
    )


def test_the_exact_test_is_the_published_one():
    case = PUBLISHED["mcnemar"]

    assert mcnemar(case["only_a"], case["only_b"]).p_value == pytest.approx(case["exact_p"], rel=2e-4)


@pytest.mark.parametrize(("method", "name"), [("exact", "exact_p"), ("mid-p", "mid_p")])
def test_few_flips_have_the_p_values_of_the_binomial_distribution(method, name):
    case = PUBLISHED["mcnemar"]["small"]

    assert mcnemar(case["only_a"], case["only_b"], method=method).p_value == pytest.approx(case[name], abs=1e-12)


@pytest.mark.parametrize(("method", "rejects"), [("bh", "bh_rejects"), ("bonferroni", "bonferroni_rejects")])
def test_all_comparisons_have_the_published_result(method, rejects):
    adjusted = adjust_p_values(PUBLISHED["bh"]["p"], method=method)

    assert sum(p <= 0.05 for p in adjusted) == PUBLISHED["bh"][rejects]


@pytest.mark.parametrize(
    ("ours", "theirs"), [("holm", "holm"), ("bh", "fdr_bh"), ("by", "fdr_by"), ("bonferroni",) * 2]
)
@pytest.mark.parametrize("seed", range(4))
def test_adjusted_p_values_equal_those_of_statsmodels(seed, ours, theirs):
    p = np.random.default_rng(seed).random(12) ** 3

    assert adjust_p_values(p.tolist(), method=ours) == pytest.approx(multipletests(p, method=theirs)[1], abs=1e-12)


def test_newcombes_interval_for_different_cases_is_the_published_one():
    case = PUBLISHED["unpaired"]

    change = newcombe_unpaired(*case["a"], *case["b"])

    assert [change.low, change.high] == pytest.approx(case["interval"], abs=5.1e-8)


def test_newcombes_interval_for_the_same_cases_is_the_published_one():
    case = dict(PUBLISHED["paired"])
    interval = case.pop("interval")

    change = newcombe_difference(**case)

    assert [change.low, change.high] == pytest.approx(interval, abs=5.1e-4)


def test_sample_sizes_equal_those_of_miller():
    case = PUBLISHED["miller"]

    assert n_for_difference(case["difference"], case["variance"]) == case["n"]
    for answers, least in case["detectable"].items():
        variance = 1 / 9 + 1 / 3 / int(answers)
        assert detectable_difference(case["questions"], variance) == pytest.approx(least, abs=5.1e-6)


@pytest.mark.parametrize(("only_a", "only_b", "n"), PUBLISHED["connor"])
def test_numbers_of_pairs_equal_those_of_connor(only_a, only_b, n):
    assert n_for_flips(only_a, only_b) == n


def test_the_cluster_robust_error_equals_that_of_statsmodels():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(12), 7)
    a, b = rng.normal(size=84), rng.normal(size=84) + np.repeat(rng.normal(size=12), 7)

    change = paired_difference(a.tolist(), b.tolist(), clusters=clusters.tolist())

    fit = sm.OLS(b - a, np.ones(84)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    # statsmodels also takes one degree off the units: (n - 1)/(n - k) is 1 here.
    assert change.value == pytest.approx(fit.params[0])
    assert (change.low, change.high) == pytest.approx(fit.conf_int()[0])
