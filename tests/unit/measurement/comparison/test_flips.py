"""Tests on the cases that changed."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import cluster_permutation, mcnemar


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


def test_false_alarms_are_as_rare_as_promised_where_cases_resemble_each_other():
    rng = np.random.default_rng(9)
    ids = [case // 10 for case in range(100)]
    alarms = 0
    for _ in range(300):
        shift = np.repeat(rng.normal(size=10), 10)
        a = rng.normal(size=100)
        alarms += cluster_permutation(a.tolist(), (a + shift).tolist(), ids).p_value <= 0.05

    assert alarms <= 27


def test_the_same_results_are_no_surprise_and_no_results_are_undefined():
    assert cluster_permutation([1, 2], [1, 2], None).p_value == 1.0
    assert isinstance(cluster_permutation([None], [1], None), Undefined)
