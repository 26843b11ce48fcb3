"""Laws of the order metrics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theodolite.measurement.order_profile import relevance_profile
from theodolite.measurement.ranking import ranking_agreement
from theodolite.measurement.sequences import (
    all_triples_entropy,
    inversion_count,
    longest_increasing_subsequence,
    permutation_entropy,
    rolling_entropy,
    rolling_inversions,
    rolling_subsequence,
)

OF_ORDER = {
    "all_triples_entropy",
    "inversion_count",
    "longest_increasing_subsequence",
    "permutation_entropy",
    "ranking_agreement",
    "relevance_profile",
    "rolling_entropy",
    "rolling_inversions",
    "rolling_subsequence",
}
STARS = st.lists(st.integers(1, 5), min_size=8, max_size=40)
REALS = st.lists(st.integers(-1000, 1000).map(lambda x: x / 8), min_size=8, max_size=120)
SCORES = st.one_of(STARS, REALS)
TIES = st.sampled_from(["stable", "weak"])
ORDERS = st.integers(2, 4)
law = settings(deadline=None, max_examples=80)


def pairs_of(scores):
    return [(scores[i], scores[j]) for i in range(len(scores)) for j in range(i + 1, len(scores))]


@given(scores=SCORES, order=ORDERS, ties=TIES)
@law
def test_entropy_is_between_zero_and_that_of_all_patterns(scores, order, ties):
    nats = permutation_entropy(scores, order=order, ties=ties)
    share = permutation_entropy(scores, order=order, ties=ties, normalize=True)

    assert 0 <= nats <= math.log(len(scores) - order + 1) + 1e-12
    assert 0 <= share <= 1 + 1e-12


@given(scores=SCORES)
@law
def test_inversions_and_subsequences_are_bounded(scores):
    n, values = len(scores), len(set(scores))
    strict = longest_increasing_subsequence(scores)

    assert 0 <= inversion_count(scores) <= n * (n - 1) // 2
    assert 1 <= strict <= values
    assert strict <= longest_increasing_subsequence(scores, strict=False) <= n


@given(scores=SCORES)
@law
def test_inversions_are_the_decreasing_pairs(scores):
    assert inversion_count(scores) == sum(first > second for first, second in pairs_of(scores))


@given(scores=SCORES)
@law
def test_reversal_turns_decreasing_pairs_into_increasing_ones(scores):
    tied = sum(first == second for first, second in pairs_of(scores))
    n = len(scores)

    assert inversion_count(scores) + inversion_count(scores[::-1]) == n * (n - 1) // 2 - tied


@given(scores=SCORES, order=ORDERS)
@law
def test_reversal_preserves_the_entropy_of_weak_orders(scores, order):
    there = permutation_entropy(scores, order=order, ties="weak")

    assert there == pytest.approx(permutation_entropy(scores[::-1], order=order, ties="weak"), abs=1e-12)


@given(scores=SCORES)
@law
def test_only_the_order_of_scores_matters(scores):
    stretched = [score**3 + 7 for score in scores]

    for metric in (permutation_entropy, all_triples_entropy, inversion_count, longest_increasing_subsequence):
        assert metric(scores) == pytest.approx(metric(stretched), abs=1e-12)


@given(scores=SCORES)
@law
def test_an_increasing_sequence_has_no_disorder(scores):
    rising = sorted(scores)

    assert (permutation_entropy(rising), inversion_count(rising)) == (0, 0)
    assert longest_increasing_subsequence(rising) == len(set(scores))


@given(scores=SCORES, times=st.integers(2, 4))
@law
def test_replication_multiplies_inversions_at_least_by_its_square(scores, times):
    repeated = inversion_count(scores * times)
    apart = sum(first != second for first, second in pairs_of(scores))

    assert repeated == times * inversion_count(scores) + times * (times - 1) // 2 * apart


@given(scores=STARS, times=st.integers(2, 4))
@law
def test_repeating_each_score_in_place_preserves_the_longest_increasing_subsequence(scores, times):
    stretched = [score for score in scores for _ in range(times)]

    assert longest_increasing_subsequence(stretched) == longest_increasing_subsequence(scores)
    assert inversion_count(stretched) == times**2 * inversion_count(scores)


@given(scores=SCORES, window=st.integers(4, 8), ties=TIES, order=st.integers(2, 4))
@law
def test_rolling_values_equal_the_metric_of_each_window(scores, window, ties, order):
    windows = [scores[place : place + window] for place in range(len(scores) - window + 1)]

    entropy = rolling_entropy(scores, window=window, ties=ties, order=order)

    assert entropy == pytest.approx([permutation_entropy(w, ties=ties, order=order) for w in windows], abs=1e-12)
    assert rolling_inversions(scores, window=window).tolist() == [inversion_count(w) for w in windows]
    for strict in (True, False):
        found = rolling_subsequence(scores, window=window, strict=strict).tolist()
        assert found == [longest_increasing_subsequence(w, strict=strict) for w in windows]


@given(scores=st.lists(st.integers(1, 6), min_size=3, max_size=12))
@law
def test_all_triples_are_enumerated(scores):
    n = len(scores)
    triples = [(scores[i], scores[j], scores[k]) for i in range(n) for j in range(i + 1, n) for k in range(j + 1, n)]
    patterns = [tuple(np.argsort(triple, kind="stable").tolist()) for triple in triples]
    shares = np.array([patterns.count(pattern) for pattern in set(patterns)]) / len(patterns)

    assert all_triples_entropy(scores) == pytest.approx(-float(shares @ np.log(shares)), abs=1e-12)


@given(scores=st.lists(st.integers(1, 5), min_size=3, max_size=8))
@settings(deadline=None, max_examples=15)
def test_a_profile_equals_its_metrics(scores):
    profile = relevance_profile([*scores, None])

    assert (profile.pen.value, profile.cin.value) == (permutation_entropy(scores), inversion_count(scores))
    assert (profile.n, profile.n_missing, profile.level) == (len(scores), 1, pytest.approx(np.mean(scores)))
    assert profile.cin.chance.at_most + profile.cin.chance.at_least >= 1


@given(pairs=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=8), data=st.data())
@settings(deadline=None, max_examples=15)
def test_a_ranking_does_not_depend_on_the_order_of_units(pairs, data):
    shuffled = data.draw(st.permutations(pairs))

    one, other = (ranking_agreement([p for p, _ in units], [j for _, j in units]) for units in (pairs, shuffled))

    assert (one.cin, one.lis, one.pen, one.tau) == (other.cin, other.lis, other.pen, other.tau)


@given(human=st.lists(st.integers(1, 9), min_size=3, max_size=8, unique=True))
@settings(deadline=None, max_examples=15)
def test_a_judge_in_agreement_with_people_has_no_inversions(human):
    found = ranking_agreement(human, [2 * score for score in human])

    assert (found.pen, found.cin, found.lis, found.tau.value) == (0, 0, len(human), pytest.approx(1))
