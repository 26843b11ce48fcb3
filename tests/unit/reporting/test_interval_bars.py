from dataclasses import replace

import pytest

from tests.fakes.report import evidence_named, findings_named
from theodolite.domain.estimate import Estimate
from theodolite.reporting.interval_bars import PLAIN_PEN, IntervalBar, axis_end, bar_of, bar_text
from theodolite.reporting.queries.rates import rates_of


def rate(low, value, high):
    plain = rates_of(findings_named("live"), evidence_named("live").study)[0]
    result = Estimate(value=value, low=low, high=high, confidence=0.95, n=100, unit="fraction", method="wilson")
    return replace(plain, measurement=replace(plain.measurement, result=result))


@pytest.mark.parametrize(("high", "end"), [(0.03, 0.05), (0.44, 0.5), (0.703, 0.75), (1.0, 1.0)])
def test_the_axis_ends_at_the_next_round_number(high, end):
    assert axis_end([rate(0.0, 0.01, high)]) == end


def test_an_axis_without_rates_has_an_end_too():
    assert axis_end([]) == 0.05


@pytest.mark.parametrize(
    ("low", "value", "high", "drawn"),
    [(0.322, 0.38, 0.442, "...#-.."), (0.102, 0.14, 0.188, "-#....."), (0.571, 0.64, 0.703, ".....#-")],
)
def test_a_bar_shows_rate_and_interval_on_the_axis(low, value, high, drawn):
    bar = bar_of(rate(low, value, high), 0.75)

    assert bar_text(bar, cells=7, pen=PLAIN_PEN) == drawn


def test_no_defects_are_drawn_as_an_open_mark():
    bar = IntervalBar(low=0, value=0, high=0.02, is_zero=True)

    assert bar_text(bar, cells=7, pen=PLAIN_PEN) == "o......"


def test_the_page_draws_a_bar_between_both_ends_of_the_axis():
    assert IntervalBar(low=0.0, value=0.5, high=1.0, is_zero=False).x == (4.0, 50.0, 96.0)
