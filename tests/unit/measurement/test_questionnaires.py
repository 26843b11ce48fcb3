from __future__ import annotations

import math

import pytest
import scipy.stats
from hypothesis import given as drawn
from hypothesis import strategies as st

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.alpha import krippendorff_alpha
from theodolite.measurement.questionnaires import describe_answers, masi_distance, people_permutation, set_alpha


def test_of_three_people_who_all_rise_one_permutation_in_four_is_as_extreme():
    test = people_permutation([1, 5, 2, 4, 1, 4], list("ababab"), list("ppqqrr"))

    assert (test.p_value, test.effect, test.n, test.n_clusters) == (0.25, 1.0, 6, 3)


def test_people_are_permuted_as_a_whole_if_each_saw_one_condition():
    test = people_permutation([1, 2, 3, 4, 5, 6], list("aaabbb"), list("pqrstu"))

    assert (test.p_value, test.effect) == (pytest.approx(2 / math.comb(6, 3)), 1.0)
    assert test.method == "permutation of people, exact"


def test_a_person_with_many_answers_counts_once():
    few = people_permutation([1, 2, 4, 5], list("aabb"), list("pqrs"))
    often = people_permutation([1] * 10 + [2, 4, 5], ["a"] * 11 + ["b"] * 2, ["p"] * 10 + list("qrs"))

    assert often.p_value == few.p_value


def test_the_opposite_order_reverses_the_sign_of_the_effect():
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
def test_too_little_data_is_undefined(answers, sides, people):
    assert isinstance(people_permutation(answers, list(sides), list(people)), Undefined)


def test_three_conditions_are_refused():
    with pytest.raises(InputError, match="two sides"):
        people_permutation([1, 2, 3], list("abc"), list("pqr"))


def test_sampled_permutations_never_give_a_p_value_of_zero():
    answers = [1.0] * 20 + [8.0] + [9.0] * 19
    people = [str(number) for number in range(40)]
    test = people_permutation(answers, ["a"] * 20 + ["b"] * 20, people, draws=99)

    assert (test.p_value, test.method) == (0.01, "permutation of people, 99 draws")


@pytest.mark.parametrize(("n", "m", "high", "seen"), [(5, 6, 5, 0), (30, 40, 12, 9), (200, 90, 30, 15)])
def test_two_kinds_of_people_are_tested_by_fishers_method_at_any_number(n, m, high, seen):
    answers = [1.0] * (high - seen) + [0.0] * (n - high + seen) + [1.0] * seen + [0.0] * (m - seen)
    test = people_permutation(answers, ["a"] * n + ["b"] * m, [str(place) for place in range(n + m)])

    law = scipy.stats.hypergeom(n + m, high, m)
    far = [k for k in range(high + 1) if abs(k / m - (high - k) / n) >= abs(seen / m - (high - seen) / n) - 1e-9]
    assert test.p_value == pytest.approx(sum(law.pmf(k) for k in far))
    assert test.method == "permutation of people, exact"


SCALE = ["never", "sometimes", "often", "always"]


def test_unused_points_count_zero():
    found = describe_answers(["often", "often", "never", None], categories=SCALE)

    assert found.counts == {"never": 1, "sometimes": 0, "often": 2, "always": 0}
    assert (found.n, found.missing) == (3, 1)
    assert (found.lower_quartile, found.median, found.upper_quartile) == ("never", "often", "often")
    assert found.top_two.value == pytest.approx(2 / 3)


def test_the_median_of_no_answers_is_undefined():
    found = describe_answers([None, None], categories=SCALE)

    assert (found.median, found.n, found.missing) == (None, 0, 2)
    assert isinstance(found.top_two, Undefined)


def test_people_with_several_answers_are_clusters():
    found = describe_answers(["always", "always", "never", "never"], categories=SCALE, clusters=["a", "a", "b", "b"])

    assert found.top_two.n_clusters == 2


def test_an_answer_outside_the_scale_is_refused():
    with pytest.raises(InputError, match=r"got .'rarely'.. Give the full scale"):
        describe_answers(["rarely"], categories=SCALE)


A, B, AB = {"a"}, {"b"}, {"a", "b"}

SETS = st.frozensets(st.sampled_from("abc"))


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        (A, A, 0),
        ((), (), 0),
        (A, B, 1),
        (A, (), 1),
        (A, AB, 1 - 1 / 2 * 2 / 3),
        (AB, {"b", "c"}, 1 - 1 / 3 * 1 / 3),
    ],
    ids=["same", "both empty", "nothing shared", "one empty", "one holds the other", "overlap"],
)
def test_distances_of_sets_are_the_published_ones(first, second, distance):
    assert masi_distance(first, second) == masi_distance(second, first) == pytest.approx(distance)


def test_alpha_equals_the_value_computed_by_hand():
    # Sets a, a, a, ab, b, b: within texts 2/3 + 2/3; all pairs: a-ab 3 x 2/3, a-b 6 x 1, ab-b 2 x 2/3, each twice.
    alpha = set_alpha([[A, A], [A, AB], [B, B]])

    assert isinstance(alpha, Estimate)
    assert alpha.value == pytest.approx(1 - 5 * (4 / 3) / (2 * (3 * 2 / 3 + 6 + 2 * 2 / 3)))
    assert alpha.n == 3
    assert alpha.low < alpha.value < alpha.high


@drawn(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=20))
def test_single_codes_give_nominal_alpha(pairs):
    ours = set_alpha([[{first}, {second}] for first, second in pairs])
    places = [[float("abc".index(pair[side])) for pair in pairs] for side in range(2)]
    theirs = krippendorff_alpha(places)

    assert isinstance(ours, Undefined) == isinstance(theirs, Undefined)
    if isinstance(ours, Estimate) and isinstance(theirs, Estimate):
        assert (ours.value, ours.low, ours.high) == pytest.approx((theirs.value, theirs.low, theirs.high))


@drawn(st.lists(st.tuples(SETS, SETS), min_size=2, max_size=12), st.randoms())
def test_neither_order_nor_naming_of_coders_matters(pairs, chance):
    mixed = [chance.sample(pair, 2) for pair in chance.sample(pairs, len(pairs))]
    ours, theirs = set_alpha(pairs), set_alpha(mixed)

    assert isinstance(ours, Undefined) == isinstance(theirs, Undefined)
    if isinstance(ours, Estimate) and isinstance(theirs, Estimate):
        assert ours.value == pytest.approx(theirs.value)
        assert ours.value <= 1


def test_texts_with_one_coder_are_excluded_and_clusters_are_removed_whole():
    texts = [[A, A], [B, AB], [A], [B, B], [A, A]]
    alone, together = set_alpha(texts), set_alpha(texts, clusters=["p", "p", "q", "q", "q"])

    assert (alone.n, together.n, together.n_clusters) == (4, 4, 2)
    assert alone.value == together.value


@pytest.mark.parametrize("texts", [[], [[A]], [[A, A], [A, A]]], ids=["none", "one coder", "all the same"])
def test_alpha_without_variation_is_undefined(texts):
    assert isinstance(set_alpha(texts), Undefined)
