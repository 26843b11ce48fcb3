"""Stability of one judge's votes."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.votes import (
    flip_rate,
    majority_share,
    retest_alpha,
    vote_share,
    votes_or_samples,
    voting_outcome,
)

VOTES = [["yes", "yes", "no"], ["no"] * 3, ["no", None, "no"], ["yes"], [None]]


def test_flips_are_pairs_of_votes_on_repeated_dialogues():
    rate = flip_rate(VOTES)

    assert (rate.value, rate.n) == (pytest.approx(2 / 9), 3)
    assert 0.0 < rate.low < rate.value < rate.high < 1.0


def test_a_judge_without_observed_flips_may_still_flip():
    rate = flip_rate([["no", "no"]] * 30)

    assert (rate.value, rate.low) == (0.0, 0.0)
    assert rate.high == pytest.approx(0.1157, abs=1e-3)


def test_a_judge_with_single_readings_has_no_flip_rate():
    assert isinstance(flip_rate([["yes"], ["no"]]), Undefined)


def test_vote_shares_and_majorities_are_reported_separately():
    votes = [["yes", "no", "no", "no"]] * 10

    assert vote_share(votes, "yes").value == pytest.approx(0.25)
    assert majority_share(votes, "yes").value == 0.0


def test_ties_have_no_majority():
    share = majority_share([["yes", "no"], ["yes"], [None]], "yes")

    assert (share.count, share.n) == (1, 1)
    assert isinstance(majority_share([["yes", "no"]], "yes"), Undefined)


@pytest.mark.parametrize("measure", [flip_rate, lambda v, clusters: vote_share(v, "yes", clusters=clusters)])
def test_clusters_widen_the_interval(measure):
    votes = [["yes", "no"]] * 20 + [["no", "no"]] * 20

    alone, together = measure(votes, clusters=None), measure(votes, clusters=[place // 10 for place in range(40)])

    assert together.high - together.low > alone.high - alone.low
    assert (together.n_clusters, alone.n_clusters) == (4, None)
    assert together.design_effect > 1.0


def test_retest_agreement_is_alpha_over_votes():
    alpha = retest_alpha(VOTES, categories=["no", "yes"])

    assert alpha.n == 3
    assert alpha.value < 1.0
    assert retest_alpha([["a", "a"], ["b", "b"]], categories="ab").value == 1.0


def test_retest_agreement_needs_two_votes_and_the_full_scale():
    assert isinstance(retest_alpha([["a"], ["b"]], categories="ab"), Undefined)
    with pytest.raises(InputError, match=r"got .'c'.. Give the full scale"):
        retest_alpha([["c", "a"]], categories="ab")


def drawn(n, k, seed=0):
    """Return votes on dialogues whose shares vary: most are hardly ever flagged, some often."""
    rng = np.random.default_rng(seed)
    shares = rng.beta(0.12, 0.88, n)
    return (rng.random((n, k)) < shares[:, None]).tolist(), shares


def test_additional_dialogues_are_more_informative_for_a_rate_than_repeated_calls():
    votes, _ = drawn(600, 5)

    compared = votes_or_samples(votes, True)

    assert (compared.units, compared.calls) == (600, 3000)
    assert compared.error == pytest.approx(0.0103, abs=0.003)
    assert compared.error_as_samples == pytest.approx(0.0059, abs=0.001)
    assert compared.samples_do_better


def test_variances_match_the_simulated_ones():
    votes, shares = drawn(4000, 4)

    compared = votes_or_samples(votes, True)

    assert compared.between == pytest.approx(shares.var(), rel=0.1)
    assert compared.within == pytest.approx((shares * (1 - shares)).mean(), rel=0.1)


def test_expensive_dialogues_justify_more_votes():
    votes, _ = drawn(600, 5)

    assert votes_or_samples(votes, True, cost_of_dialogue=100).best_votes > 3
    assert not votes_or_samples(votes, True, cost_of_dialogue=400).samples_do_better


def test_uniform_dialogues_make_votes_as_good_as_samples():
    compared = votes_or_samples([["a", "b"]] * 6, "a")

    assert compared.between == 0.0
    assert compared.best_votes == 2.0


@pytest.mark.parametrize("votes", [[], [["a", "b"]], [["a"], ["b"]]])
def test_too_few_votes_give_no_result(votes):
    assert isinstance(votes_or_samples(votes, "a"), Undefined)


def test_a_negative_price_is_refused():
    with pytest.raises(InputError, match="`cost_of_dialogue` must be 0 or more"):
        votes_or_samples([["a", "b"]] * 2, "a", cost_of_dialogue=-1)


def test_an_even_number_of_votes_may_tie():
    outcome = voting_outcome(0.5, most=2, curtailed=False)

    assert (outcome.right, outcome.tied, outcome.calls) == (0.25, 0.5, 2.0)


@pytest.mark.parametrize(
    "numbers", [{"share": 2, "most": 3}, {"share": 0.5, "most": 0}, {"share": 0.5, "most": 3, "lead": 0}]
)
def test_invalid_rules_are_refused(numbers):
    with pytest.raises(InputError, match="`share` must be a fraction"):
        voting_outcome(**numbers)
