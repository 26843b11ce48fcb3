from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.order.ranking import ranking_agreement

RNG = np.random.default_rng(6)


@pytest.mark.parametrize("n", [5, 20, 60])
def test_tau_is_that_of_an_independent_program(n):
    human, judge = RNG.integers(1, 6, n), RNG.integers(1, 6, n)

    assert ranking_agreement(human, judge).tau.value == pytest.approx(kendalltau(human, judge).statistic, abs=1e-12)


def test_equal_scores_are_no_disagreement():
    found = ranking_agreement([1, 1, 2, 2], [2, 1, 3, 3])

    assert (found.cin, found.lis) == (0, 2)


def test_the_longest_chain_rises_for_both():
    human, judge = RNG.integers(1, 6, 12), RNG.integers(1, 6, 12)
    units = sorted(zip(human.tolist(), judge.tolist(), strict=True))
    longest = {}
    for place, (person, score) in enumerate(units):
        below = [longest[at] for at in range(place) if units[at][0] < person and units[at][1] < score]
        longest[place] = 1 + max(below, default=0)

    assert ranking_agreement(human, judge).lis == max(longest.values())


def test_units_that_one_left_out_are_counted():
    found = ranking_agreement([1, 2, 3, None, 5], [1, 2, 3, 4, None])

    assert (found.n, found.n_missing) == (3, 2)
    assert (found.tau.low, found.tau.high) == (None, None)


@pytest.mark.parametrize(("human", "judge"), [([1, 2], [1, 2]), ([1, 2, 3], [1, 2])], ids=["too few", "unequal"])
def test_what_cannot_be_ranked_is_refused(human, judge):
    with pytest.raises(InputError):
        ranking_agreement(human, judge)


def test_a_judge_who_says_one_thing_has_no_order():
    found = ranking_agreement([1, 2, 3, 4], [5, 5, 5, 5])

    assert isinstance(found.tau, Undefined)
    assert "the judge" in found.tau.reason


def test_chance_knows_an_unrelated_judge():
    found = ranking_agreement(range(12), range(12))

    assert found.chance_cin.at_most <= 0.001
    assert found.chance_lis.at_least <= 0.001


def test_a_ranking_that_is_too_long_has_no_chance_level():
    found = ranking_agreement(range(25_000), range(25_000))

    assert isinstance(found.chance_cin, Undefined)
