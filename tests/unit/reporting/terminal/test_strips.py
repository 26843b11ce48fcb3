import pytest

from tests.unit.reporting.found.test_strips import rate
from theodolite.reporting.found.strips import Strip, strip_of
from theodolite.reporting.terminal.strips import PLAIN_PEN, strip_text


@pytest.mark.parametrize(
    ("low", "value", "high", "drawn"),
    [(0.322, 0.38, 0.442, "...#-.."), (0.102, 0.14, 0.188, "-#....."), (0.571, 0.64, 0.703, ".....#-")],
)
def test_a_strip_shows_rate_and_interval_on_the_axis(low, value, high, drawn):
    strip = strip_of(rate(low, value, high), 0.75)

    assert strip_text(strip, cells=7, pen=PLAIN_PEN) == drawn


def test_no_defects_are_drawn_as_an_open_mark():
    strip = Strip(low=0, value=0, high=0.02, is_zero=True)

    assert strip_text(strip, cells=7, pen=PLAIN_PEN) == "o......"
