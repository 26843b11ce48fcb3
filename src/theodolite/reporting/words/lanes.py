"""Lanes: small charts below each other on one axis, as SVG without scripts or other files."""

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
