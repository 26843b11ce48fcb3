"""Paired differences: pairs, clusters, margins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement import (
    defect_rate,
    newcombe_difference,
    newcombe_unpaired,
    non_inferiority,
    paired_difference,
    zero_defect_bound,
)
from theodolite.measurement.comparison.paired import CLUSTERED_PAIRS, unpaired_difference


def test_cases_that_one_lacks_are_left_out():
    change = paired_difference([1, None, 0, 1], [0, 1, 0, float("nan")])

    assert (change.n, change.value) == (2, -0.5)


def test_yes_and_no_get_newcombes_interval_and_scores_the_t_interval():
    assert paired_difference([1, 0, 1], [0, 0, 1]).method == "Newcombe, paired"
    assert paired_difference([1, 2, 4], [2, 2, 5]).method == "Student's t"


def test_pairs_tell_more_than_two_means():
    rng = np.random.default_rng(0)
    hard = rng.normal(size=100)
    a, b = hard + 0.1 * rng.normal(size=100), hard + 0.2 + 0.1 * rng.normal(size=100)

    change = paired_difference(a.tolist(), b.tolist())

    assert change.low < 0.2 < change.high
    assert change.high - change.low < 0.1


def test_clusters_widen_the_interval_and_are_counted():
    a = [0] * 40
    b = [1] * 10 + [0] * 30
    ids = [case // 5 for case in range(40)]

    alone, together = paired_difference(a, b), paired_difference(a, b, clusters=ids)

    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert (together.n_clusters, together.method) == (8, CLUSTERED_PAIRS)
    assert together.design_effect > 3


def test_no_pair_is_undefined_and_one_cluster_too():
    assert isinstance(paired_difference([None], [1]), Undefined)
    assert isinstance(paired_difference([1, 0], [0, 0], clusters=["a", "a"]), Undefined)


def test_clusters_in_which_nothing_differs_claim_no_certainty():
    change = paired_difference([1, 0, 1, 0], [1, 0, 1, 0], clusters=["a", "a", "b", "b"])

    assert (change.value, change.low) == (0.0, -change.high)
    assert 0.5 < change.high < 1.0
    assert non_inferiority(change, 0.1) is None


def test_no_flip_among_independent_cases_still_leaves_room():
    change = newcombe_difference(0, 0, 0, 100)

    assert change.low < 0 < change.high < 0.05


@pytest.mark.parametrize(
    ("counts", "margin", "better", "answer"),
    [
        ((0, 40, 10, 450), 0.05, "lower", True),
        ((0, 60, 10, 430), 0.05, "higher", False),
        ((0, 10, 60, 430), 0.05, "lower", False),
        ((0, 20, 22, 58), 0.05, "lower", None),
    ],
    ids=["better", "worse, as higher is better", "worse", "open"],
)
def test_a_margin_is_ruled_out_passed_or_left_open(counts, margin, better, answer):
    answer_now = non_inferiority(newcombe_difference(*counts), margin, better=better)

    assert answer_now is answer


def test_numbers_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="must be results of the same cases; got 1 and 2"):
        paired_difference([1], [1, 2])
    with pytest.raises(InputError, match="needs a case at least"):
        newcombe_difference(0, 0, 0, 0)
    with pytest.raises(InputError, match="got 3 of 2"):
        newcombe_unpaired(3, 2, 1, 2)
    with pytest.raises(InputError, match="`margin` must be above 0"):
        non_inferiority(newcombe_difference(1, 1, 1, 1), 0)


def test_few_changes_in_one_direction_leave_room_for_more_of_them():
    a = [1] * 3 + [0] * 197
    ids = [case // 10 for case in range(200)]

    change = paired_difference(a, [0] * 200, clusters=ids)

    assert change.value == -0.015
    assert change.low < -0.05
    assert change.high >= change.value


def test_no_change_in_clusters_leaves_room_for_as_many_as_the_bound_of_none():
    column, ids = [1, 0] * 1000, [case // 2 for case in range(2000)]

    change = paired_difference(column, column, clusters=ids)
    bound = zero_defect_bound(2000, clusters=[2] * 1000, confidence=0.975).value

    assert (change.value, change.low, change.high) == (0.0, pytest.approx(-bound), pytest.approx(bound))
    assert non_inferiority(change, 0.005) is True


def test_changes_that_are_spread_over_clusters_tell_that_these_differ_little():
    a, ids = [0] * 200, [case // 20 for case in range(200)]
    none = paired_difference(a, a, clusters=ids)
    both_ways = [0] * 200
    before = [0] * 200
    for cluster in range(10):
        (both_ways if cluster % 2 else before)[20 * cluster] = 1

    spread = paired_difference(before, both_ways, clusters=ids)

    assert spread.value == 0.0
    assert spread.high < 0.75 * none.high


def test_changes_in_one_direction_reach_further_on_the_side_of_the_longer_tail():
    a = [1] * 10 + [0] * 10 + [1] * 4 + [0] * 176
    change = paired_difference(a, [0] * 200, clusters=[case // 10 for case in range(200)])

    assert change.value - change.low > 1.2 * (change.high - change.value)


def test_a_shift_that_is_the_same_for_all_cases_has_an_interval_on_a_known_scale_alone():
    known = paired_difference([3.0] * 15, [4.0] * 15, scale=(1, 5))
    unknown = paired_difference([3.0] * 15, [4.0] * 15)

    other = 1 - 0.025 ** (1 / 15)
    assert (known.low, known.high) == (pytest.approx(1 - 5 * other), pytest.approx(1 + 3 * other))
    assert (unknown.value, unknown.low, unknown.high) == (1.0, None, None)
    assert "no interval without the ends of the scale" in unknown.method


def test_equal_scores_pass_a_margin_on_a_known_scale():
    scores = [float(1 + case % 5) for case in range(300)]

    assert non_inferiority(paired_difference(scores, scores, scale=(1, 5)), 0.1) is True


@pytest.mark.parametrize("clusters", [None, "AABB"])
def test_infinite_scores_are_refused(clusters):
    with pytest.raises(InputError, match=r"`a` must hold finite numbers; 1 of 4 .* \(inf\) at position 1"):
        paired_difference([1, float("inf"), 2, 3], [1, 2, 3, 4], clusters=clusters)


def test_a_scale_must_hold_the_scores():
    with pytest.raises(InputError, match="7 lies outside of 1 to 5"):
        paired_difference([1.0, 7.0], [1.0, 2.0], scale=(1, 5))
    with pytest.raises(InputError, match="lowest and the highest value"):
        paired_difference([1.0, 3.0], [1.0, 2.0], scale=(5, 1))


def test_scores_in_clusters_keep_the_robust_error():
    change = paired_difference([1, 2, 3, 4], [2, 2, 5, 4], clusters="AABB")

    assert change.method == "cluster-robust, Student's t"


def test_of_two_wilson_intervals_it_is_newcombes():
    change, known = unpaired_difference(defect_rate(48, 80), defect_rate(56, 70)), newcombe_unpaired(48, 80, 56, 70)

    assert (change.value, change.low, change.high) == pytest.approx((known.value, known.low, known.high))
    assert change.n == 150


def test_intervals_that_are_not_symmetric_are_added_by_their_own_arms():
    first = Estimate(value=2, low=1, high=6, confidence=0.95, n=5, unit="turns", method="m")
    second = replace(first, value=10, low=7, high=14)

    change = unpaired_difference(first, second)

    # Down: arms 10 - 7 = 3 and 6 - 2 = 4; up: 14 - 10 = 4 and 2 - 1 = 1.
    assert (change.value, change.low, change.high) == pytest.approx((8, 3, 8 + 17**0.5))


def test_a_number_without_interval_leaves_the_difference_without_one():
    change = unpaired_difference(defect_rate(2, 8), replace(defect_rate(2, 4), low=None, high=None))

    assert (change.value, change.low, change.high) == (0.25, None, None)


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (Undefined(reason="Nothing.", n=1, unit="fraction of dialogues"), "no value"),
        (replace(defect_rate(1, 4), unit="turns"), "unit"),
        (defect_rate(1, 4, confidence=0.9), "confidence"),
    ],
    ids=["undefined", "other unit", "other confidence"],
)
def test_what_cannot_be_compared_is_undefined_and_says_why(second, why):
    change = unpaired_difference(defect_rate(2, 8), second)

    assert isinstance(change, Undefined)
    assert why in change.reason
