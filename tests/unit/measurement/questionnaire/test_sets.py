from __future__ import annotations

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement import krippendorff_alpha
from theodolite.measurement.questionnaire.sets import masi_distance, set_alpha

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
def test_sets_are_as_far_apart_as_published(first, second, distance):
    assert masi_distance(first, second) == masi_distance(second, first) == pytest.approx(distance)


def test_alpha_by_hand():
    # Sets a, a, a, ab, b, b: within texts 2/3 + 2/3; all pairs: a-ab 3 x 2/3, a-b 6 x 1, ab-b 2 x 2/3, each twice.
    alpha = set_alpha([[A, A], [A, AB], [B, B]])

    assert isinstance(alpha, Estimate)
    assert alpha.value == pytest.approx(1 - 5 * (4 / 3) / (2 * (3 * 2 / 3 + 6 + 2 * 2 / 3)))
    assert alpha.n == 3
    assert alpha.low < alpha.value < alpha.high


@drawn(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=20))
def test_one_code_each_makes_it_nominal_alpha(pairs):
    ours = set_alpha([[{first}, {second}] for first, second in pairs])
    places = [[float("abc".index(pair[side])) for pair in pairs] for side in range(2)]
    theirs = krippendorff_alpha(places)

    assert isinstance(ours, Undefined) == isinstance(theirs, Undefined)
    if isinstance(ours, Estimate) and isinstance(theirs, Estimate):
        assert (ours.value, ours.low, ours.high) == pytest.approx((theirs.value, theirs.low, theirs.high))


@drawn(st.lists(st.tuples(SETS, SETS), min_size=2, max_size=12), st.randoms())
def test_neither_order_nor_who_is_first_matters(pairs, chance):
    mixed = [chance.sample(pair, 2) for pair in chance.sample(pairs, len(pairs))]
    ours, theirs = set_alpha(pairs), set_alpha(mixed)

    assert isinstance(ours, Undefined) == isinstance(theirs, Undefined)
    if isinstance(ours, Estimate) and isinstance(theirs, Estimate):
        assert ours.value == pytest.approx(theirs.value)
        assert ours.value <= 1


def test_texts_of_one_coder_are_left_out_and_clusters_are_left_out_whole():
    texts = [[A, A], [B, AB], [A], [B, B], [A, A]]
    alone, together = set_alpha(texts), set_alpha(texts, clusters=["p", "p", "q", "q", "q"])

    assert (alone.n, together.n, together.n_clusters) == (4, 4, 2)
    assert alone.value == together.value


@pytest.mark.parametrize("texts", [[], [[A]], [[A, A], [A, A]]], ids=["none", "one coder", "all the same"])
def test_it_is_undefined_where_nothing_can_differ(texts):
    assert isinstance(set_alpha(texts), Undefined)
