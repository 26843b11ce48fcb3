"""Ends of the interval of a share over clusters."""

import pytest

from theodolite.measurement.beta_binomial import clustered_share
from theodolite.measurement.clustered_rate import clustered_ends

ALIKE = [(6, 10), (2, 10), (5, 10), (7, 10)]
FEW = [(2, 10), (0, 10), (1, 10), (3, 10)]
LARGE_ONES_WORSE = [(0, 5)] * 15 + [(9, 60), (4, 60), (7, 60), (5, 60), (6, 60)]


def middle(sizes):
    posterior = clustered_share(sizes)
    return posterior.quantile(0.025), posterior.quantile(0.975)


def test_clusters_of_one_size_have_the_middle_of_the_posterior():
    assert clustered_ends(ALIKE, clustered_share(ALIKE), 0.95) == pytest.approx(middle(ALIKE))


def test_where_few_units_have_the_property_the_upper_end_is_more_cautious_and_the_lower_one_is_not():
    low, high = clustered_ends(FEW, clustered_share(FEW), 0.95)
    inner = middle(FEW)

    assert low == pytest.approx(inner[0])
    assert inner[1] + 0.005 < high < inner[1] + 0.05


def test_the_ends_of_units_without_the_property_mirror_those_of_units_with_it():
    others = [(n - count, n) for count, n in FEW]

    low, high = clustered_ends(FEW, clustered_share(FEW), 0.95)

    assert clustered_ends(others, clustered_share(others), 0.95) == pytest.approx((1 - high, 1 - low))


def test_where_large_clusters_differ_from_small_ones_both_ends_hold_the_pooled_share_with_room():
    sizes = [(4, 5)] * 15 + [(18, 60), (24, 60), (12, 60)]
    value = sum(count for count, _ in sizes) / sum(n for _, n in sizes)

    low, high = clustered_ends(sizes, clustered_share(sizes), 0.95)

    assert middle(sizes)[0] > value - 0.01
    assert low < value - 0.1 < value + 0.1 < high


def test_unequal_clusters_are_never_narrower_than_the_posterior():
    low, high = clustered_ends(LARGE_ONES_WORSE, clustered_share(LARGE_ONES_WORSE), 0.95)
    inner = middle(LARGE_ONES_WORSE)

    assert low <= inner[0] + 1e-12 < inner[1] - 1e-12 <= high


def test_one_dialogue_less_moves_the_ends_by_little():
    whole, short = [(9, 10), *[(0, 10)] * 5], [(9, 10), *[(0, 10)] * 4, (0, 9)]

    before, after = (clustered_ends(sizes, clustered_share(sizes), 0.95) for sizes in (whole, short))

    assert after == pytest.approx(before, abs=0.02)


@pytest.mark.parametrize(("sizes", "end", "value"), [([(0, 3), (0, 9)], 0, 0.0), ([(3, 3), (9, 9)], 1, 1.0)])
def test_none_and_all_keep_their_edge(sizes, end, value):
    assert clustered_ends(sizes, clustered_share(sizes), 0.95)[end] == value
