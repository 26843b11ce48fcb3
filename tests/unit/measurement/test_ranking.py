from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.ranking import _chain, _opposed_rows, ranking_agreement
from theodolite.measurement.sequences import longest_increasing_subsequence, ranks


@pytest.mark.parametrize("n", [5, 20, 60])
def test_tau_equals_an_independent_implementation(n):
    human, judge = np.random.default_rng(6).integers(1, 6, (2, n))

    assert ranking_agreement(human, judge).tau.value == pytest.approx(kendalltau(human, judge).statistic, abs=1e-12)


def test_ties_are_not_disagreement():
    found = ranking_agreement([1, 1, 2, 2], [2, 1, 3, 3])

    assert (found.cin, found.lis) == (0, 2)


def test_the_longest_chain_increases_in_both_rankings():
    human, judge = np.random.default_rng(7).integers(1, 6, (2, 12))
    units = sorted(zip(human.tolist(), judge.tolist(), strict=True))
    longest = {}
    for place, (person, score) in enumerate(units):
        below = [longest[at] for at in range(place) if units[at][0] < person and units[at][1] < score]
        longest[place] = 1 + max(below, default=0)

    assert ranking_agreement(human, judge).lis == max(longest.values())


def test_unranked_units_are_counted():
    found = ranking_agreement([1, 2, 3, None, 5], [1, 2, 3, 4, None])

    assert (found.n, found.n_missing) == (3, 2)
    assert 0.2 < found.tau.low < 0.25
    assert found.tau.high == 1.0


@pytest.mark.parametrize(("human", "judge"), [([1, 2], [1, 2]), ([1, 2, 3], [1, 2])], ids=["too few", "unequal"])
def test_invalid_rankings_are_refused(human, judge):
    with pytest.raises(InputError):
        ranking_agreement(human, judge)


def test_a_constant_judge_has_no_order():
    found = ranking_agreement([1, 2, 3, 4], [5, 5, 5, 5])

    assert isinstance(found.tau, Undefined)
    assert "the judge" in found.tau.reason


def test_chance_level_is_that_of_an_unrelated_judge():
    found = ranking_agreement(range(12), range(12))

    assert found.chance_cin.at_most <= 0.001
    assert found.chance_lis.at_least <= 0.001


def test_a_ranking_that_is_too_long_has_no_chance_level():
    found = ranking_agreement(range(25_000), range(25_000))

    assert isinstance(found.chance_cin, Undefined)


@pytest.mark.parametrize("points", [5, 200], ids=["few values", "many values"])
def test_inversions_of_unrelated_judges_are_counted_pair_by_pair(points):
    rng = np.random.default_rng(8)
    human, rows = np.sort(rng.integers(0, points, 40)), rng.integers(0, points, (3, 40))
    pairs = [[(row[:i][human[:i] < human[i]] > row[i]).sum() for i in range(40)] for row in rows]

    assert _opposed_rows(rows, ranks(human.astype(float))).tolist() == [sum(row) for row in pairs]


def test_the_interval_of_inversions_is_that_of_tau():
    human, judge = [1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 3, 4, 6, 5, 7, 8]

    found = ranking_agreement(human, judge)

    # Without ties tau = 1 - 2 * CIN / pairs.
    assert found.opposed_pairs.value == 2 / 28
    assert found.opposed_pairs.high == pytest.approx((1 - found.tau.low) / 2)
    assert found.opposed_pairs.low == pytest.approx((1 - found.tau.high) / 2)


def test_the_interval_of_the_chain_contains_its_poisson_tails():
    found = ranking_agreement(range(100), range(100)).common_chain

    low, reach = found.low, np.log(2 / 0.05)
    assert low - 100 + 100 * np.log(100 / low) == pytest.approx(reach)
    assert (found.value, found.high, found.count) == (100, 100, 100)


def test_the_interval_of_the_chain_covers_the_expected_length():
    rng = np.random.default_rng(3)
    human = rng.normal(size=(400, 30))
    judge = human + rng.normal(size=(400, 30))
    lengths = [longest_common(a, b) for a, b in zip(human, judge, strict=True)]
    found = [_chain(length, 30, None, 0.95, None) for length in lengths]

    assert sum(one.low <= np.mean(lengths) <= one.high for one in found) >= 380


def longest_common(human, judge):
    return longest_increasing_subsequence(judge[np.argsort(human)])


def test_clusters_widen_the_interval_of_the_chain():
    alone, clustered = (
        ranking_agreement(range(40), range(40), clusters=ids) for ids in (None, [i // 4 for i in range(40)])
    )

    assert clustered.common_chain.low < alone.common_chain.low
    assert clustered.common_chain.n_clusters == 10
