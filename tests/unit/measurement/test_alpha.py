"""Alpha: gaps, undefined cases and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.alpha import krippendorff_alpha


def test_units_with_one_label_are_excluded():
    with_gaps = krippendorff_alpha([[1, 2, 1, None], [1, 2, 2, 5]])

    assert with_gaps == krippendorff_alpha([[1, 2, 1], [1, 2, 2]])


@pytest.mark.parametrize("ratings", [[[], []], [[1, None], [None, 1]]])
def test_annotators_without_common_units_have_no_alpha(ratings):
    result = krippendorff_alpha(ratings)

    assert isinstance(result, Undefined)
    assert result.reason == "No dialogue has labels from two annotators."


def test_a_value_in_a_single_unit_leaves_the_interval_wide():
    alpha = krippendorff_alpha([[0] * 19 + [1], [0] * 19 + [1], [0] * 19 + [1], [0] * 19 + [1]])

    assert alpha.value == 1.0
    assert alpha.low < -0.5


def test_more_distant_disagreement_lowers_interval_alpha_only():
    near, far = [[1, 5, 3, 1], [1, 5, 2, 1]], [[1, 5, 3, 1], [1, 5, 20, 1]]

    assert krippendorff_alpha(far).value == krippendorff_alpha(near).value
    assert krippendorff_alpha(far, scale="interval").value < krippendorff_alpha(near, scale="interval").value


def test_a_hundred_thousand_units_are_computed_quickly():
    rng = np.random.default_rng(1)
    ratings = rng.integers(1, 6, size=(5, 100_000)).astype(float)

    assert krippendorff_alpha(ratings, scale="ordinal").value == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(
    ("ratings", "scale", "words"),
    [
        ([[1, 2]], "nominal", r"shape \(annotators >= 2, units\); got shape \(1, 2\)"),
        ([1, 2], "nominal", r"got shape \(2,\)"),
        ([[1, 2], [1]], "nominal", "rows equally long"),
        ([["yes"], ["no"]], "nominal", "must be numbers"),
        ([[1, float("inf")], [1, 2]], "nominal", "must be finite"),
        ([[1, 2], [1, 2]], "cardinal", "`scale` must be nominal, ordinal, interval or ratio; got 'cardinal'"),
        ([[-1, 2], [1, 2]], "ratio", "a ratio scale starts at 0; got a rating of -1.0"),
        ([list(range(501))] * 2, "nominal", "at most 500 unless `scale` is interval; got 501 different values"),
    ],
)
def test_invalid_ratings_are_refused(ratings, scale, words):
    with pytest.raises(InputError, match=words):
        krippendorff_alpha(ratings, scale=scale)


def test_the_bootstrap_is_seeded_and_near_the_jackknife():
    ratings = np.random.default_rng(4).integers(1, 4, size=(3, 200)).astype(float)
    ratings[1:, :120] = ratings[0, :120]

    drawn = krippendorff_alpha(ratings, scale="ordinal", replicates=1000, seed=1)
    left_out = krippendorff_alpha(ratings, scale="ordinal")

    assert drawn == krippendorff_alpha(ratings, scale="ordinal", replicates=1000, seed=1)
    assert (drawn.low, drawn.high) == pytest.approx((left_out.low, left_out.high), abs=0.02)
    assert drawn.method == "bootstrap over units, percentiles"


def test_the_bootstrap_draws_whole_clusters():
    ratings = np.random.default_rng(4).integers(1, 4, size=(2, 60)).astype(float)
    ratings[1, :30] = ratings[0, :30]

    drawn = krippendorff_alpha(ratings, clusters=[unit // 10 for unit in range(60)], replicates=200)
    alone = krippendorff_alpha(ratings, replicates=200)

    assert drawn.n_clusters == 6
    assert drawn.high - drawn.low > alone.high - alone.low


def test_a_bootstrap_without_variation_uses_the_share_of_agreeing_units():
    alpha = krippendorff_alpha([[1, 2, 1, 2], [1, 2, 1, 2]], replicates=50)

    assert alpha.low < alpha.value == 1.0
    assert alpha.method.startswith("wilson")


def test_scales_with_many_points_are_supported():
    ratings = np.arange(2 * 80).reshape(2, 80) // 2 % 80

    assert krippendorff_alpha(ratings, scale="interval").n == 80


def slider(n_units=40, annotators=3, seed=3):
    """Return labels of a slider from 0 to 1,000 with gaps, shape (annotators, units)."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(100, 900, n_units)
    table = np.rint(truth + rng.normal(0, 60, (annotators, n_units)))
    table[rng.random(table.shape) < 0.1] = np.nan
    return table


@pytest.mark.parametrize("clusters", [None, [unit // 4 for unit in range(40)]], ids=["units", "clusters"])
def test_alpha_by_sums_equals_alpha_by_coincidences(monkeypatch, clusters):
    by_table = krippendorff_alpha(slider(), scale="interval", clusters=clusters)
    monkeypatch.setattr("theodolite.measurement.alpha.MOST_POINTS", 10)
    by_sums = krippendorff_alpha(slider(), scale="interval", clusters=clusters)

    assert (by_sums.value, by_sums.low, by_sums.high) == pytest.approx((by_table.value, by_table.low, by_table.high))
    assert (by_sums.n, by_sums.n_clusters, by_sums.method) == (by_table.n, by_table.n_clusters, by_table.method)


def test_a_fine_interval_scale_has_an_alpha_and_other_scales_state_the_alternative():
    table = slider(600)
    found = krippendorff_alpha(table, scale="interval")
    drawn = krippendorff_alpha(table, scale="interval", replicates=200, seed=1)

    assert len(np.unique(table[~np.isnan(table)])) > 500
    assert found.low < 0.94 < found.high
    assert (drawn.low, drawn.high) == pytest.approx((found.low, found.high), abs=0.01)
    with pytest.raises(InputError, match="at most 500 unless `scale` is interval"):
        krippendorff_alpha(table, scale="ordinal")


def test_sums_of_large_values_keep_their_precision():
    table = slider(600)

    far = krippendorff_alpha(table * 1e300, scale="interval")

    assert far.value == pytest.approx(krippendorff_alpha(table, scale="interval").value, abs=1e-9)
