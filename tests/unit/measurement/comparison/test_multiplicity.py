"""P-values of several comparisons at once."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement import adjust_p_values


@pytest.mark.parametrize("method", ["holm", "bh", "by", "bonferroni"])
def test_one_comparison_is_not_adjusted_and_none_is_none(method):
    assert adjust_p_values([0.03], method=method) == (0.03,)
    assert adjust_p_values([], method=method) == ()


def test_p_values_are_named_where_they_are_none():
    with pytest.raises(InputError, match=r"p-values must be fractions; got \[1.5\]"):
        adjust_p_values([0.5, 1.5])


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="`method` must be holm, bh, by or bonferroni; got 'sidak'"):
        adjust_p_values([0.5], method="sidak")
