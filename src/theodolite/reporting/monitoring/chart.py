"""Charts of a watch: small panels on one axis of scores, as SVG that stands by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from theodolite.domain.monitoring.history import InstrumentChange
from theodolite.domain.monitoring.watch import Alert, AlertKind, Stretch, Watch
from theodolite.reporting.monitoring.document import thinned

WIDTH, PANEL, GAP, LEFT, RIGHT, TOP, BOTTOM = 920, 92, 26, 64, 96, 22, 30
"""Sizes of a chart; units of the drawing."""

_KIND_PANEL: Mapping[AlertKind, str] = {
    AlertKind.RATE_ROSE: "share",
    AlertKind.RATE_OVER_LIMIT: "share",
    AlertKind.LEVEL_SLIPPED: "level",
    AlertKind.PEN_ROSE: "pen",
    AlertKind.PEN_FELL: "pen",
    AlertKind.CIN_ROSE: "cin",
    AlertKind.LIS_FELL: "lis",
}


@dataclass(frozen=True, slots=True)
class Panel:
    """One row of a chart.

    Attributes:
        key: Name of its row.
        title: What people read at its left end.
        low: Lower end of its axis.
        high: Upper end of its axis.
        row_of: From a stretch to the row; as long as the stretch's windows, or empty.
    """

    key: str
    title: str
    low: float
    high: float
    row_of: Callable[[Stretch], Sequence[float]]


def application_chart(watch: Watch, application: str) -> str:
    """Return the rolling metrics of one application as SVG, with instrument changes and alerts.

    Each panel shows one metric of the rolling windows; level and defect share
    come first, since the order metrics below do not see them. Lines break where
    the instrument changes. Nothing in it needs a script or another file.
    """
    stretches = [one for one in watch.stretches if one.application == application and one.windows.positions]
    panels = list(_panels(watch, stretches))
    height = TOP + len(panels) * (PANEL + GAP) + BOTTOM
    across = _Across(_last(watch))
    drawn = [
        _title(watch, application, panels),
        *_changes(watch.changes, across, height),
        *(line for place, panel in enumerate(panels) for line in _panel(panel, place, stretches, across)),
        *_marks([alert for alert in watch.alerts if alert.application == application], panels, across),
        *_days(watch, across, height),
    ]
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img"'
        f' aria-label="{escape(_spoken(watch, application))}" xmlns="http://www.w3.org/2000/svg">{"".join(drawn)}</svg>'
    )


@dataclass(frozen=True, slots=True)
class _Across:
    """The axis of scores."""

    last: int

    def x(self, position: float) -> float:
        """Return where a score stands; units of the drawing."""
        return LEFT + (WIDTH - LEFT - RIGHT) * position / max(1, self.last)


def _last(watch: Watch) -> int:
    return max(1, len(watch.history.scores) - 1)


def _panels(watch: Watch, stretches: Sequence[Stretch]) -> Iterator[Panel]:
    history, window = watch.history, watch.rules.window
    yield Panel("level", f"mean of {window}", history.lowest, history.highest, lambda one: one.windows.level)
    if any(one.windows.defect_share for one in stretches):
        yield Panel("share", "defect share", 0.0, 1.0, lambda one: one.windows.defect_share)
    yield Panel("pen", "PEN, of largest", 0.0, 1.0, lambda one: one.windows.pen)
    yield Panel("cin", "CIN", 0.0, window * (window - 1) / 2.0, lambda one: one.windows.cin)
    yield Panel("lis", "LIS", 0.0, float(window), lambda one: one.windows.lis)


def _title(watch: Watch, application: str, panels: Sequence[Panel]) -> str:
    words = f"{watch.history.name}{f', {application}' if application else ''}: {len(panels)} metrics of rolling windows"
    return f"<title>{escape(words)}</title>"


def _spoken(watch: Watch, application: str) -> str:
    alerts = [alert.kind.value for alert in watch.alerts if alert.application == application]
    found = "no alert" if not alerts else f"alerts: {', '.join(alerts)}"
    return f"Rolling metrics of {application or watch.history.name}; {found}. The table below says the same."


def _top(place: int) -> float:
    return TOP + place * (PANEL + GAP)


def _panel(panel: Panel, place: int, stretches: Sequence[Stretch], across: _Across) -> Iterator[str]:
    top, span = _top(place), max(1e-12, panel.high - panel.low)
    yield f'<text class="name" x="{LEFT}" y="{top - 5:.1f}">{escape(panel.title)}</text>'
    for value in (panel.low, panel.high):
        y = top + PANEL * (1.0 - (value - panel.low) / span)
        yield f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'
    for stretch in stretches:
        row = panel.row_of(stretch)
        points = thinned(list(zip(stretch.windows.positions, row, strict=bool(row))))
        path = " ".join(
            f"{across.x(at):.1f},{top + PANEL * (1.0 - (value - panel.low) / span):.1f}" for at, value in points
        )
        if len(points) == 1:
            cx, _, cy = path.partition(",")
            yield f'<circle class="dot" cx="{cx}" cy="{cy}" r="2.5"/>'
        elif points:
            yield f'<polyline class="row" points="{path}"/>'


def _changes(changes: Sequence[InstrumentChange], across: _Across, height: float) -> Iterator[str]:
    for change in changes:
        x = across.x(change.position)
        label = "instrument?" if change.is_suspected else f"{change.part} {change.after}"
        yield f'<line class="change" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{height - BOTTOM}"/>'
        side = "end" if x > WIDTH / 2 else "start"
        yield (
            f'<text class="change-name" x="{x + (-4 if side == "end" else 4):.1f}" y="{TOP - 10}"'
            f' text-anchor="{side}">{escape(label[:40])}</text>'
        )


def _marks(alerts: Sequence[Alert], panels: Sequence[Panel], across: _Across) -> Iterator[str]:
    """Mark each alert at its panel: a bar from its begin to its alarm, and a triangle at the alarm."""
    places = {panel.key: place for place, panel in enumerate(panels)}
    for alert in alerts:
        place = places.get(_KIND_PANEL.get(alert.kind, ""))
        if place is None or alert.position is None:
            continue
        x, y = across.x(alert.position), _top(place)
        if alert.since is not None:
            begin = across.x(alert.since)
            width = max(2.0, x - begin)
            yield f'<rect class="since" x="{begin:.1f}" y="{y:.1f}" width="{width:.1f}" height="{PANEL}"/>'
        yield f'<path class="alarm" d="M{x:.1f} {y:.1f}l-6 -10h12z"><title>{escape(alert.kind.value)}</title></path>'


def _days(watch: Watch, across: _Across, height: float) -> Iterator[str]:
    """Write a few days, or places of scores, under the chart."""
    scores, last = watch.history.scores, _last(watch)
    places = sorted({round(last * share / 5) for share in range(6)})
    written = [(place, scores[place].at) for place in places if place < len(scores)]
    for (place, at), (following, _) in pairwise([*written, (last + 1, None)]):
        if following == place:
            continue
        words = f"{at:%Y-%m-%d}" if at else f"{place + 1:,}"
        yield f'<text class="tick" x="{across.x(place):.1f}" y="{height - 8}" text-anchor="middle">{words}</text>'
