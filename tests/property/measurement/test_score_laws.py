"""Laws of votes, repeats, scores and probes."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theodolite.domain.estimate import Undefined
from theodolite.measurement.probes import human_ceiling, leak_rate, length_bias, position_bias
from theodolite.measurement.proportion import pass_hat_k
from theodolite.measurement.scores import correlation, score_agreement
from theodolite.measurement.votes import (
    flip_rate,
    majority_share,
    retest_alpha,
    vote_share,
    votes_or_samples,
    voting_outcome,
)

OF_SCORES = {
    "correlation",
    "flip_rate",
    "human_ceiling",
    "leak_rate",
    "length_bias",
    "majority_share",
    "pass_hat_k",
    "position_bias",
    "retest_alpha",
    "score_agreement",
    "vote_share",
    "votes_or_samples",
    "voting_outcome",
}
"""Measures whose laws stand here."""

FEW = settings(deadline=None, max_examples=40)
VOTES = st.lists(st.lists(st.sampled_from(["a", "b", None]), min_size=1, max_size=5), min_size=1, max_size=15)
SCORES = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=5, max_size=30)
PLACES = st.lists(st.tuples(*[st.sampled_from(["first", "second", "tie"])] * 2), min_size=1, max_size=20)


def columns(pairs):
    return [list(column) for column in zip(*pairs, strict=True)]


def within(result, lowest=0.0):
    return isinstance(result, Undefined) or lowest <= result.low <= result.value <= result.high <= 1.0


def numbers_of(record):
    """Return the numbers of a record; sums in another order differ in the last digit."""
    return [value for field in fields(record) if isinstance(value := getattr(record, field.name), int | float)]


@given(votes=VOTES, data=st.data())
@FEW
def test_the_order_of_votes_does_not_matter(votes, data):
    shuffled = [data.draw(st.permutations(unit)) for unit in votes]

    assert flip_rate(votes) == flip_rate(shuffled)
    assert vote_share(votes, "a") == vote_share(shuffled, "a")
    assert majority_share(votes, "a") == majority_share(shuffled, "a")
    again = numbers_of(votes_or_samples(shuffled, "a"))
    assert numbers_of(votes_or_samples(votes, "a")) == pytest.approx(again, nan_ok=True)
    assert retest_alpha(votes, categories="ab") == retest_alpha(shuffled, categories="ab")


@given(votes=VOTES)
@FEW
def test_shares_of_two_labels_sum_to_one(votes):
    shares = [vote_share(votes, label) for label in "ab"]

    assert isinstance(shares[0], Undefined) or sum(share.value for share in shares) == pytest.approx(1.0)
    assert all(within(part) for part in (*shares, flip_rate(votes), majority_share(votes, "a")))


@given(share=st.floats(0.5, 1.0), most=st.integers(1, 9), lead=st.integers(1, 5))
@FEW
def test_stopping_early_never_costs_more_calls(share, most, lead):
    fixed = voting_outcome(share, most=most, curtailed=False)
    curtailed, ahead = voting_outcome(share, most=most), voting_outcome(share, most=most, lead=lead)

    assert ahead.calls <= curtailed.calls + 1e-9 <= fixed.calls + 2e-9
    assert curtailed.right == pytest.approx(fixed.right)
    assert 0.0 <= ahead.right + ahead.tied <= 1.0 + 1e-9


@given(tasks=st.lists(st.lists(st.booleans(), min_size=3, max_size=5), min_size=1, max_size=12))
@FEW
def test_more_required_successes_never_raise_the_rate(tasks):
    found = [pass_hat_k(tasks, k) for k in (1, 2, 3)]

    assert [part.value for part in found] == sorted((part.value for part in found), reverse=True)
    assert all(within(part) for part in found)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
@given(pairs=SCORES)
@FEW
def test_correlations_are_symmetric_and_reversed_with_a_scale(method, pairs):
    a, b = columns(pairs)
    there, back = correlation(a, b, method=method), correlation(b, a, method=method)
    turned = correlation([6 - score for score in a], b, method=method)

    if isinstance(there, Undefined):
        assert isinstance(back, Undefined)
        return
    assert there.value == pytest.approx(back.value, abs=1e-9)
    assert there.value == pytest.approx(-turned.value, abs=1e-9)
    assert there.low is None or -1.0 <= there.low <= there.value <= there.high <= 1.0


@given(pairs=SCORES, shift=st.integers(-3, 3))
@FEW
def test_a_shift_changes_the_bias_and_not_the_correlation(pairs, shift):
    a, b = columns(pairs)

    one, other = score_agreement(a, b), score_agreement([score + shift for score in a], b)

    assert other.bias.value == pytest.approx(one.bias.value + shift)
    assert one.kendall == other.kendall
    assert one.rmse.value >= abs(one.bias.value) - 1e-9


@given(pairs=SCORES, data=st.data())
@FEW
def test_the_unit_of_length_does_not_matter(pairs, data):
    a, b = columns(pairs)
    lengths = data.draw(st.lists(st.integers(1, 99), min_size=len(a), max_size=len(a)))

    assert length_bias(a, b, lengths) == length_bias(a, b, [10 * length for length in lengths])


@given(pairs=PLACES)
@FEW
def test_which_order_came_first_does_not_matter(pairs):
    one_way, other_way = columns(pairs)

    assert position_bias(one_way, other_way) == position_bias(other_way, one_way)


@given(units=st.lists(st.tuples(*[st.sampled_from("ab")] * 3), min_size=1, max_size=15))
@FEW
def test_a_judge_equal_to_one_of_two_agreeing_people_scores_the_same(units):
    judge, first, second = columns(units)

    ceiling = human_ceiling(judge, [first, second])

    assert within(ceiling.people)
    assert within(ceiling.judge)
    assert human_ceiling(first, [first, first]).judge.value == pytest.approx(1.0)


@FEW
@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.25, 0.5, 1.0])), min_size=1, max_size=20), st.randoms())
def test_the_blinding_index_is_independent_of_order_and_stays_within_its_bounds(guesses, chance):
    """Law: order of testers is no information; shares and p-values are fractions; one more right guess leaks more."""
    shuffled = chance.sample(guesses, len(guesses))
    rate, p_value = leak_rate(*columns(guesses))
    more, p_more = leak_rate(*columns([(True, part) for _, part in guesses]))

    assert leak_rate(*columns(shuffled))[1] == pytest.approx(p_value)
    assert within(rate)
    assert 0.0 <= p_more <= p_value + 1e-12 <= 1.0 + 1e-9
    assert more.value >= rate.value
