"""Intervals: quantiles, and what stands in where the data show no variation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import beta

from theodolite.domain.errors import InputError
from theodolite.measurement.interval import (
    Concord,
    check_confidence,
    clustered_share,
    corrected_for_chance,
    normal_quantile,
    student_quantile,
    whole_count,
    wilson,
)

HALF = Concord(agreeing=40, n=40, chance=0.5)


def test_quantiles_equal_those_of_the_tables():
    assert normal_quantile(0.95) == pytest.approx(1.959964, abs=1e-6)
    assert student_quantile(0.95, 10) == pytest.approx(2.228139, abs=1e-6)


def test_without_variation_the_share_of_agreeing_units_determines_the_interval():
    low, high = corrected_for_chance(1.0, 0.0, 1.96, HALF, 0.95)

    assert (low, high) == (pytest.approx((wilson(40, 40, 0.95)[0] - 0.5) / 0.5), 1.0)


def test_with_variation_the_disagreement_ratio_is_scaled_by_one_factor_both_ways():
    low, high = corrected_for_chance(0.8, 0.1, 2.0, HALF, 0.95)

    assert (1 - low) / 0.2 == pytest.approx(0.2 / (1 - high))
    assert low < 0.8 < high < 1.0


def test_an_enormous_standard_error_gives_the_whole_range():
    assert corrected_for_chance(0.5, 1e9, 12.7, HALF, 0.95) == (-1.0, pytest.approx(1.0))


def test_a_value_below_minus_1_is_in_its_interval():
    low, high = corrected_for_chance(-1.2, 0.1, 2.0, HALF, 0.95)

    assert low <= -1.2 <= high


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.1, float("nan")])
def test_a_confidence_is_between_0_and_1(confidence):
    with pytest.raises(InputError, match=r"e\.g\. 0\.95"):
        check_confidence(confidence)


def test_an_invalid_count_is_reported_by_name():
    with pytest.raises(InputError, match="`labelled` must be a whole number; got 'ten'"):
        whole_count("ten", "labelled")


def plain_quantiles(clusters, fractions):
    """Integrate the same posterior the slow way: one fine grid, no zooming, no sharing of terms."""
    share = np.sin((np.arange(3000) + 0.5) / 3000 * np.pi / 2) ** 2
    correlation = beta.ppf((np.arange(400) + 0.5) / 400, 0.8, 4.0)
    a, b = np.multiply.outer(share, 1 / correlation - 1), np.multiply.outer(1 - share, 1 / correlation - 1)
    log_likelihood = sum(betaln(d + a, n - d + b) - betaln(a, b) for d, n in clusters)
    density = np.exp(log_likelihood - log_likelihood.max()).sum(axis=1)
    return [share[np.searchsorted(np.cumsum(density) / density.sum(), fraction)] for fraction in fractions]


@pytest.mark.parametrize(
    "clusters",
    [
        [(0, 25)] * 20,
        [(3, 10), (2, 9), (2, 10), (1, 10), (1, 9), (0, 9)],
        [(20, 25)] * 3 + [(0, 25)] * 7,
        [(0, 300)] * 2 + [(40, 300)],
    ],
    ids=["no defect", "six personas", "all or nothing", "few large clusters"],
)
def test_quantiles_equal_those_of_plain_integration(clusters):
    posterior = clustered_share(clusters)

    expected = plain_quantiles(clusters, (0.025, 0.5, 0.975))

    assert [posterior.quantile(f) for f in (0.025, 0.5, 0.975)] == pytest.approx(expected, rel=0.01, abs=1e-4)


def test_single_dialogues_give_the_jeffreys_posterior():
    posterior = clustered_share([(1, 1)] * 7 + [(0, 1)] * 93)

    expected = beta.ppf([0.025, 0.975], 7.5, 93.5)

    assert [posterior.quantile(0.025), posterior.quantile(0.975)] == pytest.approx(expected, rel=1e-3)


def test_many_units_are_exact_on_a_narrow_grid():
    posterior = clustered_share([(1, 1)] * 30_000 + [(0, 1)] * 70_000)

    assert posterior.quantile(0.975) == pytest.approx(beta.ppf(0.975, 30_000.5, 70_000.5), rel=1e-4)


def test_the_correlation_is_estimated_from_enough_data():
    alike = clustered_share([(20, 20), (0, 20)] * 20)
    mixed = clustered_share([(10, 20)] * 40)

    assert alike.correlation > 0.8
    assert mixed.correlation < 0.02


@pytest.mark.parametrize(("share", "correlation"), [(0.02, 0.1), (0.1, 0.1), (0.02, 0.3)])
def test_the_interval_has_its_nominal_coverage(share, correlation):
    rng = np.random.default_rng(20)
    concentration = (1 - correlation) / correlation
    shares = rng.beta(share * concentration, (1 - share) * concentration, size=(200, 20))
    studies = [clustered_share([(int(d), 25) for d in study]) for study in rng.binomial(25, shares)]

    covered = [study.quantile(0.025) <= share <= study.quantile(0.975) for study in studies]

    assert np.mean(covered) >= 0.9


def test_clusters_with_fractional_defects_have_an_interval_between_those_of_integers():
    """People who disagree on a dialogue give it half a defect; the logarithms of whole counts are no way for these."""
    half, none, one = (clustered_share([(share, 1), (1, 2), (2, 3)] * 4).ends(0.95) for share in (0.5, 0, 1))

    assert none[0] < half[0] < one[0]
    assert none[1] < half[1] < one[1]
    assert clustered_share([(1.0, 2.0), (0.0, 3.0)]).ends(0.95) == clustered_share([(1, 2), (0, 3)]).ends(0.95)
