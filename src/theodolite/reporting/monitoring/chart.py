"""Charts of a watch: small panels on one axis of scores, as SVG that stands by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from theodolite.domain.monitoring.history import InstrumentChange
from theodolite.domain.monitoring.watch import Alert, AlertKind, Stretch, Watch
from theodolite.reporting.monitoring.document import thinned
from theodolite.reporting.words import lanes

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
    height = lanes.chart_height(len(panels))
    axis = lanes.Axis(_last(watch))
    drawn = [
        *_changes(watch.changes, axis, height),
        *(part for index, panel in enumerate(panels) for part in _panel(panel, index, stretches, axis)),
        *_marks([alert for alert in watch.alerts if alert.application == application], panels, axis),
        *_days(watch, axis, len(panels)),
    ]
    words = f"{watch.history.name}{f', {application}' if application else ''}: {len(panels)} metrics of rolling windows"
    return lanes.chart(drawn, len(panels), title=words, label=_spoken(watch, application))


def _last(watch: Watch) -> int:
    return max(1, len(watch.history.scores) - 1)


def _panels(watch: Watch, stretches: Sequence[Stretch]) -> Iterator[Panel]:
    history, window = watch.history, watch.rules.window
    yield Panel("level", f"mean of {window}", history.lowest, history.highest, lambda one: one.windows.level)
    if any(one.windows.defect_share for one in stretches):
        yield Panel("share", "defect share", 0.0, 1.0, lambda one: one.windows.defect_share)
    yield Panel("pen", "PEN, normalised", 0.0, 1.0, lambda one: one.windows.pen)
    yield Panel("cin", "CIN", 0.0, window * (window - 1) / 2.0, lambda one: one.windows.cin)
    yield Panel("lis", "LIS", 0.0, float(window), lambda one: one.windows.lis)


def _spoken(watch: Watch, application: str) -> str:
    alerts = [alert.kind.value for alert in watch.alerts if alert.application == application]
    found = "no alert" if not alerts else f"alerts: {', '.join(alerts)}"
    return f"Rolling metrics of {application or watch.history.name}; {found}. The table below says the same."


def _panel(panel: Panel, index: int, stretches: Sequence[Stretch], axis: lanes.Axis) -> Iterator[str]:
    rows = [(one.windows.positions, panel.row_of(one)) for one in stretches]
    # Each row is thinned by itself: a list of a million pairs would take a hundred times the room.
    lines = [list(zip(thinned(positions if row else ()), thinned(row), strict=True)) for positions, row in rows]
    lane = lanes.Lane(title=panel.title, low=panel.low, high=panel.high, lines=lines)
    yield from lanes.lane_parts(lane, index, axis)


def _changes(changes: Sequence[InstrumentChange], axis: lanes.Axis, height: float) -> Iterator[str]:
    for change in changes:
        x = axis.x(change.position)
        label = "instrument?" if change.is_suspected else f"{change.part} {change.after}"
        yield f'<line class="change" x1="{x:.1f}" x2="{x:.1f}" y1="{lanes.TOP - 8}" y2="{height - lanes.BOTTOM}"/>'
        side = "end" if x > lanes.WIDTH / 2 else "start"
        yield (
            f'<text class="change-name" x="{x + (-4 if side == "end" else 4):.1f}" y="{lanes.TOP - 10}"'
            f' text-anchor="{side}">{escape(label[:40])}</text>'
        )


def _marks(alerts: Sequence[Alert], panels: Sequence[Panel], axis: lanes.Axis) -> Iterator[str]:
    """Mark each alert at its panel: a bar from its begin to its alarm, and a triangle at the alarm."""
    places = {panel.key: place for place, panel in enumerate(panels)}
    for alert in alerts:
        place = places.get(_KIND_PANEL.get(alert.kind, ""))
        if place is None or alert.position is None:
            continue
        x, y = axis.x(alert.position), lanes.lane_top(place)
        if alert.since is not None:
            begin = axis.x(alert.since)
            width = max(2.0, x - begin)
            yield f'<rect class="since" x="{begin:.1f}" y="{y:.1f}" width="{width:.1f}" height="{lanes.LANE}"/>'
        yield f'<path class="alarm" d="M{x:.1f} {y:.1f}l-6 -10h12z"><title>{escape(alert.kind.value)}</title></path>'


def _days(watch: Watch, axis: lanes.Axis, n_panels: int) -> Iterator[str]:
    """Write a few days, or places of scores, under the chart."""
    scores, last = watch.history.columns, _last(watch)
    places = sorted({round(last * share / 5) for share in range(6)})
    for place in (place for place in places if place < len(scores)):
        at = scores.at(place)
        yield lanes.tick(axis, place, f"{at:%Y-%m-%d}" if at else f"{place + 1:,}", n_panels)
