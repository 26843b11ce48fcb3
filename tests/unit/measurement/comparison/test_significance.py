"""Tests on the cases that changed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import adjust_p_values, cluster_permutation, mcnemar
from theodolite.measurement.comparison.significance import ALIKE, TOO_FEW, told_apart


@pytest.mark.parametrize("method", ["exact", "mid-p", "chi2", "chi2, corrected"])
def test_nothing_changed_is_no_surprise(method):
    result = mcnemar(0, 0, method=method)

    assert (result.p_value, result.n, result.effect) == (1.0, 0, None)


@pytest.mark.parametrize("method", ["exact", "mid-p", "chi2", "chi2, corrected"])
def test_the_more_one_sided_the_changes_the_smaller_the_p_value(method):
    values = [mcnemar(worse, 12 - worse, method=method).p_value for worse in (6, 4, 2, 0)]

    assert values == sorted(values, reverse=True)


def test_the_middle_p_value_lies_below_the_exact_one():
    assert mcnemar(3, 9, method="mid-p").p_value < mcnemar(3, 9).p_value


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="`method` must be exact, mid-p, chi2"):
        mcnemar(1, 2, method="wald")


def test_all_ways_to_name_few_clusters_give_the_exact_p_value_of_mcnemar():
    a, b = [1] * 8 + [0] * 2 + [1] * 5, [0] * 8 + [1] * 2 + [1] * 5

    assert cluster_permutation(a, b, None).p_value == pytest.approx(mcnemar(8, 2).p_value)


def test_many_clusters_are_drawn_with_a_seed():
    rng = np.random.default_rng(5)
    a, b = rng.random(300).tolist(), (rng.random(300) + 0.05).tolist()
    ids = [case // 5 for case in range(300)]

    drawn = cluster_permutation(a, b, ids, seed=1)

    assert drawn == cluster_permutation(a, b, ids, seed=1)
    assert drawn.method == "permutation of clusters, 9999 drawn"
    assert (drawn.n_clusters, drawn.n) == (60, 300)
    assert 1e-4 <= drawn.p_value < 0.2


def test_the_same_results_are_no_surprise_and_no_results_are_undefined():
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
def test_sets_of_their_own_give_the_statistic_of_the_formula(flags):
    assert told_apart(flags, alone(len(flags))).statistic == pytest.approx(by_formula(flags))


def test_two_things_give_the_statistic_of_mcnemar():
    test = told_apart([(1, 0)] * 15 + [(0, 1)] * 5 + [(1, 1)] * 9, alone(29))

    assert test.statistic == pytest.approx((15 - 5) ** 2 / (15 + 5))
    assert (test.degrees, test.n, test.effect) == (1, 29, pytest.approx(10 / 29))


def test_drawn_arrangements_come_close_to_all_of_them():
    flags = [(1, 0)] * 6 + [(0, 1)]
    ways = [abs(sum(signs)) >= 5 for signs in product((1, -1), repeat=7)]

    assert told_apart(flags, alone(7)).p_value == pytest.approx(sum(ways) / len(ways), abs=0.03)


def test_many_testers_are_compared_with_the_distribution(monkeypatch):
    flags = [(1, 0, 0)] * 8 + [(0, 1, 0)] * 5 + [(0, 0, 1)] * 3
    drawn = told_apart(flags, alone(16))
    monkeypatch.setattr("theodolite.measurement.comparison.significance.MANY", 2)
    many = told_apart(flags, alone(16))

    assert (drawn.statistic, many.method) == (many.statistic, "Cochran's Q, chi-square")
    assert many.p_value == pytest.approx(drawn.p_value, abs=0.05)


def test_repeats_of_one_tester_are_one_piece_of_evidence():
    apart = told_apart([(1, 0)] * 12, alone(12))
    same = told_apart([(1, 0)] * 12, [f"c{place // 4}" for place in range(12)])

    assert (apart.n_clusters, same.n_clusters) == (12, 3)
    assert apart.p_value < 0.01
    assert same.p_value > 0.2


@pytest.mark.parametrize(
    ("flags", "reason"),
    [([], TOO_FEW), ([(1, 0)], TOO_FEW), ([(1, 1), (0, 0)], ALIKE)],
    ids=["none", "one", "all alike"],
)
def test_where_nothing_can_be_told_it_says_why(flags, reason):
    assert told_apart(flags, alone(len(flags))) == Undefined(
        reason=reason, n=len(flags), n_clusters=len(flags), method="Cochran's Q"
    )


@pytest.mark.parametrize(("flags", "clusters"), [([(1, 0)], []), ([(1,)], ["a"])])
def test_sets_need_clusters_and_two_things(flags, clusters):
    with pytest.raises(InputError, match="two things or more"):
        told_apart(flags, clusters)


@pytest.mark.parametrize("method", ["holm", "bh", "by", "bonferroni"])
def test_one_comparison_is_not_adjusted_and_none_is_none(method):
    assert adjust_p_values([0.03], method=method) == (0.03,)
    assert adjust_p_values([], method=method) == ()


def test_p_values_are_named_where_they_are_none():
    with pytest.raises(InputError, match=r"p-values must be fractions; got \[1.5\]"):
        adjust_p_values([0.5, 1.5])


def test_an_unknown_adjustment_is_refused():
    with pytest.raises(InputError, match="`method` must be holm, bh, by or bonferroni; got 'sidak'"):
        adjust_p_values([0.5], method="sidak")
