"""Corrections of judges against published examples, and identities that must hold."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import stdtrit

from tests.golden.published import HERE
from theodolite.measurement.correction import corrected_mean, corrected_rate, rogan_gladen_rate
from theodolite.measurement.proportion import defect_rate

PUBLISHED = json.loads((HERE / "correction.json").read_text(encoding="utf-8"))


def test_lees_interval_equals_that_of_its_authors():
    case = PUBLISHED["lee"]

    rate = rogan_gladen_rate(
        case["positives"], case["judged"], sensitivity=tuple(case["caught"]), specificity=tuple(case["passed"])
    )

    assert rate.value == pytest.approx(case["rate"], abs=1e-12)
    assert (rate.low, rate.high) == pytest.approx(tuple(case["interval"]), abs=1e-12)


def test_a_clustered_mean_equals_that_of_glide_except_for_the_quantile():
    case = PUBLISHED["clustered_mean"]

    mean = corrected_mean(case["scores"], case["labels"], clusters=case["clusters"])

    reach = (case["interval"][1] - case["interval"][0]) / 2 / 1.959964
    assert mean.value == pytest.approx(case["mean"], abs=5e-4)
    assert (mean.high - mean.low) / 2 / stdtrit(1, 0.975) == pytest.approx(reach, abs=5e-4)


def test_a_perfect_judge_gives_the_rate_of_all_its_verdicts():
    verdicts = [True] * 500 + [False] * 4500
    labels = [True] * 400 + [None] * 100 + [False] * 4000 + [None] * 500

    rate, plain = corrected_rate(verdicts, labels), defect_rate(500, 5000)

    assert rate.value == pytest.approx(0.1)
    assert (rate.low, rate.high) == pytest.approx((plain.low, plain.high), abs=1.5e-3)


def test_a_random_judge_gives_the_human_rate():
    verdicts = [place % 2 == 0 for place in range(4000)]
    labels = [place % 5 == 0 if place < 400 else None for place in range(4000)]

    rate, plain = corrected_rate(verdicts, labels), defect_rate(80, 400)

    assert rate.value == pytest.approx(0.2)
    assert (rate.low, rate.high) == pytest.approx((plain.low, plain.high), abs=2e-3)


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.9, 0.8), (0.7, 0.95)])
def test_the_share_of_alarms_follows_from_sensitivity_specificity_and_rate(sensitivity, specificity):
    for theta in np.linspace(0.05, 0.95, 7):
        alarms = (sensitivity + specificity - 1) * theta + 1 - specificity
        rate = rogan_gladen_rate(
            round(alarms * 1_000_000),
            1_000_000,
            sensitivity=(round(sensitivity * 1000), 1000),
            specificity=(round(specificity * 1000), 1000),
        )
        assert rate.value == pytest.approx(theta, abs=1e-5)
