"""Intervals of shares against published tables and independent libraries."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from tests.golden.published import proportions
from theodolite.measurement.proportion import defect_rate, zero_defect_bound

CASES = [(0, 1), (1, 1), (0, 20), (1, 29), (15, 148), (81, 263), (499, 500), (3, 100_000)]


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
@pytest.mark.parametrize("case", proportions()["newcombe"], ids=lambda case: f"{case['defects']}/{case['labelled']}")
def test_intervals_equal_those_of_newcombe(case, method):
    rate = defect_rate(case["defects"], case["labelled"], method=method)

    assert [rate.low, rate.high] == pytest.approx(case[method], abs=5.1e-5)


@pytest.mark.parametrize(("method", "theirs"), [("wilson", "wilson"), ("clopper-pearson", "beta")])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_intervals_equal_those_of_statsmodels(case, confidence, method, theirs):
    rate = defect_rate(*case, method=method, confidence=confidence)

    assert (rate.low, rate.high) == pytest.approx(proportion_confint(*case, 1 - confidence, theirs), abs=1e-12)


@pytest.mark.parametrize("case", proportions()["zero_defects"], ids=lambda case: str(case["labelled"]))
def test_zero_defects_are_bounded_by_the_exact_formula(case):
    assert zero_defect_bound(case["labelled"]).value == pytest.approx(case["bound"], abs=1e-6)


@pytest.mark.parametrize(
    ("agreeing", "value", "low", "high"), [(160, 0.6015, 0.5416, 0.6585), (214, 0.8045, 0.7527, 0.8477)]
)
def test_wilson_of_the_published_agreement_of_people_and_model(agreeing, value, low, high):
    rate = defect_rate(agreeing, 266)

    assert (rate.value, rate.low, rate.high) == pytest.approx((value, low, high), abs=5.1e-5)


def none_of_500(rate, clusters=20, size=25):
    """Return the probability of no defect over the prior of the correlation, by a product over dialogues."""
    steps = (np.arange(6000) + 0.5) / 6000
    correlation = steps**6
    prior = correlation**-0.2 * (1 - correlation) ** 3 * steps**5
    alike = np.arange(size)[:, None] * correlation
    apart = 1 - correlation
    sound = np.log(((1 - rate) * apart + alike) / (apart + alike)).sum(axis=0)
    return float(np.exp(clusters * sound) @ prior / prior.sum())


def test_zero_defects_in_20_clusters_of_25_are_bounded_at_1_9_percent_and_in_both_tails_at_2_6():
    bound = zero_defect_bound(500, clusters=[25] * 20)
    both = defect_rate(0, 500, clusters=[(0, 25)] * 20)

    assert (bound.value, both.high) == pytest.approx((0.0189, 0.0256), abs=5e-5)
    assert (none_of_500(bound.value), none_of_500(both.high)) == pytest.approx((0.05, 0.025), abs=2e-4)


def posterior_by_plain_integration(fraction, caution, clusters=20, size=25):
    """Return a quantile of the share after one defect, by products over dialogues and a dense grid."""
    steps = (np.arange(600) + 0.5) / 600
    correlation = steps**6
    prior = correlation**-0.2 * (1 - correlation) ** 3 * steps**5
    angles = (np.arange(1500) + 0.5) / 1500 * np.pi / 2
    earlier = np.arange(size)[:, None]
    apart, alike = 1 - correlation, earlier * correlation
    seen = []
    for angle in angles:
        sound = np.log((np.cos(angle) ** 2 * apart + alike) / (apart + alike))
        # The first dialogue of one cluster is the defect; the sound ones then follow a defect.
        hit = np.log(np.sin(angle) ** 2) + np.log(
            (np.cos(angle) ** 2 * apart + alike[:-1]) / (apart + alike[:-1] + correlation)
        ).sum(axis=0)
        seen.append(np.exp((clusters - 1) * sound.sum(axis=0) + hit) * np.sin(angle) ** (2 * caution))
    mass = np.cumsum(np.array(seen) @ prior)
    return np.sin(np.interp(fraction, mass / mass[-1], angles + np.pi / 6000)) ** 2


def test_the_ends_after_one_defect_in_20_clusters_of_25_equal_those_of_plain_integration():
    rate = defect_rate(1, 500, clusters=[(1, 25)] + [(0, 25)] * 19)

    assert rate.low == pytest.approx(posterior_by_plain_integration(0.025, 0.0), abs=2e-5)
    assert rate.high == pytest.approx(posterior_by_plain_integration(0.975, 0.25 * (1 - 1 / 500 / 0.4)), abs=5e-5)
