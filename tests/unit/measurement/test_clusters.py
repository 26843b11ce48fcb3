"""Clusters: numbers for ids, sums by cluster, and the spread of a statistic over them."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.clusters import ClusterSums, cluster_codes, cluster_sizes, selected_clusters


def mean(sums):
    with np.errstate(invalid="ignore"):
        return sums[..., 0] / sums[..., 1]


def units(values):
    return np.column_stack((values, np.ones(len(values))))


def test_units_without_a_cluster_resemble_no_other():
    codes = cluster_codes(["a", None, "a", None], 4)

    assert codes[0] == codes[2]
    assert len(set(codes.tolist())) == 3


def test_ids_must_be_one_a_unit():
    with pytest.raises(InputError, match="`clusters` must name the cluster of each unit; got 1 for 2 units"):
        cluster_codes(["a"], 2)


def test_sizes_count_units_with_the_property_in_each_cluster():
    assert sorted(cluster_sizes([True, False, True], ["a", "a", "b"])) == [(1, 1), (1, 2)]


def test_without_ids_there_are_no_sizes_and_nothing_is_kept():
    assert cluster_sizes([True], None) is None
    assert selected_clusters(None, [True, False]) is None


def test_the_jackknife_of_a_mean_of_equal_clusters_is_the_spread_of_their_means():
    values = np.array([1.0, 3.0, 2.0, 8.0, 4.0, 6.0])
    sums = ClusterSums.of_units(units(values), ["a", "a", "b", "b", "c", "c"])

    means = values.reshape(3, 2).mean(axis=1)

    assert sums.n == 3
    assert sums.jackknife_error(mean) == pytest.approx(means.std(ddof=1) / np.sqrt(3))


def test_one_cluster_alone_has_no_spread():
    assert ClusterSums.of_units(units([1.0, 2.0]), ["a", "a"]).jackknife_error(mean) == 0.0


def test_a_statistic_without_a_value_for_some_part_has_no_error():
    sums = ClusterSums.of_units(np.array([[1.0, 1.0], [0.0, 0.0]]), None)

    assert sums.jackknife_error(mean) == 0.0


def test_the_bootstrap_is_the_same_for_the_same_seed_and_near_the_jackknife():
    values = np.random.default_rng(3).normal(size=200)
    sums = ClusterSums.of_units(units(values), None)

    drawn = sums.bootstrap(mean, replicates=2000, seed=5)

    assert np.array_equal(drawn, sums.bootstrap(mean, replicates=2000, seed=5))
    assert drawn.std() == pytest.approx(sums.jackknife_error(mean), rel=0.06)
