"""Intervals of shares against published tables and independent libraries."""

from __future__ import annotations

import pytest
from statsmodels.stats.proportion import proportion_confint

from tests.golden.published import proportions
from theodolite.measurement import defect_rate, zero_defect_bound

CASES = [(0, 1), (1, 1), (0, 20), (1, 29), (15, 148), (81, 263), (499, 500), (3, 100_000)]


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
@pytest.mark.parametrize("case", proportions()["newcombe"], ids=lambda case: f"{case['defects']}/{case['labelled']}")
def test_intervals_are_those_that_newcombe_prints(case, method):
    rate = defect_rate(case["defects"], case["labelled"], method=method)

    assert [rate.low, rate.high] == pytest.approx(case[method], abs=5.1e-5)


@pytest.mark.parametrize(("method", "theirs"), [("wilson", "wilson"), ("clopper-pearson", "beta")])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_intervals_are_those_of_statsmodels(case, confidence, method, theirs):
    rate = defect_rate(*case, method=method, confidence=confidence)

    assert (rate.low, rate.high) == pytest.approx(proportion_confint(*case, 1 - confidence, theirs), abs=1e-12)


@pytest.mark.parametrize("case", proportions()["zero_defects"], ids=lambda case: str(case["labelled"]))
def test_no_defect_is_bounded_as_the_exact_formula_says(case):
    assert zero_defect_bound(case["labelled"]).value == pytest.approx(case["bound"], abs=1e-6)


@pytest.mark.parametrize(
    ("agreeing", "value", "low", "high"), [(160, 0.6015, 0.5416, 0.6585), (214, 0.8045, 0.7527, 0.8477)]
)
def test_wilson_of_the_published_agreement_of_people_and_model(agreeing, value, low, high):
    rate = defect_rate(agreeing, 266)

    assert (rate.value, rate.low, rate.high) == pytest.approx((value, low, high), abs=5.1e-5)
