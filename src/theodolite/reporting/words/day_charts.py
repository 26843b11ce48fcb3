"""Charts over days as static SVG of variable width: text keeps its size, and only the plot is stretched.

Shapes carry classes, so that the style of the page decides colours; a table of the same values belongs behind each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

WIDTH: Final = 1000
"""Width of the stretched part; units of the drawing."""

PLOT: Final = 150
TOP: Final = 18
FOOT: Final = 22
"""Heights of the plot, of the space above it, and of the labels below it; pixels."""

BAR_PLOT: Final = 36
"""Height of the bars of one row; pixels."""

_EDGE: Final = 0.06
"""Fraction of the width at each end in which labels start or end at their position, so that they are not cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A value with its interval at a position.

    Attributes:
        x: Position; fraction of the width.
        value: The value.
        text: The value as text.
        low: Lower end; None without an interval.
        high: Upper end; None without an interval.
    """

    x: float
    value: float
    text: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DayChart:
    """A chart over days.

    Attributes:
        label: Description of the chart for screen readers.
        low: Lower end of the values.
        high: Upper end of the values.
        ticks: Values of the axis with their labels.
        days: Positions and labels of days; fractions of the width.
        lines: Class and points of each line; fractions of the width, and values.
        band: Corners of a shaded area; in the same units.
        marks: Values with intervals and text.
    """

    label: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    days: Sequence[tuple[float, str]]
    lines: Sequence[tuple[str, Sequence[tuple[float, float]]]] = ()
    band: Sequence[tuple[float, float]] = ()
    marks: Sequence[Mark] = ()

    def y(self, value: float) -> float:
        """Return the vertical position of a value, from the top of the plot; pixels."""
        span = max(self.high - self.low, 1e-12)
        return PLOT * (1 - (min(max(value, self.low), self.high) - self.low) / span)


def day_chart(chart: DayChart) -> str:
    """Return the drawing of a chart over days."""
    height = TOP + PLOT + FOOT
    shapes = [*_grid(chart), _plot(chart), *_marks(chart), *_day_labels(chart.days, height)]
    return _svg(height, chart.label, shapes)


def _svg(height: int, label: str, shapes: Sequence[str]) -> str:
    return (
        f'<svg class="day-chart" width="100%" height="{height}" role="img" aria-label="{escape(label)}">'
        f"{''.join(shapes)}</svg>"
    )


def _grid(chart: DayChart) -> Iterator[str]:
    for value, text in chart.ticks:
        y = TOP + chart.y(value)
        yield f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="tick" x="0" y="{y - 3:.1f}">{escape(text)}</text>'


def _plot(chart: DayChart) -> str:
    parts = []
    if chart.band:
        parts.append(f'<polygon class="band" points="{_points(chart, chart.band)}"/>')
    parts += [f'<polyline class="{kind}" points="{_points(chart, points)}"/>' for kind, points in chart.lines if points]
    view = f'viewBox="0 0 {WIDTH} {PLOT}" preserveAspectRatio="none"'
    return f'<svg y="{TOP}" width="100%" height="{PLOT}" {view}>{"".join(parts)}</svg>'


def _points(chart: DayChart, points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x * WIDTH:.1f},{chart.y(value):.1f}" for x, value in points)


def _marks(chart: DayChart) -> Iterator[str]:
    for mark in chart.marks:
        y = TOP + chart.y(mark.value)
        if mark.low is not None and mark.high is not None:
            ends = f'y1="{TOP + chart.y(mark.high):.1f}" y2="{TOP + chart.y(mark.low):.1f}"'
            yield f'<line class="interval" x1="{mark.x:.2%}" x2="{mark.x:.2%}" {ends}/>'
        yield f'<circle class="point" cx="{mark.x:.2%}" cy="{y:.1f}" r="4"/>'
        above = y - 8 if y > TOP + 10 else y + 18
        gap, anchor = (8, "start") if mark.x < 0.5 else (-8, "end")
        yield (
            f'<text class="value" x="{mark.x:.2%}" dx="{gap}" y="{above:.1f}" text-anchor="{anchor}">'
            f"{escape(mark.text)}</text>"
        )


def _day_labels(days: Sequence[tuple[float, str]], height: float) -> Iterator[str]:
    for x, text in days:
        anchor = "start" if x < _EDGE else "end" if x > 1 - _EDGE else "middle"
        yield f'<text class="tick" x="{x:.2%}" y="{height - 6}" text-anchor="{anchor}">{escape(text)}</text>'


def day_bars(label: str, counts: Sequence[int], days: Sequence[tuple[float, str]]) -> str:
    """Return one bar per day with its count above it.

    Args:
        label: Description of the chart for screen readers.
        counts: One a day.
        days: Positions and labels of the named days; fractions of the width.
    """
    height, tallest, width = TOP + BAR_PLOT + FOOT, max([*counts, 1]), 1 / max(1, len(counts))
    shapes = []
    for number, n in enumerate(counts):
        bar, left = BAR_PLOT * n / tallest, (number + 0.2) * width
        foot = TOP + BAR_PLOT - bar
        shapes.append(
            f'<rect class="count" x="{left:.2%}" width="{0.6 * width:.2%}" y="{foot:.1f}" height="{bar:.1f}"/>'
        )
        if n:
            middle = (number + 0.5) * width
            shapes.append(f'<text class="tick" x="{middle:.2%}" y="{foot - 4:.1f}" text-anchor="middle">{n}</text>')
    return _svg(height, label, [*shapes, *_day_labels(days, height)])
