"""Paired differences: pairs, clusters, margins."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import newcombe_difference, newcombe_unpaired, non_inferiority, paired_difference


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
    assert (together.n_clusters, together.method) == (8, "Newcombe, paired, over clusters")
    assert together.design_effect > 3


def test_no_pair_is_undefined_and_one_cluster_too():
    assert isinstance(paired_difference([None], [1]), Undefined)
    assert isinstance(paired_difference([1, 0], [0, 0], clusters=["a", "a"]), Undefined)


def test_clusters_in_which_nothing_differs_claim_no_certainty():
    change = paired_difference([1, 0, 1, 0], [1, 0, 1, 0], clusters=["a", "a", "b", "b"])

    assert (change.value, change.low, change.high) == (0.0, None, None)
    assert "no case differs" in change.method
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


def test_no_change_in_clusters_has_no_interval():
    assert paired_difference([1, 0] * 20, [1, 0] * 20, clusters=[case // 4 for case in range(40)]).low is None


def test_scores_in_clusters_keep_the_robust_error():
    change = paired_difference([1, 2, 3, 4], [2, 2, 5, 4], clusters="AABB")

    assert change.method == "cluster-robust, Student's t"
