"""Laws of comparisons and of plans."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theodolite.domain.estimate import Undefined
from theodolite.measurement.comparison import (
    adjust_p_values,
    cluster_permutation,
    mcnemar,
    newcombe_difference,
    newcombe_unpaired,
    non_inferiority,
    paired_difference,
    unpaired_difference,
)
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.sample_size import (
    detectable_difference,
    n_for_difference,
    n_for_flips,
    n_for_rate,
    n_for_zero_defects,
)

OF_COMPARISON = {
    "adjust_p_values",
    "cluster_permutation",
    "detectable_difference",
    "mcnemar",
    "n_for_difference",
    "n_for_flips",
    "n_for_rate",
    "n_for_zero_defects",
    "newcombe_difference",
    "newcombe_unpaired",
    "unpaired_difference",
    "non_inferiority",
    "paired_difference",
}
"""Measures whose laws stand here."""

FEW = settings(deadline=None, max_examples=40)
CASES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30)
COUNT = st.integers(0, 40)


def mirrored(one, other):
    assert one.value == pytest.approx(-other.value, abs=1e-12)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-12)


@given(cases=CASES, clustered=st.booleans())
@FEW
def test_swapping_the_order_negates_the_difference(cases, clustered):
    a, b = (list(column) for column in zip(*cases, strict=True))
    ids = [case % 3 for case in range(len(a))] if clustered else None

    one, other = paired_difference(a, b, clusters=ids), paired_difference(b, a, clusters=ids)

    if isinstance(one, Undefined) or one.low is None:
        assert type(one) is type(other)
    else:
        mirrored(one, other)
        assert one.low <= one.value <= one.high


@given(both=COUNT, only_a=COUNT, only_b=COUNT, neither=st.integers(1, 40))
@FEW
def test_newcombes_intervals_contain_the_difference_and_stay_in_range(both, only_a, only_b, neither):
    paired = newcombe_difference(both, only_a, only_b, neither)
    unpaired = newcombe_unpaired(only_a, only_a + neither, only_b, only_b + neither)

    for change in (paired, unpaired):
        assert -1.0 <= change.low <= change.value <= change.high <= 1.0
    mirrored(paired, newcombe_difference(both, only_b, only_a, neither))
    assert non_inferiority(paired, 1.01) is True


@given(only_a=COUNT, only_b=COUNT, method=st.sampled_from(["exact", "mid-p", "chi2", "chi2, corrected"]))
@FEW
def test_the_order_of_the_two_does_not_matter_to_a_test(only_a, only_b, method):
    one, other = mcnemar(only_a, only_b, method=method), mcnemar(only_b, only_a, method=method)

    assert one.p_value == pytest.approx(other.p_value)
    assert 0.0 <= one.p_value <= 1.0


@given(cases=CASES)
@FEW
def test_a_permutation_test_does_not_depend_on_the_order_of_names(cases):
    a, b = (list(column) for column in zip(*cases, strict=True))
    ids = [case % 5 for case in range(len(a))]

    one, other = cluster_permutation(a, b, ids), cluster_permutation(b, a, ids)

    assert one.p_value == other.p_value
    assert one.statistic == -other.statistic


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=12), method=st.sampled_from(["holm", "bh", "by", "bonferroni"]))
@FEW
def test_adjusting_preserves_the_order_and_never_lowers_a_p_value(p, method):
    adjusted = adjust_p_values(p, method=method)

    ranked = sorted(zip(p, adjusted, strict=True))
    assert [value for _, value in ranked] == sorted(adjusted)
    assert all(before <= after + 1e-12 <= 1.0 + 1e-12 for before, after in zip(p, adjusted, strict=True))


@given(size=st.floats(0.01, 0.5), variance=st.floats(0.01, 1.0), rate=st.floats(0.0, 1.0))
@FEW
def test_a_smaller_difference_needs_more_dialogues(size, variance, rate):
    assert n_for_difference(size / 2, variance) >= n_for_difference(size, variance)
    assert detectable_difference(200, variance) < detectable_difference(100, variance)
    assert n_for_rate(rate, size / 4) >= n_for_rate(rate, size / 2.1)
    assert n_for_zero_defects(size / 2) > n_for_zero_defects(size)
    assert n_for_flips(size, size / 4) <= n_for_flips(size, size / 2)


@given(only_a=COUNT, sound=st.integers(1, 40), only_b=COUNT, fine=st.integers(1, 40))
@FEW
def test_swapping_the_sides_negates_an_unpaired_difference(only_a, sound, only_b, fine):
    a, b = defect_rate(only_a, only_a + sound), defect_rate(only_b, only_b + fine)

    there = unpaired_difference(a, b)

    mirrored(there, unpaired_difference(b, a))
    assert -1.0 <= there.low <= there.value <= there.high <= 1.0
