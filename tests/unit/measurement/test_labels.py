"""Labels and pairs: what counts as the same label, what is missing, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.agreement import exact_agreement
from theodolite.measurement.labels import (
    ClusterSums,
    cluster_codes,
    cluster_sizes,
    confusion_matrix,
    label_text,
    scale_points,
    selected_clusters,
)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("yes", "yes"),
        (4, "4"),
        (4.0, "4"),
        (0.5, "0.5"),
        (np.int64(3), "3"),
        (np.float64(3), "3"),
        (True, "1"),
        (np.bool_(True), "1"),
        (None, None),
        (float("nan"), None),
        (np.float64("nan"), None),
    ],
)
def test_labels_are_compared_as_text(label, text):
    assert label_text(label) == text


def test_a_label_of_another_kind_is_refused():
    with pytest.raises(InputError, match="a label must be a text, a number or None"):
        label_text(["yes"])


def test_arrays_are_used_without_conversion():
    assert exact_agreement(np.array([1, 2, 3]), np.array([1.0, 2.0, np.nan])).n == 2


def test_annotators_of_different_lengths_are_refused():
    with pytest.raises(InputError, match=r"must label the same units; got 2 and 1 labels\. Put None"):
        exact_agreement(["yes", "no"], ["yes"])


def test_all_labels_outside_the_scale_are_reported_at_once_with_a_suggestion():
    with pytest.raises(InputError, match=r"got `nope`.*`yess`. Did you mean `yes`\?"):
        confusion_matrix(["yess", "no"], ["yes", "nope"], categories=["yes", "no"])


@pytest.mark.parametrize("categories", [["yes"], ["yes", "yes"], []])
def test_a_scale_has_at_least_two_points(categories):
    with pytest.raises(InputError, match="two different labels at least"):
        scale_points(categories)


def test_rows_represent_the_first_annotator():
    matrix = confusion_matrix(["low", "low", "high"], ["low", "high", "high"], categories=["low", "mid", "high"])

    assert matrix.categories == ("low", "mid", "high")
    assert matrix.counts == ((1, 0, 1), (0, 0, 0), (0, 0, 1))


def test_units_without_both_labels_are_excluded():
    assert confusion_matrix([1, None, 2], [1, 1, None], categories=[1, 2]).n == 1


def test_an_empty_matrix_is_full_of_zeros():
    assert confusion_matrix([], [], categories=["yes", "no"]).counts == ((0, 0), (0, 0))


def mean(sums):
    with np.errstate(invalid="ignore"):
        return sums[..., 0] / sums[..., 1]


def units(values):
    return np.column_stack((values, np.ones(len(values))))


def test_units_without_a_cluster_are_independent():
    codes = cluster_codes(["a", None, "a", None], 4)

    assert codes[0] == codes[2]
    assert len(set(codes.tolist())) == 3


def test_ids_are_unique_per_unit():
    with pytest.raises(InputError, match="`clusters` must name the cluster of each unit; got 1 for 2 units"):
        cluster_codes(["a"], 2)


def test_sizes_count_units_with_the_property_in_each_cluster():
    assert sorted(cluster_sizes([True, False, True], ["a", "a", "b"])) == [(1, 1), (1, 2)]


def test_without_ids_there_are_no_sizes():
    assert cluster_sizes([True], None) is None
    assert selected_clusters(None, [True, False]) is None


def test_the_jackknife_of_a_mean_of_equal_clusters_is_the_spread_of_their_means():
    values = np.array([1.0, 3.0, 2.0, 8.0, 4.0, 6.0])
    sums = ClusterSums.of_units(units(values), ["a", "a", "b", "b", "c", "c"])

    means = values.reshape(3, 2).mean(axis=1)

    assert sums.n == 3
    assert sums.jackknife_error(mean) == pytest.approx(means.std(ddof=1) / np.sqrt(3))


def test_one_cluster_has_no_spread():
    assert ClusterSums.of_units(units([1.0, 2.0]), ["a", "a"]).jackknife_error(mean) == 0.0


def test_a_statistic_undefined_for_a_part_has_no_error():
    sums = ClusterSums.of_units(np.array([[1.0, 1.0], [0.0, 0.0]]), None)

    assert sums.jackknife_error(mean) == 0.0


def test_the_bootstrap_is_the_same_for_the_same_seed_and_near_the_jackknife():
    values = np.random.default_rng(3).normal(size=200)
    sums = ClusterSums.of_units(units(values), None)

    drawn = sums.bootstrap(mean, replicates=2000, seed=5)

    assert np.array_equal(drawn, sums.bootstrap(mean, replicates=2000, seed=5))
    assert drawn.std() == pytest.approx(sums.jackknife_error(mean), rel=0.06)
