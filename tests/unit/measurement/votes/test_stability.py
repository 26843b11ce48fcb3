"""Stability of one judge's votes."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import flip_rate, majority_share, retest_alpha, vote_share

VOTES = [["yes", "yes", "no"], ["no"] * 3, ["no", None, "no"], ["yes"], [None]]


def test_flips_are_pairs_of_votes_on_dialogues_asked_twice():
    rate = flip_rate(VOTES)

    assert (rate.value, rate.n) == (pytest.approx(2 / 9), 3)
    assert 0.0 < rate.low < rate.value < rate.high < 1.0


def test_a_judge_that_never_flips_may_still_do_so():
    rate = flip_rate([["no", "no"]] * 30)

    assert (rate.value, rate.low) == (0.0, 0.0)
    assert rate.high == pytest.approx(0.1157, abs=1e-3)


def test_a_judge_asked_once_has_no_flip_rate():
    assert isinstance(flip_rate([["yes"], ["no"]]), Undefined)


def test_vote_shares_and_majorities_are_two_numbers():
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
