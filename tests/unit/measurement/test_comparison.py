"""Paired differences: pairs, clusters, margins."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import NO_DIFFERENCE, TOO_FEW_TESTERS_OF_ALL
from theodolite.measurement.comparison import (
    CLUSTERED_PAIRS,
    adjust_p_values,
    cluster_permutation,
    cochran_q,
    mcnemar,
    newcombe_difference,
    newcombe_unpaired,
    non_inferiority,
    paired_difference,
    unpaired_difference,
)
from theodolite.measurement.proportion import defect_rate, zero_defect_bound


def test_cases_missing_on_one_side_are_excluded():
    change = paired_difference([1, None, 0, 1], [0, 1, 0, float("nan")])

    assert (change.n, change.value) == (2, -0.5)


def test_binary_labels_get_newcombes_interval_and_scores_the_t_interval():
    assert paired_difference([1, 0, 1], [0, 0, 1]).method == "Newcombe, paired"
    assert paired_difference([1, 2, 4], [2, 2, 5]).method == "Student's t"


def test_pairing_narrows_the_interval():
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


def test_no_pair_and_a_single_cluster_are_undefined():
    assert isinstance(paired_difference([None], [1]), Undefined)
    assert isinstance(paired_difference([1, 0], [0, 0], clusters=["a", "a"]), Undefined)


def test_clusters_without_differences_have_an_interval_of_positive_width():
    change = paired_difference([1, 0, 1, 0], [1, 0, 1, 0], clusters=["a", "a", "b", "b"])

    assert (change.value, change.low) == (0.0, -change.high)
    assert 0.5 < change.high < 1.0
    assert non_inferiority(change, 0.1) is None


def test_no_flip_among_independent_cases_leaves_uncertainty():
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
def test_a_margin_is_ruled_out_met_or_undecided(counts, margin, better, answer):
    answer_now = non_inferiority(newcombe_difference(*counts), margin, better=better)

    assert answer_now is answer


def test_impossible_numbers_are_refused():
    with pytest.raises(InputError, match="must be results of the same cases; got 1 and 2"):
        paired_difference([1], [1, 2])
    with pytest.raises(InputError, match="needs a case at least"):
        newcombe_difference(0, 0, 0, 0)
    with pytest.raises(InputError, match="got 3 of 2"):
        newcombe_unpaired(3, 2, 1, 2)
    with pytest.raises(InputError, match="`margin` must be above 0"):
        non_inferiority(newcombe_difference(1, 1, 1, 1), 0)


def test_few_changes_in_one_direction_leave_uncertainty():
    a = [1] * 3 + [0] * 197
    ids = [case // 10 for case in range(200)]

    change = paired_difference(a, [0] * 200, clusters=ids)

    assert change.value == -0.015
    assert change.low < -0.05
    assert change.high >= change.value


def test_no_change_in_clusters_is_bounded_like_zero_defects():
    column, ids = [1, 0] * 1000, [case // 2 for case in range(2000)]

    change = paired_difference(column, column, clusters=ids)
    bound = zero_defect_bound(2000, clusters=[2] * 1000, confidence=0.975).value

    assert (change.value, change.low, change.high) == (0.0, pytest.approx(-bound), pytest.approx(bound))
    assert non_inferiority(change, 0.005) is True


def test_changes_spread_over_clusters_narrow_the_interval():
    a, ids = [0] * 200, [case // 20 for case in range(200)]
    none = paired_difference(a, a, clusters=ids)
    both_ways = [0] * 200
    before = [0] * 200
    for cluster in range(10):
        (both_ways if cluster % 2 else before)[20 * cluster] = 1

    spread = paired_difference(before, both_ways, clusters=ids)

    assert spread.value == 0.0
    assert spread.high < 0.75 * none.high


def test_changes_in_one_direction_extend_the_interval_on_the_side_of_the_longer_tail():
    a = [1] * 10 + [0] * 10 + [1] * 4 + [0] * 176
    change = paired_difference(a, [0] * 200, clusters=[case // 10 for case in range(200)])

    assert change.value - change.low > 1.2 * (change.high - change.value)


def test_a_constant_shift_has_an_interval_on_a_known_scale_only():
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


def test_a_scale_must_contain_the_scores():
    with pytest.raises(InputError, match="7 lies outside of 1 to 5"):
        paired_difference([1.0, 7.0], [1.0, 2.0], scale=(1, 5))
    with pytest.raises(InputError, match="lowest and the highest value"):
        paired_difference([1.0, 3.0], [1.0, 2.0], scale=(5, 1))


def test_scores_in_clusters_use_the_robust_error():
    change = paired_difference([1, 2, 3, 4], [2, 2, 5, 4], clusters="AABB")

    assert change.method == "cluster-robust, Student's t"


def test_two_wilson_intervals_combine_to_newcombes():
    change, known = unpaired_difference(defect_rate(48, 80), defect_rate(56, 70)), newcombe_unpaired(48, 80, 56, 70)

    assert (change.value, change.low, change.high) == pytest.approx((known.value, known.low, known.high))
    assert change.n == 150


def test_asymmetric_intervals_are_combined_side_by_side():
    first = Estimate(value=2, low=1, high=6, confidence=0.95, n=5, unit="turns", method="m")
    second = replace(first, value=10, low=7, high=14)

    change = unpaired_difference(first, second)

    # Down: arms 10 - 7 = 3 and 6 - 2 = 4; up: 14 - 10 = 4 and 2 - 1 = 1.
    assert (change.value, change.low, change.high) == pytest.approx((8, 3, 8 + 17**0.5))


def test_without_an_interval_on_one_side_the_difference_has_none():
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
def test_an_impossible_comparison_is_undefined_with_its_reason(second, why):
    change = unpaired_difference(defect_rate(2, 8), second)

    assert isinstance(change, Undefined)
    assert why in change.reason


@pytest.mark.parametrize("method", ["exact", "mid-p", "chi2", "chi2, corrected"])
def test_without_changes_the_p_value_is_1(method):
    result = mcnemar(0, 0, method=method)

    assert (result.p_value, result.n, result.effect) == (1.0, 0, None)


@pytest.mark.parametrize("method", ["exact", "mid-p", "chi2", "chi2, corrected"])
def test_more_one_sided_changes_have_a_smaller_p_value(method):
    values = [mcnemar(worse, 12 - worse, method=method).p_value for worse in (6, 4, 2, 0)]

    assert values == sorted(values, reverse=True)


def test_the_mid_p_value_is_below_the_exact_one():
    assert mcnemar(3, 9, method="mid-p").p_value < mcnemar(3, 9).p_value


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="`method` must be exact, mid-p, chi2"):
        mcnemar(1, 2, method="wald")


def test_complete_enumeration_gives_the_exact_p_value_of_mcnemar():
    a, b = [1] * 8 + [0] * 2 + [1] * 5, [0] * 8 + [1] * 2 + [1] * 5

    assert cluster_permutation(a, b, None).p_value == pytest.approx(mcnemar(8, 2).p_value)


def test_many_clusters_are_permuted_with_a_seed():
    rng = np.random.default_rng(5)
    a, b = rng.random(300).tolist(), (rng.random(300) + 0.05).tolist()
    ids = [case // 5 for case in range(300)]

    drawn = cluster_permutation(a, b, ids, seed=1)

    assert drawn == cluster_permutation(a, b, ids, seed=1)
    assert drawn.method == "permutation of clusters, 9999 drawn"
    assert (drawn.n_clusters, drawn.n) == (60, 300)
    assert 1e-4 <= drawn.p_value < 0.2


def test_equal_results_have_p_value_1_and_missing_results_are_undefined():
    assert cluster_permutation([1, 2], [1, 2], None).p_value == 1.0
    assert isinstance(cluster_permutation([None], [1], None), Undefined)


def alone(n):
    """Return a cluster for each set."""
    return [f"c{place}" for place in range(n)]


def by_formula(flags):
    """Return Cochran's Q as his paper writes it, by plain sums."""
    k, columns, rows = len(flags[0]), [sum(column) for column in zip(*flags, strict=True)], [sum(row) for row in flags]
    mean = sum(columns) / k
    above = k * (k - 1) * sum((total - mean) ** 2 for total in columns)
    return above / (k * sum(rows) - sum(total**2 for total in rows))


@pytest.mark.parametrize(
    "flags",
    [
        [(1, 1, 0), (1, 0, 0), (1, 1, 1), (0, 1, 0), (1, 1, 0), (1, 0, 1)],
        [(1, 0), (1, 0), (0, 1), (1, 0), (1, 1), (0, 0)],
        [row for row in product((0, 1), repeat=4) if row[0] >= row[3]],
    ],
)
def test_singleton_clusters_give_the_statistic_of_the_formula(flags):
    assert cochran_q(flags, alone(len(flags))).statistic == pytest.approx(by_formula(flags))


def test_two_conditions_give_the_statistic_of_mcnemar():
    test = cochran_q([(1, 0)] * 15 + [(0, 1)] * 5 + [(1, 1)] * 9, alone(29))

    assert test.statistic == pytest.approx((15 - 5) ** 2 / (15 + 5))
    assert (test.degrees, test.n, test.effect) == (1, 29, pytest.approx(10 / 29))


def test_sampled_permutations_approximate_the_enumeration():
    flags = [(1, 0)] * 6 + [(0, 1)]
    ways = [abs(sum(signs)) >= 5 for signs in product((1, -1), repeat=7)]

    assert cochran_q(flags, alone(7)).p_value == pytest.approx(sum(ways) / len(ways), abs=0.03)


def test_many_testers_use_the_asymptotic_distribution(monkeypatch):
    flags = [(1, 0, 0)] * 8 + [(0, 1, 0)] * 5 + [(0, 0, 1)] * 3
    drawn = cochran_q(flags, alone(16))
    monkeypatch.setattr("theodolite.measurement.comparison.MANY", 2)
    many = cochran_q(flags, alone(16))

    assert (drawn.statistic, many.method) == (many.statistic, "Cochran's Q, chi-square")
    assert many.p_value == pytest.approx(drawn.p_value, abs=0.05)


def test_repeats_of_one_tester_count_as_one_observation():
    apart = cochran_q([(1, 0)] * 12, alone(12))
    same = cochran_q([(1, 0)] * 12, [f"c{place // 4}" for place in range(12)])

    assert (apart.n_clusters, same.n_clusters) == (12, 3)
    assert apart.p_value < 0.01
    assert same.p_value > 0.2


@pytest.mark.parametrize(
    ("flags", "reason"),
    [([], TOO_FEW_TESTERS_OF_ALL), ([(1, 0)], TOO_FEW_TESTERS_OF_ALL), ([(1, 1), (0, 0)], NO_DIFFERENCE)],
    ids=["none", "one", "all alike"],
)
def test_an_undefined_test_states_why(flags, reason):
    assert cochran_q(flags, alone(len(flags))) == Undefined(
        reason=reason, n=len(flags), n_clusters=len(flags), method="Cochran's Q"
    )


@pytest.mark.parametrize(("flags", "clusters"), [([(1, 0)], []), ([(1,)], ["a"])])
def test_the_test_needs_clusters_and_two_conditions(flags, clusters):
    with pytest.raises(InputError, match="two things or more"):
        cochran_q(flags, clusters)


@pytest.mark.parametrize("method", ["holm", "bh", "by", "bonferroni"])
def test_one_comparison_is_unchanged_and_none_gives_none(method):
    assert adjust_p_values([0.03], method=method) == (0.03,)
    assert adjust_p_values([], method=method) == ()


def test_invalid_p_values_are_reported():
    with pytest.raises(InputError, match=r"p-values must be fractions; got \[1.5\]"):
        adjust_p_values([0.5, 1.5])


def test_an_unknown_adjustment_is_refused():
    with pytest.raises(InputError, match="`method` must be holm, bh, by or bonferroni; got 'sidak'"):
        adjust_p_values([0.5], method="sidak")
