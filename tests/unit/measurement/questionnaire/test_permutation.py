from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import people_permutation


def test_of_three_people_who_all_rise_one_arrangement_in_four_is_as_far_out():
    test = people_permutation([1, 5, 2, 4, 1, 4], list("ababab"), list("ppqqrr"))

    assert (test.p_value, test.effect, test.n, test.n_clusters) == (0.25, 1.0, 6, 3)


def test_whole_people_are_exchanged_where_each_met_one_side():
    test = people_permutation([1, 2, 3, 4, 5, 6], list("aaabbb"), list("pqrstu"))

    assert (test.p_value, test.effect) == (pytest.approx(2 / math.comb(6, 3)), 1.0)
    assert test.method == "permutation of people, exact"


def test_a_person_who_answers_often_counts_once():
    few = people_permutation([1, 2, 4, 5], list("aabb"), list("pqrs"))
    often = people_permutation([1] * 10 + [2, 4, 5], ["a"] * 11 + ["b"] * 2, ["p"] * 10 + list("qrs"))

    assert often.p_value == few.p_value


def test_the_first_side_higher_turns_the_effect_round():
    one = people_permutation([1, 2, 3, 4], list("aabb"), list("pqrs"))
    other = people_permutation([1, 2, 3, 4], list("bbaa"), list("pqrs"))

    assert (one.p_value, one.effect) == (other.p_value, -other.effect)


@pytest.mark.parametrize(
    ("answers", "sides", "people"),
    [
        ([], [], []),
        ([3, 3, 3, 3], "aabb", "pqrs"),
        ([1, 2, 3], "aab", "pqr"),
        ([1, 2], "aa", "pq"),
        ([1, None], "ab", "pp"),
    ],
    ids=["nothing", "all alike", "one on a side", "one side", "one answer"],
)
def test_too_little_to_test_is_undefined(answers, sides, people):
    assert isinstance(people_permutation(answers, list(sides), list(people)), Undefined)


def test_three_sides_are_refused():
    with pytest.raises(InputError, match="two sides"):
        people_permutation([1, 2, 3], list("abc"), list("pqr"))


def test_drawn_arrangements_never_give_a_p_value_of_nought():
    answers = [1.0] * 20 + [8.0] + [9.0] * 19
    people = [str(number) for number in range(40)]
    test = people_permutation(answers, ["a"] * 20 + ["b"] * 20, people, draws=99)

    assert (test.p_value, test.method) == (0.01, "permutation of people, 99 draws")


def test_without_a_difference_small_p_values_are_as_rare_as_they_promise():
    rng = np.random.default_rng(7)
    found = []
    for _ in range(300):
        tendency = np.repeat(rng.integers(0, 4, 8), 2)
        answers = (tendency + rng.integers(1, 4, 16)).astype(float).tolist()
        test = people_permutation(answers, ["a"] * 8 + ["b"] * 8, [str(n) for n in np.repeat(np.arange(8), 2)])
        found.append(1.0 if isinstance(test, Undefined) else test.p_value)

    assert sum(p <= 0.05 for p in found) / len(found) <= 0.08


@pytest.mark.parametrize(("n", "m", "high", "seen"), [(5, 6, 5, 0), (30, 40, 12, 9), (200, 90, 30, 15)])
def test_people_of_two_kinds_are_tested_as_fisher_did_at_any_number(n, m, high, seen):
    answers = [1.0] * (high - seen) + [0.0] * (n - high + seen) + [1.0] * seen + [0.0] * (m - seen)
    test = people_permutation(answers, ["a"] * n + ["b"] * m, [str(place) for place in range(n + m)])

    law = scipy.stats.hypergeom(n + m, high, m)
    far = [k for k in range(high + 1) if abs(k / m - (high - k) / n) >= abs(seen / m - (high - seen) / n) - 1e-9]
    assert test.p_value == pytest.approx(sum(law.pmf(k) for k in far))
    assert test.method == "permutation of people, exact"
