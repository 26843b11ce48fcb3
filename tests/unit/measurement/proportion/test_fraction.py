"""Means of fractions and their exact interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from benchmarks.simulate_intervals import labels_of_a_pool
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.interval import clopper_pearson
from theodolite.measurement.proportion import (
    _codes,
    _variance,
    defect_rate,
    mean_fraction,
    pass_hat_k,
    pooled_defect_rate,
)


def mean(values, clusters=None):
    return mean_fraction(values, clusters=clusters, unit="u", confidence=0.95, otherwise="nothing")


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_without_variation_the_exact_interval_for_the_number_of_clusters_applies(value):
    found = mean([value] * 40, clusters=[place // 4 for place in range(40)])

    assert (found.low, found.high) == pytest.approx(clopper_pearson(int(10 * value), 10, 0.95))


def test_independent_binary_labels_give_nearly_the_exact_interval():
    found = mean([1.0] * 30 + [0.0] * 170)

    assert (found.low, found.high) == pytest.approx(clopper_pearson(30, 200, 0.95), abs=2e-3)


def test_missing_attempts_are_not_failures():
    assert pass_hat_k([[True, None, True], [True, None, None]], 2).n == 1


def test_a_higher_number_of_required_successes_lowers_the_rate():
    tasks = [[True, True, False, True], [True] * 4, [False] * 4]

    values = [pass_hat_k(tasks, k).value for k in (1, 2, 3, 4)]

    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(1 / 3)


def test_tasks_with_too_few_attempts_leave_it_undefined():
    result = pass_hat_k([[True]], 2)

    assert isinstance(result, Undefined)
    assert result.reason == "No task was tried 2 times."


def test_zero_attempts_are_refused():
    with pytest.raises(InputError, match="`k` must be at least 1 try; got 0"):
        pass_hat_k([[True]], 0)


def test_each_dialogue_counts_once_regardless_of_its_labels():
    rate = pooled_defect_rate(["a", "a", "a", "b"], ["x", "y", "z", "x"], [True, True, True, False])

    assert (rate.value, rate.n) == (0.5, 2)


def test_the_variance_equals_an_independent_implementation():
    dialogues, people, defects = labels_of_a_pool(
        np.random.default_rng(3), dialogues=60, people=12, labels=2, severity=1.0, level=-1.0
    )
    flags = np.array(defects, dtype=float)
    fit = sm.OLS(flags, np.ones_like(flags)).fit()
    both, first, second = cov_cluster_2groups(fit, np.array(dialogues), np.array(people), use_correction=False)
    shares = (flags - flags.mean()) / len(flags)

    ours = [_variance(shares, _codes(ids)) * (n - 1) / n for ids in (dialogues, people) for n in [len(set(ids))]]
    pairs = _codes(list(zip(dialogues, people, strict=True)))
    together = sum(ours) - _variance(shares, pairs) * (len(set(pairs)) - 1) / len(set(pairs))

    assert ours == pytest.approx([first.item(), second.item()])
    assert together == pytest.approx(both.item())


def test_disagreement_among_people_widens_the_interval():
    dialogues = [d for d in range(40) for _ in range(2)]
    agree = [d % 4 == 0 for d in range(40) for _ in range(2)]
    split = [d % 2 == 0 and person == 0 for d in range(40) for person in range(2)]
    people = [p for _ in range(40) for p in ("strict", "mild")]

    same, apart = (pooled_defect_rate(dialogues, people, flags) for flags in (agree, split))

    assert same.value == apart.value == 0.25
    assert apart.high - apart.low > same.high - same.low


@pytest.mark.parametrize("flag", [True, False])
def test_labels_without_any_variation_have_the_interval_of_a_rate(flag):
    rate = pooled_defect_rate(["a", "a", "b", "c"], ["x", "y", "x", None], [flag] * 4)

    assert rate == defect_rate(3 * flag, 3)


def test_final_labels_belong_to_no_annotator():
    dialogues = list(range(50))
    flags = [d % 5 == 0 for d in dialogues]

    final = pooled_defect_rate(dialogues, [None] * 50, flags)
    clustered = pooled_defect_rate(dialogues, [None] * 50, flags, clusters=[d // 5 for d in dialogues])

    assert final.value == pytest.approx(0.2)
    assert math.isfinite(final.low)
    assert (clustered.n, clustered.n_clusters) == (50, 10)


def test_a_dialogue_without_a_cluster_is_its_own_cluster():
    rate = pooled_defect_rate(
        ["a", "a", "b", "c"], ["x", "y", "x", "y"], [True, False, True, False], clusters=[None] * 4
    )

    assert rate.n_clusters == 3


def test_without_labels_there_is_no_rate_and_columns_have_equal_length():
    assert isinstance(pooled_defect_rate([], [], []), Undefined)
    with pytest.raises(InputError, match="one entry for each label; got 1, 2 and 1"):
        pooled_defect_rate(["a"], ["x", "y"], [True])
