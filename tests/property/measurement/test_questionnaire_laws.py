"""Laws of answers on ordered scales."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theodolite.domain.estimate import Undefined
from theodolite.measurement.ordinal import odds_by_threshold, ordinal_model
from theodolite.measurement.questionnaires import describe_answers, people_permutation
from theodolite.measurement.rank_tests import (
    brunner_munzel_test,
    dunn,
    friedman,
    kruskal_wallis,
    rank_sum_test,
    signed_rank_test,
    superiority,
)

OF_QUESTIONNAIRES = {
    "brunner_munzel_test",
    "describe_answers",
    "dunn",
    "friedman",
    "kruskal_wallis",
    "odds_by_threshold",
    "ordinal_model",
    "people_permutation",
    "rank_sum_test",
    "signed_rank_test",
    "superiority",
}
"""Measures whose laws stand here."""

FEW = settings(deadline=None, max_examples=40)
ANSWERS = st.lists(st.integers(1, 5), min_size=2, max_size=15)


def spread(answers):
    """Return the same order on another scale."""
    return [answer**3 for answer in answers]


def same(one, other):
    if isinstance(one, Undefined) or isinstance(other, Undefined):
        return type(one) is type(other)
    return one.p_value == pytest.approx(other.p_value) and one.effect == pytest.approx(other.effect, abs=1e-9)


@pytest.mark.parametrize("test", [rank_sum_test, brunner_munzel_test])
@given(a=ANSWERS, b=ANSWERS)
@FEW
def test_only_the_order_of_answers_counts(test, a, b):
    assert same(test(a, b), test(spread(a), spread(b)))


@given(a=ANSWERS, b=ANSWERS, c=ANSWERS)
@FEW
def test_only_the_order_counts_for_several_groups_and_the_same_people(a, b, c):
    groups = {"a": a, "b": b, "c": c}
    rows = list(zip(a, b, c, strict=False))

    assert same(kruskal_wallis(groups), kruskal_wallis({name: spread(group) for name, group in groups.items()}))
    assert same(friedman(rows), friedman([spread(row) for row in rows]))


@given(a=ANSWERS, b=ANSWERS)
@FEW
def test_the_groups_may_be_exchanged(a, b):
    one, other = superiority(a, b), superiority(b, a)

    assert one.value == pytest.approx(1 - other.value)
    assert one.low is None or one.low <= one.value <= one.high
    assert isinstance(rank_sum_test(a, b), Undefined) or rank_sum_test(a, b).p_value == pytest.approx(
        rank_sum_test(b, a).p_value
    )


@given(pairs=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=20))
@FEW
def test_reversing_time_reverses_the_effect(pairs):
    a, b = (list(column) for column in zip(*pairs, strict=True))
    one, other = signed_rank_test(a, b), signed_rank_test(b, a)

    assert isinstance(one, Undefined) or (one.p_value, one.effect) == pytest.approx((other.p_value, -other.effect))


@given(a=ANSWERS, b=ANSWERS)
@FEW
def test_a_comparison_of_two_groups_by_mean_ranks_needs_no_adjustment(a, b):
    for pair in dunn({"a": a, "b": b}):
        assert pair.adjusted_p_value == pair.test.p_value
        assert pair.test.statistic**2 == pytest.approx(kruskal_wallis({"a": a, "b": b}).statistic)


@given(answers=st.lists(st.sampled_from([1, 2, 3, 4, None]), max_size=25))
@FEW
def test_every_answer_is_counted_and_quartiles_are_in_order(answers):
    found = describe_answers(answers, categories=range(1, 5))

    assert sum(found.counts.values()) + found.missing == len(answers)
    assert found.median is None or found.lower_quartile <= found.median <= found.upper_quartile


@given(answers=st.lists(st.integers(1, 3), min_size=6, max_size=12), data=st.data())
@settings(deadline=None, max_examples=15)
def test_reversing_a_scale_reverses_the_effect(answers, data):
    factor = data.draw(st.lists(st.integers(0, 1), min_size=len(answers), max_size=len(answers)))
    one = ordinal_model(answers, {"x": factor}, categories=[1, 2, 3])
    other = ordinal_model([4 - answer for answer in answers], {"x": factor}, categories=[1, 2, 3])

    assert isinstance(one, Undefined) == isinstance(other, Undefined)
    if not isinstance(one, Undefined) and 0 < sum(factor) < len(factor):
        assert one.coefficients["x"].value == pytest.approx(-other.coefficients["x"].value, abs=0.02)
    assert len(odds_by_threshold(answers, {"x": factor}, categories=[1, 2, 3])) == 2


@given(rows=st.lists(st.tuples(st.integers(1, 5), st.sampled_from("ab"), st.sampled_from("pqrstuv")), max_size=16))
@FEW
def test_a_permutation_of_people_depends_neither_on_row_order_nor_on_scale_values(rows):
    def tested(these, scale=lambda answer: answer):
        answers, sides, people = zip(*these, strict=True) if these else ((), (), ())
        return people_permutation([float(scale(answer)) for answer in answers], sides, people)

    plain = tested(rows)

    assert same(plain, tested(rows[::-1]))
    assert same(plain, tested(rows, lambda answer: answer**3))
    assert isinstance(plain, Undefined) or 0.0 < plain.p_value <= 1.0
