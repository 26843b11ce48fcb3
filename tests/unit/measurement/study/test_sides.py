from __future__ import annotations

import pytest

from tests.fakes.responses import AFTER, BOTH, response, said
from theodolite.domain.estimate import Undefined
from theodolite.measurement.questionnaire.groups import friedman, kruskal_wallis
from theodolite.measurement.questionnaire.ranks import brunner_munzel_test, signed_rank_test
from theodolite.measurement.study.sides import compare_sides

QUESTIONS = AFTER.instrument.questions


def compared(responses, by=lambda one: one.application, *, small=False, adjustment="holm"):
    found = compare_sides(QUESTIONS, responses, by, small_are_withheld=small, adjustment=adjustment)
    return {one.question.name: one for one in found}


def of_group(one):
    return one.groups.get("age", "")


def test_testers_who_met_both_are_compared_with_themselves():
    found = compared(BOTH)["bad"]

    assert found.is_within
    assert found.test == signed_rank_test([1.0] * 4, [5.0] * 4)
    assert [(side.name, side.n_people) for side in found.sides] == [("blue", 4), ("green", 4)]


def test_three_sides_that_all_met_are_tested_at_once_and_pair_by_pair():
    places = [[1, 4, 6], [2, 4, 7], [1, 5, 6], [2, 6, 5]]
    told = [response(str(n), name, bad) for n, row in enumerate(places) for name, bad in zip("abc", row, strict=True)]
    found = compared(told)["bad"]

    assert found.test == friedman([[bad - 1.0 for bad in row] for row in places])
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(pair.adjusted_p_value >= pair.test.p_value for pair in found.pairs)


def test_two_groups_of_testers_are_compared_without_taking_them_as_spread_alike():
    old, young = [1, 2, 2, 3, 1], [4, 6, 5, 7, 6]
    told = [response(f"{age}{n}", "blue", bad, groups={"age": age}) for age, row in (("old", old), ("young", young))
            for n, bad in enumerate(row)]  # fmt: skip
    found = compared(told, of_group, small=True)["bad"]

    assert not found.is_within
    assert found.test == brunner_munzel_test([bad - 1.0 for bad in old], [bad - 1.0 for bad in young])
    assert found.effect.value == 1.0


def test_three_groups_are_compared_by_ranks_with_dunn():
    rows = {"a": [1, 2, 1, 2, 3], "b": [3, 4, 4, 3, 5], "c": [6, 7, 6, 5, 7]}
    told = [response(f"{age}{n}", "blue", bad, groups={"age": age}) for age, row in rows.items()
            for n, bad in enumerate(row)]  # fmt: skip
    found = compared(told, of_group)["bad"]

    assert found.test == kruskal_wallis({age: [bad - 1.0 for bad in row] for age, row in rows.items()})
    assert {pair.test.method for pair in found.pairs} == {"Dunn"}


def test_small_groups_are_counted_and_neither_described_nor_tested():
    told = [response(str(n), "blue", 1 + n % 7, groups={"age": "old" if n < 3 else "young"}) for n in range(9)]
    found = compared(told, of_group, small=True)["bad"]

    assert [(side.name, side.n_people, side.spread is None) for side in found.sides] == [
        ("old", 3, True),
        ("young", 6, False),
    ]
    assert found.test is None


def test_a_tester_counts_once_however_often_they_answered():
    told = [*BOTH, response("p", "blue", 2), response("p", "blue", 2)]

    assert compared(told)["bad"].test.n == compared(BOTH)["bad"].test.n


def test_a_tester_on_two_sides_stands_on_the_smaller_one_where_few_met_both():
    told = [response(str(n), "blue", 1 + n % 3) for n in range(6)]
    told += [response(str(n), "green", 5 + n % 2) for n in (0, 8, 9)]
    found = compared(told)["bad"]

    assert not found.is_within
    assert found.test.n == 8


@pytest.mark.parametrize("adjustment", ["holm", "bh"])
def test_p_values_are_adjusted_for_all_questions(adjustment):
    more = [said("seen", "yes"), said("seen", "no")]
    told = [response(p, a, bad, more=(more[bad > 3],)) for p in "pqrs" for a, bad in (("blue", 2), ("green", 6))]
    found = compared(told, adjustment=adjustment)

    factor = 2 if adjustment == "holm" else 1
    assert found["bad"].adjusted_p_value == pytest.approx(factor * found["bad"].test.p_value)


def test_answers_without_order_are_described_alone():
    found = compared(BOTH)

    assert found["kinds"].test is None
    assert found["open"].sides[0].spread is not None


def test_it_is_undefined_where_nobody_differs():
    told = [response(p, a, 3) for p in "pqrs" for a in ("blue", "green")]

    assert isinstance(compared(told)["bad"].test, Undefined)
