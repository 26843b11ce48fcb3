"""The interval for clusters: right integral, and right about as often as it says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import beta

from theodolite.measurement.beta_binomial import clustered_share


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
    [[(0, 25)] * 20, [(3, 10), (2, 9), (2, 10), (1, 10), (1, 9), (0, 9)], [(20, 25)] * 3 + [(0, 25)] * 7],
    ids=["no defect", "six personas", "all or nothing"],
)
def test_quantiles_are_those_of_plain_integration(clusters):
    posterior = clustered_share(clusters)

    expected = plain_quantiles(clusters, (0.025, 0.5, 0.975))

    assert [posterior.quantile(f) for f in (0.025, 0.5, 0.975)] == pytest.approx(expected, rel=0.01, abs=1e-4)


def test_single_dialogues_give_the_posterior_of_jeffreys():
    posterior = clustered_share([(1, 1)] * 7 + [(0, 1)] * 93)

    expected = beta.ppf([0.025, 0.975], 7.5, 93.5)

    assert [posterior.quantile(0.025), posterior.quantile(0.975)] == pytest.approx(expected, rel=1e-3)


def test_many_units_leave_a_narrow_grid_exact():
    posterior = clustered_share([(1, 1)] * 30_000 + [(0, 1)] * 70_000)

    assert posterior.quantile(0.975) == pytest.approx(beta.ppf(0.975, 30_000.5, 70_000.5), rel=1e-4)


def test_the_correlation_is_found_where_there_is_much_to_see():
    alike = clustered_share([(20, 20), (0, 20)] * 20)
    mixed = clustered_share([(10, 20)] * 40)

    assert alike.correlation > 0.8
    assert mixed.correlation < 0.02


@pytest.mark.parametrize(("share", "correlation"), [(0.02, 0.1), (0.1, 0.1), (0.02, 0.3)])
def test_the_interval_covers_the_true_rate_about_as_often_as_it_says(share, correlation):
    rng = np.random.default_rng(20)
    concentration = (1 - correlation) / correlation
    shares = rng.beta(share * concentration, (1 - share) * concentration, size=(200, 20))
    studies = [clustered_share([(int(d), 25) for d in study]) for study in rng.binomial(25, shares)]

    covered = [study.quantile(0.025) <= share <= study.quantile(0.975) for study in studies]

    assert np.mean(covered) >= 0.9
