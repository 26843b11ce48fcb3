"""Scores against people's: distances, correlations and their refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.scores import MEASURES, correlation, score_agreement, without_each

THEIRS = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}


@pytest.mark.parametrize("points", [3, 5, 1000])
@pytest.mark.parametrize("method", THEIRS)
def test_correlations_equal_those_of_scipy_with_and_without_ties(method, points):
    rng = np.random.default_rng(points)
    a = rng.integers(0, points, 120)
    b = np.clip(a + rng.integers(-2, 3, 120), 0, points)

    found = correlation(a.tolist(), b.tolist(), method=method)

    assert found.value == pytest.approx(THEIRS[method](a, b)[0], abs=1e-12)
    assert found.low < found.value < found.high


@pytest.mark.parametrize("method", THEIRS)
def test_intervals_contain_the_true_value(method):
    rng = np.random.default_rng(7)
    truth = {"pearson": 0.5, "spearman": 6 / np.pi * np.arcsin(0.25), "kendall": 2 / np.pi * np.arcsin(0.5)}[method]
    held = 0
    for _ in range(200):
        a = rng.normal(size=60)
        b = 0.5 * a + np.sqrt(0.75) * rng.normal(size=60)
        found = correlation(a.tolist(), b.tolist(), method=method)
        held += found.low <= truth <= found.high

    assert 180 <= held <= 199


def test_units_without_one_of_the_scores_are_excluded():
    agreement = score_agreement([1, None, 3, 4, float("nan")], [1, 2, 3, 5, 5])

    assert (agreement.rmse.n, agreement.bias.n) == (3, 3)
    assert agreement.rmse.value == pytest.approx((1 / 3) ** 0.5)


def test_an_identical_judge_has_zero_bias_with_uncertainty():
    agreement = score_agreement([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])

    assert (agreement.rmse.value, agreement.rmse.low) == (0.0, None)
    assert (agreement.kendall.value, agreement.kendall.high) == (pytest.approx(1.0), 1.0)
    assert 0.2 < agreement.kendall.low < 0.6


@pytest.mark.parametrize(
    ("method", "n", "low"), [("pearson", 20, 0.8316), ("spearman", 20, 0.8316), ("kendall", 20, 0.7849)]
)
def test_a_perfect_correlation_leaves_room_for_unordered_units(method, n, low):
    """By hand: .025 ** (1 / 20) = .8316 of the units in order; of pairs .8316 ** 2 + 2 * .1684 * .8316 / 3."""
    up = correlation(range(n), range(n), method=method)
    down = correlation(range(n), range(0, -n, -1), method=method)

    assert (up.low, up.high) == (pytest.approx(low, abs=1e-4), 1.0)
    assert (down.low, down.high) == (-1.0, pytest.approx(-low, abs=1e-4))


def test_a_perfect_correlation_of_clusters_is_less_certain():
    ids = [unit // 5 for unit in range(20)]

    assert correlation(range(20), range(20), clusters=ids).low < correlation(range(20), range(20)).low - 0.05


def test_mixed_samples_have_the_correlations_assumed_by_the_bound():
    rng = np.random.default_rng(5)
    a, b = rng.random(20_000), rng.random(20_000)
    together = np.where(rng.random(20_000) < 0.8, a, b)

    found = [correlation(a, together, method=method).value for method in ("pearson", "spearman", "kendall")]

    assert found == pytest.approx([0.8, 0.8, 0.8**2 + 2 * 0.2 * 0.8 / 3], abs=0.02)


def test_constant_differences_have_no_error_for_an_interval():
    agreement = score_agreement([2, 3, 4, 5], [1, 2, 3, 4])

    assert (agreement.bias.value, agreement.bias.low, agreement.bias.high) == (1.0, None, None)
    assert (agreement.rmse.value, agreement.rmse.low) == (1.0, None)
    assert "no interval" in agreement.bias.method


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_infinite_scores_are_refused(method):
    with pytest.raises(
        InputError, match=r"`b` must hold finite numbers; 1 of 4 are infinite, the first \(inf\) at position 2"
    ):
        correlation([1, 2, 3, 4], [1, 2, float("inf"), 4], method=method)


@pytest.mark.parametrize(("a", "b"), [([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [2, 2, 2])])
def test_too_few_units_or_a_constant_score_have_no_correlation(a, b):
    assert isinstance(correlation(a, b), Undefined)


def test_the_interval_of_the_distance_does_not_cross_0():
    rmse = score_agreement([1, 2, 3, 9], [1, 2, 3, 4]).rmse

    assert 0.0 < rmse.low < rmse.value < rmse.high


def test_the_jackknife_removes_one_cluster_at_a_time():
    rng = np.random.default_rng(1)
    base = np.repeat(rng.normal(size=8), 10)
    a, b = base + 0.1 * rng.normal(size=80), base + 0.1 * rng.normal(size=80)

    alone = correlation(a.tolist(), b.tolist())
    together = correlation(a.tolist(), b.tolist(), clusters=np.repeat(range(8), 10).tolist())

    assert together.high - together.low > alone.high - alone.low
    assert together.n_clusters == 8


def test_invalid_scores_are_refused():
    with pytest.raises(InputError, match="of the same units; got 1 and 2"):
        correlation([1], [1, 2])
    with pytest.raises(InputError, match="`method` must be one of pearson, spearman, kendall; got 'cosine'"):
        correlation([1, 2, 3], [1, 2, 3], method="cosine")


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("points", [2, 5, 11])
def test_a_jackknife_over_tables_equals_that_over_units(method, points):
    rng = np.random.default_rng(points)
    first, noise = rng.integers(1, points + 1, 900).astype(float), rng.integers(0, 2, 900)
    second = np.clip(first + noise, 1, points)
    codes = rng.integers(0, 300, 900)

    found = without_each(first, second, method, codes)

    by_units = [MEASURES[method](first[codes != code], second[codes != code]) for code in np.unique(codes)]
    assert found == pytest.approx(by_units, abs=1e-12)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_a_jackknife_is_undefined_where_one_score_alone_is_left(method):
    found = without_each(np.array([1.0, 1, 1, 2]), np.array([1.0, 2, 1, 2]), method, np.array([0, 0, 1, 2]))

    assert np.isnan(found).tolist() == [False, False, True]


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_a_jackknife_over_one_cluster_is_undefined(method):
    found = without_each(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]), method, np.array([7, 7, 7]))

    assert np.isnan(found).tolist() == [True]


def test_equal_distances_have_an_interval_where_the_ends_of_the_scale_are_known():
    same = [1, 2, 3, 4, 5] * 6
    without, known = score_agreement(same, same), score_agreement(same, same, scale=(1, 5))
    other = 1 - 0.025 ** (1 / 30)

    assert (without.bias.low, without.rmse.high) == (None, None)
    assert (known.bias.value, known.rmse.value) == (0, 0)
    assert (known.bias.low, known.bias.high) == pytest.approx((-4 * other, 4 * other))
    assert (known.rmse.low, known.rmse.high) == pytest.approx((0, math.sqrt(16 * other)))


def test_a_constant_distance_lies_within_its_interval():
    shifted = score_agreement([2, 3, 4] * 5, [1, 2, 3] * 5, scale=(1, 5)).rmse

    assert shifted.value == 1
    assert shifted.low < 1 < shifted.high
