"""Small charts as SVG without scripts or styles: lanes below each other on one axis, and charts over days."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

WIDTH: Final = 920
LANE: Final = 92
GAP: Final = 26
LEFT: Final = 64
RIGHT: Final = 96
TOP: Final = 22
BOTTOM: Final = 30
"""Sizes of a chart; units of the drawing."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The common axis of positions.

    Attributes:
        last: Its largest position.
    """

    last: int

    def x(self, position: float) -> float:
        """Return the horizontal position; units of the drawing."""
        return LEFT + (WIDTH - LEFT - RIGHT) * position / max(1, self.last)


@dataclass(frozen=True, slots=True)
class Lane:
    """One small chart.

    Attributes:
        title: Its name, at the left above it.
        low: Lower end of its values.
        high: Upper end of its values.
        lines: Lines of positions and values; a line of one point is drawn as a dot.
        bands: Ranges of values with a name, from the lowest; drawn behind the lines.
        references: Values with a label and the positions from and to which they hold.
        ticks: Further values that the axis names.
    """

    title: str
    low: float
    high: float
    lines: Sequence[Sequence[tuple[int, float]]]
    bands: Sequence[tuple[float, float, str]] = ()
    references: Sequence[tuple[float, str, int, int]] = ()
    ticks: Sequence[float] = ()


def bands(cuts: tuple[float, float], low: float, high: float) -> tuple[tuple[float, float, str], ...]:
    """Return the bands low, medium and high between the ends of an axis; empty ones are left out.

    Example:
        >>> bands((4.5, 9.5), 0, 28)
        ((0, 4.5, 'low'), (4.5, 9.5, 'medium'), (9.5, 28, 'high'))
    """
    ends = (low, *(min(max(cut, low), high) for cut in cuts), high)
    named = zip(ends, ends[1:], ("low", "medium", "high"), strict=False)
    return tuple((begin, end, name) for begin, end, name in named if end > begin)


def chart_height(n_lanes: int) -> float:
    """Return the height of a chart; units of the drawing."""
    return TOP + n_lanes * (LANE + GAP) + BOTTOM


def lane_top(index: int) -> float:
    """Return the upper end of a lane; units of the drawing."""
    return TOP + index * (LANE + GAP)


def chart(parts: Sequence[str], n_lanes: int, *, title: str, label: str) -> str:
    """Return a whole chart.

    Args:
        parts: Parts to draw, in order.
        n_lanes: Lanes; count.
        title: Name of the chart.
        label: Text for screen readers.
    """
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {chart_height(n_lanes):g}" role="img" aria-label="{escape(label)}"'
        f' xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def lane_parts(lane: Lane, index: int, axis: Axis) -> Iterator[str]:
    """Yield a lane: its name, bands, the ends of its values with further ticks, references, and its lines."""
    top, span = lane_top(index), max(1e-12, lane.high - lane.low)
    yield f'<text class="name" x="{LEFT}" y="{top - 5:.1f}">{escape(lane.title)}</text>'
    yield from _bands(lane, top, span)
    for value in (lane.low, *lane.ticks, lane.high):
        y = top + LANE * (1.0 - (value - lane.low) / span)
        yield f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.3g}</text>'
    yield from _references(lane, axis, top, span)
    for line in lane.lines:
        points = [(axis.x(at), top + LANE * (1.0 - (value - lane.low) / span)) for at, value in line]
        if len(points) == 1:
            yield f'<circle class="dot" cx="{points[0][0]:.1f}" cy="{points[0][1]:.1f}" r="2.5"/>'
        elif points:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            yield f'<polyline class="row" points="{path}"/>'


def _bands(lane: Lane, top: float, span: float) -> Iterator[str]:
    for number, (low, high, name) in enumerate(lane.bands):
        y = top + LANE * (1.0 - (high - lane.low) / span)
        width, height = WIDTH - LEFT - RIGHT, LANE * (high - low) / span
        yield f'<rect class="band{number}" x="{LEFT}" y="{y:.1f}" width="{width}" height="{height:.1f}"/>'
        yield f'<text class="tick" x="{WIDTH - RIGHT + 8}" y="{y + height / 2 + 4:.1f}">{escape(name)}</text>'


def _references(lane: Lane, axis: Axis, top: float, span: float) -> Iterator[str]:
    for value, name, begin, end in lane.references:
        y = top + LANE * (1.0 - (value - lane.low) / span)
        yield f'<line class="reference" x1="{axis.x(begin):.1f}" x2="{axis.x(end):.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        if name:
            yield f'<text class="reference-name" x="{WIDTH - RIGHT + 8}" y="{y + 4:.1f}">{escape(name)}</text>'


def rule(axis: Axis, position: float, text: str, n_lanes: int, *, kind: str) -> str:
    """Return a vertical line through all lanes with a word above it.

    Args:
        axis: The common axis.
        position: Position of the line.
        text: The word.
        n_lanes: Lanes; count.
        kind: Class of the rule.
    """
    x, foot = axis.x(position), chart_height(n_lanes) - BOTTOM
    side = "end" if x > WIDTH / 2 else "start"
    return (
        f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{foot:g}"/>'
        f'<text class="{kind}-name" x="{x + (-4 if side == "end" else 4):.1f}" y="{TOP - 10}"'
        f' text-anchor="{side}">{escape(text)}</text>'
    )


def tick(axis: Axis, position: int, text: str, n_lanes: int) -> str:
    """Return a word below the chart, at a position."""
    y = chart_height(n_lanes) - 8
    return f'<text class="tick" x="{axis.x(position):.1f}" y="{y:g}" text-anchor="middle">{escape(text)}</text>'


DAY_WIDTH: Final = 1000
"""Width of the stretched part; units of the drawing."""

PLOT: Final = 150
DAY_TOP: Final = 18
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
    height = DAY_TOP + PLOT + FOOT
    shapes = [*_grid(chart), _plot(chart), *_marks(chart), *_day_labels(chart.days, height)]
    return _svg(height, chart.label, shapes)


def _svg(height: int, label: str, shapes: Sequence[str]) -> str:
    return (
        f'<svg class="day-chart" width="100%" height="{height}" role="img" aria-label="{escape(label)}">'
        f"{''.join(shapes)}</svg>"
    )


def _grid(chart: DayChart) -> Iterator[str]:
    for value, text in chart.ticks:
        y = DAY_TOP + chart.y(value)
        yield f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="tick" x="0" y="{y - 3:.1f}">{escape(text)}</text>'


def _plot(chart: DayChart) -> str:
    parts = []
    if chart.band:
        parts.append(f'<polygon class="band" points="{_points(chart, chart.band)}"/>')
    parts += [f'<polyline class="{kind}" points="{_points(chart, points)}"/>' for kind, points in chart.lines if points]
    view = f'viewBox="0 0 {DAY_WIDTH} {PLOT}" preserveAspectRatio="none"'
    return f'<svg y="{DAY_TOP}" width="100%" height="{PLOT}" {view}>{"".join(parts)}</svg>'


def _points(chart: DayChart, points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x * DAY_WIDTH:.1f},{chart.y(value):.1f}" for x, value in points)


def _marks(chart: DayChart) -> Iterator[str]:
    for mark in chart.marks:
        y = DAY_TOP + chart.y(mark.value)
        if mark.low is not None and mark.high is not None:
            ends = f'y1="{DAY_TOP + chart.y(mark.high):.1f}" y2="{DAY_TOP + chart.y(mark.low):.1f}"'
            yield f'<line class="interval" x1="{mark.x:.2%}" x2="{mark.x:.2%}" {ends}/>'
        yield f'<circle class="point" cx="{mark.x:.2%}" cy="{y:.1f}" r="4"/>'
        above = y - 8 if y > DAY_TOP + 10 else y + 18
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
    height, tallest, width = DAY_TOP + BAR_PLOT + FOOT, max([*counts, 1]), 1 / max(1, len(counts))
    shapes = []
    for number, n in enumerate(counts):
        bar, left = BAR_PLOT * n / tallest, (number + 0.2) * width
        foot = DAY_TOP + BAR_PLOT - bar
        shapes.append(
            f'<rect class="count" x="{left:.2%}" width="{0.6 * width:.2%}" y="{foot:.1f}" height="{bar:.1f}"/>'
        )
        if n:
            middle = (number + 0.5) * width
            shapes.append(f'<text class="tick" x="{middle:.2%}" y="{foot - 4:.1f}" text-anchor="middle">{n}</text>')
    return _svg(height, label, [*shapes, *_day_labels(days, height)])
