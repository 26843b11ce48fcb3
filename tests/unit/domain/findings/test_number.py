"""Significance refuses what is no probability."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.findings.number import Significance


@pytest.mark.parametrize(("p_value", "statistic"), [(1.1, 0.0), (-0.1, 0.0), (0.5, float("nan"))])
def test_a_test_needs_a_probability_and_a_finite_statistic(p_value, statistic):
    with pytest.raises(InputError, match=r"a test needs a p-value of 0..1"):
        Significance(p_value=p_value, statistic=statistic, method="m", n=1)
