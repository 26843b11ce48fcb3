from dataclasses import replace

import pytest

from tests.fakes.report import evidence_named, findings_named
from theodolite.domain.estimate import Estimate
from theodolite.reporting.found.rates import rates_of
from theodolite.reporting.found.strips import axis_end


def rate(low, value, high):
    plain = rates_of(findings_named("live"), evidence_named("live").study)[0]
    result = Estimate(value=value, low=low, high=high, confidence=0.95, n=100, unit="fraction", method="wilson")
    return replace(plain, measurement=replace(plain.measurement, result=result))


@pytest.mark.parametrize(("high", "end"), [(0.03, 0.05), (0.44, 0.5), (0.703, 0.75), (1.0, 1.0)])
def test_the_axis_ends_at_the_next_round_number(high, end):
    assert axis_end([rate(0.0, 0.01, high)]) == end


def test_an_axis_without_rates_has_an_end_all_the_same():
    assert axis_end([]) == 0.05
