"""Lanes: small charts below each other on one axis, as SVG that needs no script and no other file."""

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
        """Return where a position is drawn; units of the drawing."""
        return LEFT + (WIDTH - LEFT - RIGHT) * position / max(1, self.last)


@dataclass(frozen=True, slots=True)
class Lane:
    """One small chart.

    Attributes:
        title: Its name, at the left above it.
        low: Lower end of its values.
        high: Upper end of its values.
        lines: Lines of positions and values; a line of one point is drawn as a dot.
    """

    title: str
    low: float
    high: float
    lines: Sequence[Sequence[tuple[int, float]]]


def chart_height(n_lanes: int) -> float:
    """Return the height of a chart; units of the drawing."""
    return TOP + n_lanes * (LANE + GAP) + BOTTOM


def lane_top(index: int) -> float:
    """Return the upper end of a lane; units of the drawing."""
    return TOP + index * (LANE + GAP)


def chart(parts: Sequence[str], n_lanes: int, *, title: str, label: str) -> str:
    """Return a whole chart.

    Args:
        parts: What is drawn, in order.
        n_lanes: Lanes; count.
        title: Name of the chart.
        label: What a screen reader reads in place of the drawing.
    """
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {chart_height(n_lanes):g}" role="img" aria-label="{escape(label)}"'
        f' xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def lane_parts(lane: Lane, index: int, axis: Axis) -> Iterator[str]:
    """Yield a lane: its name, both ends of its values, and its lines."""
    top, span = lane_top(index), max(1e-12, lane.high - lane.low)
    yield f'<text class="name" x="{LEFT}" y="{top - 5:.1f}">{escape(lane.title)}</text>'
    for value in (lane.low, lane.high):
        y = top + LANE * (1.0 - (value - lane.low) / span)
        yield f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'
    for line in lane.lines:
        points = [(axis.x(at), top + LANE * (1.0 - (value - lane.low) / span)) for at, value in line]
        if len(points) == 1:
            yield f'<circle class="dot" cx="{points[0][0]:.1f}" cy="{points[0][1]:.1f}" r="2.5"/>'
        elif points:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            yield f'<polyline class="row" points="{path}"/>'


def tick(axis: Axis, position: int, text: str, n_lanes: int) -> str:
    """Return a word below the chart, at a position."""
    y = chart_height(n_lanes) - 8
    return f'<text class="tick" x="{axis.x(position):.1f}" y="{y:g}" text-anchor="middle">{escape(text)}</text>'
