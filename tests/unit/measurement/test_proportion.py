"""Rates: which interval is used, and what is refused."""

from __future__ import annotations

from collections import Counter
from math import comb, exp, factorial, lgamma

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.interval import clustered_share
from theodolite.measurement.proportion import beta_below_half, clustered_ends, defect_rate, zero_defect_bound

SIX_PERSONAS = [(3, 10), (2, 9), (2, 10), (1, 10), (1, 9), (0, 9)]


def test_a_rate_has_its_interval_counts_and_exclusions():
    rate = defect_rate(9, 57)

    assert (rate.value, rate.n, rate.count, rate.method, rate.confidence) == (9 / 57, 57, 9, "wilson", 0.95)
    assert (rate.unit, rate.n_clusters, rate.design_effect) == ("fraction of dialogues", None, None)


def test_a_rate_of_zero_units_is_undefined():
    assert isinstance(defect_rate(0, 0), Undefined)
    assert isinstance(zero_defect_bound(0), Undefined)


def test_the_edges_are_exactly_0_and_1():
    assert defect_rate(0, 7).low == 0.0
    assert defect_rate(7, 7).high == 1.0


def test_dialogues_of_one_persona_widen_the_interval():
    alone, together = defect_rate(9, 57), defect_rate(9, 57, clusters=SIX_PERSONAS)

    assert (together.method, together.n_clusters) == ("beta-binomial", 6)
    assert together.low < alone.low < alone.high < together.high
    assert together.design_effect > 1.0


def test_clusters_of_one_dialogue_each_are_independent_dialogues():
    assert defect_rate(1, 3, clusters=[(1, 1), (0, 1), (0, 1), (0, 0)]) == defect_rate(1, 3)


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
def test_an_interval_for_independent_dialogues_is_refused_for_clusters(method):
    with pytest.raises(InputError, match=r"takes dialogues as independent, but 6 clusters hold 57"):
        defect_rate(9, 57, method=method, clusters=SIX_PERSONAS)


def test_the_clustered_interval_can_be_selected_by_name():
    assert defect_rate(9, 57, method="beta-binomial", clusters=SIX_PERSONAS).method == "beta-binomial"
    assert defect_rate(1, 2, method="beta-binomial", clusters=[(1, 1), (0, 1)]).method == "beta-binomial"


def test_zero_defects_in_clusters_are_less_certain_than_in_independent_dialogues():
    alone, together = zero_defect_bound(500), zero_defect_bound(500, clusters=[25] * 20)

    assert alone.value == pytest.approx(0.005974, abs=1e-6)
    assert together.value == pytest.approx(0.0189, abs=1e-4)
    assert (together.method, together.n_clusters) == ("beta-binomial, one-sided", 20)


# Size of clusters, their number, and the bound by a numerical solution made elsewhere, with the prior of decision 29.
ZERO_BOUNDS = [(5, 20, 0.0414), (4, 50, 0.0194), (20, 10, 0.0408), (25, 20, 0.0189), (10, 6, 0.0909)]


@pytest.mark.parametrize(("size", "n_clusters", "bound"), ZERO_BOUNDS)
def test_at_the_bound_of_clusters_one_study_in_twenty_has_zero_defects(size, n_clusters, bound):
    found = zero_defect_bound(size * n_clusters, clusters=[size] * n_clusters)

    assert found.value == pytest.approx(bound, abs=6e-5)
    assert none_of(found.value, size, n_clusters) == pytest.approx(0.05, abs=5e-4)


def none_of(rate, size, n_clusters):
    """Return the probability of no defect over Beta(.8, 4) correlations, by a plain product and midpoints."""
    steps = (np.arange(4000) + 0.5) / 4000
    correlation = steps**3
    prior = correlation**-0.2 * (1 - correlation) ** 3 * steps**2
    sound = np.ones_like(steps)
    for earlier in range(size):
        apart = 1 - correlation
        sound *= ((1 - rate) * apart + earlier * correlation) / (apart + earlier * correlation)
    return float(sound**n_clusters @ prior / prior.sum())


@pytest.mark.parametrize("sizes", [[5] * 20, [3] * 100, [2] * 30, [1] * 10 + [2], [2, 40, 7]])
def test_zero_defects_in_clusters_are_never_more_certain_than_in_as_many_independent_dialogues(sizes):
    n = sum(sizes)

    assert zero_defect_bound(n, clusters=sizes).value > zero_defect_bound(n).value
    assert (
        defect_rate(0, n, clusters=[(0, size) for size in sizes]).high
        > defect_rate(0, n, method="clopper-pearson").high
    )


def test_the_upper_end_rises_with_each_of_the_first_defects():
    ends = [defect_rate(count, 100, clusters=[(1, 5)] * count + [(0, 5)] * (20 - count)).high for count in range(8)]

    assert ends == sorted(ends)


@pytest.mark.parametrize(("size", "n_clusters", "rate", "earlier"), [(5, 20, 0.04, 0.086), (4, 50, 0.018, 0.082)])
def test_few_studies_with_large_clusters_have_an_upper_end_below_the_true_rate(size, n_clusters, rate, earlier):
    """The earlier intervals ended below it in the share given, where .025 is promised."""
    missed = 0.0
    for shape in (shape for defects in range(5) for shape in partitions(defects, size)):
        clusters = [(count, size) for count in shape] + [(0, size)] * (n_clusters - len(shape))
        if defect_rate(sum(shape), size * n_clusters, clusters=clusters).high < rate:
            missed += probability(shape, size, n_clusters, rate)

    assert missed < 0.045 < earlier


def partitions(total, largest):
    """Yield the ways to split defects over clusters, largest first."""
    if total == 0:
        yield ()
    for first in range(min(total, largest), 0, -1):
        yield from ((first, *rest) for rest in partitions(total - first, first))


def probability(shape, size, n_clusters, rate, correlation=0.3):
    """Return how often clusters hold so many defects, whichever cluster holds which."""
    counts = Counter([*shape, *[0] * (n_clusters - len(shape))])
    a, b = rate * (1 / correlation - 1), (1 - rate) * (1 / correlation - 1)
    result = float(factorial(n_clusters))
    for count, times in counts.items():
        cell = comb(size, count) * exp(
            lgamma(count + a) + lgamma(size - count + b) - lgamma(size + a + b) + lgamma(a + b) - lgamma(a) - lgamma(b)
        )
        result *= cell**times / factorial(times)
    return result


def test_the_interval_covers_the_rate_despite_one_large_cluster():
    rate = defect_rate(100, 120, clusters=[(100, 100)] + [(0, 1)] * 20)

    assert rate.low <= rate.value <= rate.high


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"defects": 5, "labelled": 4}, r"`defects` must be within 0..`labelled`; got defects=5, labelled=4"),
        ({"defects": -1, "labelled": 4}, r"`defects` must be 0 or more; got -1"),
        ({"defects": 0.5, "labelled": 4}, r"`defects` must be a whole number; got 0.5"),
        ({"defects": 1, "labelled": 4, "confidence": 95}, r"`confidence` must be a fraction .* got 95"),
        ({"defects": 1, "labelled": 4, "method": "wald"}, r"`method` must be one of wilson, .* got 'wald'"),
        ({"defects": 1, "labelled": 4, "method": "beta-binomial"}, r"`beta-binomial` needs `clusters`"),
        ({"defects": 1, "labelled": 4, "clusters": [(1, 2)]}, r"must add up .* 1 defects of 2, .* 1 of 4"),
        ({"defects": 1, "labelled": 4, "clusters": [(3, 2), (1, 2)]}, r"got defects=3, labelled=2"),
        ({"defects": 1, "labelled": 4, "clusters": [4]}, r"must hold pairs .* entry 0 is 4"),
    ],
)
def test_impossible_counts_are_refused_with_the_input(arguments, words):
    with pytest.raises(InputError, match=words):
        defect_rate(**arguments)


def test_a_bound_refuses_inconsistent_cluster_sizes():
    with pytest.raises(InputError, match="must add up"):
        zero_defect_bound(10, clusters=[4, 4])


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_the_default_interval_never_ends_below_the_bound_of_zero_defects(n, confidence):
    bound = zero_defect_bound(n, confidence=confidence)
    none, all_of_them = defect_rate(0, n, confidence=confidence), defect_rate(n, n, confidence=confidence)

    assert none.high >= bound.value
    assert all_of_them.low == pytest.approx(1 - none.high)


def test_wilson_by_name_equals_the_published_formula():
    assert defect_rate(0, 3, method="wilson").high == pytest.approx(1.959963984540054**2 / (3 + 1.959963984540054**2))
    assert defect_rate(0, 3).high == pytest.approx(1 - 0.05 ** (1 / 3))


@pytest.mark.parametrize(
    ("a", "b", "below"),
    [
        (2.0, 1.0, 0.25),
        (0.5, 0.5, 0.5),
        (0.12, 0.88, 0.905473771557),
        (10.0, 3.0, 0.019287109375),
        (3.12, 0.88, 0.096455560351),
    ],
)
def test_the_beta_distribution_equals_its_table(a, b, below):
    assert beta_below_half(a, b) == pytest.approx(below, abs=1e-11)
    assert beta_below_half(b, a) == pytest.approx(1 - below, abs=1e-11)


ALIKE = [(6, 10), (2, 10), (5, 10), (7, 10)]

FEW = [(2, 10), (0, 10), (1, 10), (3, 10)]

LARGE_ONES_WORSE = [(0, 5)] * 15 + [(9, 60), (4, 60), (7, 60), (5, 60), (6, 60)]


def middle(sizes):
    posterior = clustered_share(sizes)
    return posterior.quantile(0.025), posterior.quantile(0.975)


def test_equal_clusters_have_the_posterior_median():
    assert clustered_ends(ALIKE, clustered_share(ALIKE), 0.95) == pytest.approx(middle(ALIKE))


def test_with_few_positive_units_only_the_upper_end_is_more_conservative():
    low, high = clustered_ends(FEW, clustered_share(FEW), 0.95)
    inner = middle(FEW)

    assert low == pytest.approx(inner[0])
    assert inner[1] + 0.005 < high < inner[1] + 0.05


def test_the_ends_for_negative_units_mirror_those_for_positive_units():
    others = [(n - count, n) for count, n in FEW]

    low, high = clustered_ends(FEW, clustered_share(FEW), 0.95)

    assert clustered_ends(others, clustered_share(others), 0.95) == pytest.approx((1 - high, 1 - low))


def test_where_large_clusters_differ_from_small_ones_both_ends_cover_the_pooled_rate():
    sizes = [(4, 5)] * 15 + [(18, 60), (24, 60), (12, 60)]
    value = sum(count for count, _ in sizes) / sum(n for _, n in sizes)

    low, high = clustered_ends(sizes, clustered_share(sizes), 0.95)

    assert middle(sizes)[0] > value - 0.01
    assert low < value - 0.1 < value + 0.1 < high


def test_unequal_clusters_are_never_narrower_than_the_posterior():
    low, high = clustered_ends(LARGE_ONES_WORSE, clustered_share(LARGE_ONES_WORSE), 0.95)
    inner = middle(LARGE_ONES_WORSE)

    assert low <= inner[0] + 1e-12 < inner[1] - 1e-12 <= high


def test_one_dialogue_less_changes_the_ends_slightly():
    whole, short = [(9, 10), *[(0, 10)] * 5], [(9, 10), *[(0, 10)] * 4, (0, 9)]

    before, after = (clustered_ends(sizes, clustered_share(sizes), 0.95) for sizes in (whole, short))

    assert after == pytest.approx(before, abs=0.02)


@pytest.mark.parametrize(("sizes", "end", "value"), [([(0, 3), (0, 9)], 0, 0.0), ([(3, 3), (9, 9)], 1, 1.0)])
def test_rates_of_zero_and_one_keep_their_edge(sizes, end, value):
    assert clustered_ends(sizes, clustered_share(sizes), 0.95)[end] == value
