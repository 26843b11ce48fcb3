"""Interval bars: a value and its interval on an axis, for the page and for the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from theodolite.reporting.queries.rates import Rate

_STEPS = {0.05: 0.01, 0.10: 0.02, 0.25: 0.05, 0.50: 0.10, 0.75: 0.25, 1.0: 0.25}
"""End of an axis and the distance of its ticks; fractions."""

_LEFT, _WIDTH = 4.0, 92.0
"""Left end and width of the axis in the drawing of the page; percent of the drawing's width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalBar:
    """A value and its interval as fractions of an axis, 0 to 1.

    Attributes:
        low: Lower end of the interval.
        value: The value.
        high: Upper end of the interval.
        is_zero: Whether the interval is an upper bound because no defect was found.
        marks: Positions of the ticks of the axis.
    """

    low: float
    value: float
    high: float
    is_zero: bool
    marks: tuple[float, ...] = (0.0, 1.0)

    @property
    def x(self) -> tuple[float, float, float]:
        """Low end, value and high end, in percent of the drawing's width."""
        return _x(self.low), _x(self.value), _x(self.high)

    @property
    def ticks(self) -> tuple[float, ...]:
        """The ticks, in percent of the drawing's width."""
        return tuple(_x(mark) for mark in self.marks)


def _x(at: float) -> float:
    return round(_LEFT + at * _WIDTH, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pen:
    """The characters that draw a bar on a terminal."""

    empty: str
    line: str
    point: str
    zero: str


UNICODE_PEN = Pen(empty="·", line="━", point="●", zero="○")

PLAIN_PEN = Pen(empty=".", line="-", point="#", zero="o")


def pen_for(*, unicode: bool) -> Pen:
    """Return the characters that a terminal can show."""
    return UNICODE_PEN if unicode else PLAIN_PEN


def axis_end(rates: Iterable[Rate]) -> float:
    """Return the smallest round end of an axis that contains all these intervals; fraction."""
    highest = max((ends_of(rate)[2] for rate in rates if rate.estimate is not None), default=0.0)
    return next((end for end in _STEPS if end >= highest), 1.0)


def tick_values(end: float) -> tuple[float, ...]:
    """Return the values at the ticks of an axis from 0 to `end`; fractions."""
    step = _STEPS.get(end, end / 4)
    return tuple(step * number for number in range(round(end / step) + 1))


def scale_of(end: float) -> tuple[tuple[float, str], ...]:
    """Return the position of each tick, in percent of the drawing's width, and its value in percent as text."""
    return tuple((_x(value / end), f"{round(100 * value)}") for value in tick_values(end))


def bar_of(rate: Rate, end: float) -> IntervalBar:
    """Return a rate on an axis from 0 to `end`."""
    low, value, high = (min(at / end, 1.0) for at in ends_of(rate))
    marks = tuple(value / end for value in tick_values(end))
    return IntervalBar(low=low, value=value, high=high, is_zero=rate.defects == 0, marks=marks)


def ends_of(rate: Rate) -> tuple[float, float, float]:
    """Return the low end of a rate's interval, its value and the high end; the bound where no defect was found."""
    estimate = rate.estimate
    if estimate is None:
        return 0.0, 0.0, 0.0
    if rate.defects == 0 and rate.ceiling is not None:
        return 0.0, 0.0, rate.ceiling
    low = estimate.low if estimate.low is not None else estimate.value
    high = estimate.high if estimate.high is not None else estimate.value
    return low, estimate.value, high


def bar_text(bar: IntervalBar, *, cells: int, pen: Pen) -> str:
    """Return a bar as characters; a bound at zero is only its mark."""
    positions = [min(int(at * cells), cells - 1) for at in (bar.low, bar.value, bar.high)]
    characters: list[str] = [pen.empty] * cells
    if not bar.is_zero:
        characters[positions[0] : positions[2] + 1] = [pen.line] * (positions[2] - positions[0] + 1)
    characters[positions[1]] = pen.zero if bar.is_zero else pen.point
    return "".join(characters)
