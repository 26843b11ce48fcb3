"""How many dialogues a question needs."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement import (
    defect_rate,
    detectable_difference,
    n_for_difference,
    n_for_flips,
    n_for_rate,
    n_for_zero_defects,
    zero_defect_bound,
)


def test_clusters_that_resemble_each_other_need_more_cases():
    alone = n_for_difference(0.03, 1 / 9)

    assert n_for_difference(0.03, 1 / 9, cluster_size=25, correlation=0.1) == pytest.approx(3.4 * alone, abs=2)


def test_the_number_for_a_difference_is_the_one_that_detects_it():
    n = n_for_difference(0.05, 0.2)

    assert detectable_difference(n, 0.2) <= 0.05 < detectable_difference(n - 1, 0.2)


@pytest.mark.parametrize("rate", [0.0, 0.03, 0.5])
def test_the_number_for_a_rate_is_the_first_whose_interval_is_narrow_enough(rate):
    n = n_for_rate(rate, 0.03)

    found = defect_rate(round(rate * n), n)
    assert (found.high - found.low) / 2 == pytest.approx(0.03, abs=1.5e-3)
    assert n_for_rate(rate, 0.02) > n


@pytest.mark.parametrize("size", [1, 10, 25])
def test_so_many_dialogues_without_a_defect_rule_the_rate_out_and_fewer_do_not(size):
    n = n_for_zero_defects(0.02, cluster_size=size)

    def bound(dialogues):
        return zero_defect_bound(dialogues, clusters=[size] * (dialogues // size)).value

    assert n % size == 0
    assert bound(n) <= 0.02 < bound(n - size)


def test_clusters_need_more_dialogues_than_independent_ones_for_the_same_claim():
    assert n_for_zero_defects(0.03) == 99
    assert n_for_zero_defects(0.03, cluster_size=5) > 99
    assert n_for_zero_defects(0.03, cluster_size=2) > 99


def test_a_claim_that_no_number_of_clusters_can_support_is_refused():
    with pytest.raises(InputError, match=r"no claim of"):
        n_for_zero_defects(1e-7, cluster_size=10)


@pytest.mark.parametrize(
    "plan",
    [
        lambda: n_for_difference(0, 1),
        lambda: n_for_difference(0.1, 1, cluster_size=0.5),
        lambda: n_for_difference(0.1, 1, power=1.0),
        lambda: detectable_difference(0, 1),
        lambda: n_for_flips(0.1, 0.1),
        lambda: n_for_flips(0.7, 0.6),
        lambda: n_for_rate(1.2, 0.1),
        lambda: n_for_rate(0.2, 0.5),
        lambda: n_for_zero_defects(0.0),
        lambda: n_for_zero_defects(0.1, cluster_size=0),
    ],
)
def test_questions_that_cannot_be_are_refused(plan):
    with pytest.raises(InputError, match=r"must be|fractions"):
        plan()
