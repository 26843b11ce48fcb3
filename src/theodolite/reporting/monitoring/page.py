"""A monitored history as one self-contained HTML page with charts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from theodolite.domain.estimate import Estimate
from theodolite.domain.findings.order import band_cuts
from theodolite.domain.monitoring import Alert, AlertKind, AnchorCheck, InstrumentChange, Segment, Watch
from theodolite.domain.undefined_reasons import UNDEFINED
from theodolite.reporting.monitoring.document import thinned
from theodolite.reporting.monitoring.text import (
    CAUSES,
    change_text,
    day,
    guarantee_text,
    head_text,
    latest_text,
    power_texts,
)
from theodolite.reporting.words import figures, lanes
from theodolite.reporting.words.order_metrics import ranking_text
from theodolite.reporting.words.reading_aids import Words

CHARTS = 24

"""Maximum number of drawn applications, those with alerts first; count."""


STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#12161d, #e9edf3); --soft: light-dark(#5f6978, #8f9aaa);
  --line: light-dark(#e4e7ec, #272e39); --line-2: light-dark(#cbd1da, #3d4654); --bg: light-dark(#f5f6f8, #0e1116);
  --paper: light-dark(#fff, #161a21); --note: light-dark(#fff5e3, #2a2112); --note-line: light-dark(#9a5b00, #f0b860);
  --row: light-dark(#0f78b4, #5db8ee); --s1: light-dark(#f3f6fa, #1d2430); --s2: light-dark(#e2e9f3, #233041);
  --s3: light-dark(#cbd8e9, #2b3c51); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1120px; padding: 24px 24px 60px; color: var(--ink); background: var(--bg);
  font: 15px/1.5 "Inter", system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
  font-variant-numeric: tabular-nums; }
h1 { font-size: 22px; letter-spacing: -.02em; margin: 0 0 6px; }
h2 { font-size: 18px; margin: 32px 0 8px; }
h3 { font-size: 16px; margin: 22px 0 6px; overflow-wrap: anywhere; } p { margin: 0 0 8px; max-width: 90ch; }
.alert { border: 1px solid var(--note-line); border-radius: 10px; background: var(--note); padding: 10px 14px;
  margin: 0 0 10px; }
.alert b { display: block; } .alert summary { cursor: pointer; min-height: 24px; } .alert dl { margin: 4px 0; }
.alert dt { font-weight: 600; } .alert dd { margin: 0 0 6px; } .soft { color: var(--soft); }
.scroll { overflow-x: auto; background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  padding: 12px 16px; margin: 0 0 12px; }
table { border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 500; }
.chart { display: block; width: 100%; min-width: 620px; height: auto;
  font: 12px "Inter", system-ui, "Liberation Sans", sans-serif; }
.chart text { fill: var(--soft); } .chart .name { fill: var(--ink); font-weight: 600; }
.chart .axis { stroke: var(--line-2); } .chart .row { fill: none; stroke: var(--row); stroke-width: 2; }
.chart .dot { fill: var(--row); } .chart .change { stroke: var(--ink); stroke-dasharray: 5 4; }
.chart .change-name { fill: var(--ink); } .chart .since { fill: var(--note-line); opacity: .22; }
.chart .alarm { fill: var(--note-line); } .chart .alert-rule { stroke: var(--note-line); stroke-width: 1.5; }
.chart .band0 { fill: var(--s1); } .chart .band1 { fill: var(--s2); } .chart .band2 { fill: var(--s3); }
.chart .reference { stroke: var(--ink); stroke-width: 1; } .chart .reference-name { fill: var(--ink); }
:focus-visible { outline: 2px solid var(--row); outline-offset: 2px; }
@media print { :root { color-scheme: light; } .chart { break-inside: avoid; } }
""".strip()


def watch_html(watch: Watch, words: Words) -> str:
    """Return the page: alerts, instrument changes, charts with their tables, anchors, monitoring rules."""
    title = f"{watch.history.name}: monitor"
    body = "".join(part for section in _sections(watch, words) for part in section)
    policy = f"default-src 'none'; style-src '{_hash(STYLE)}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _sections(watch: Watch, words: Words) -> Iterator[Iterable[str]]:
    yield (f"<h1>{escape(watch.history.name)}</h1>", _p(head_text(watch)), _p(watch.history.source, "soft"))
    yield ("<h2>Alerts</h2>", *(_alert(alert, words) for alert in watch.alerts))
    yield (_p("None."),) if not watch.alerts else ()
    yield (_p(guarantee_text(watch), "soft"),)
    for text in power_texts(watch):
        yield (_p(f"Power: {text}", "soft"),)
    if watch.changes:
        yield ("<h2>Instrument changes</h2>", *(_p(change_text(change, words)) for change in watch.changes))
    yield from _charts(watch, words)
    if watch.anchors:
        yield ("<h2>Anchors</h2>", _anchor_table(watch.anchors))
    yield ("<h2>What was watched for</h2>", _rules(watch), *(_p(note) for note in watch.notes))


def _p(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def _alert(alert: Alert, words: Words) -> str:
    where = [alert.application] if alert.application else []
    where += [f"score {alert.position + 1:,}"] if alert.position is not None else []
    where += [day(alert.at)] if alert.at else []
    seen = f" Seen {figures.number_of(alert.delay, 'score')} after it began." if alert.delay is not None else ""
    cause = f" {CAUSES[alert.cause][0].upper()}{CAUSES[alert.cause][1:]}." if alert.delay is not None else ""
    detail = f"{alert.detail[0].upper()}{alert.detail[1:]}."
    return (
        f'<div class="alert"><b>{escape(alert.kind.value.capitalize())}: {escape(", ".join(where))}</b>'
        f'{escape(detail + seen + cause)} <span class="soft">{escape(alert.method)}</span>{_why(alert, words)}</div>'
    )


def _why(alert: Alert, words: Words) -> str:
    """Return the meaning of an alarm, folded."""
    aid = words.alerts[alert.kind.value]
    parts = (("Why", aid.why), ("What else it may be", aid.otherwise), ("What to do", aid.then))
    items = "".join(f"<dt>{title}</dt><dd>{escape(text)}</dd>" for title, text in parts)
    return f"<details><summary>Why this alarm</summary><dl>{items}</dl></details>"


def _reading(words: Words) -> str:
    """Return the meaning and the limits of a chart's rows, folded."""
    names = ("rolling_level", "rolling_entropy", "rolling_inversions", "rolling_subsequence")
    rows = (words.measure(name) for name in names)
    items = "".join(
        f"<dt>{escape(row.title)}</dt><dd>{escape(f'{row.definition} {row.formula}'.strip())}</dd>" for row in rows
    )
    return f"<details><summary>What the rows say</summary><dl>{items}</dl></details>"


def _charts(watch: Watch, words: Words) -> Iterator[Iterable[str]]:
    alerted = {alert.application for alert in watch.alerts}
    drawable = list(dict.fromkeys(one.application for one in watch.segments if one.windows.positions))
    chosen = sorted(drawable, key=lambda name: name not in alerted)[:CHARTS]
    yield ("<h2>Over time</h2>", _p("Lines break where the instrument changes. Triangles are alarms, bars their span."))
    yield (_reading(words),)
    for application in chosen:
        rows = [one for one in watch.segments if one.application == application]
        chart = application_chart(watch, application)
        yield (
            f"<h3>{escape(application or 'Scores')}</h3>",
            f'<div class="scroll" tabindex="0">{chart}</div>',
            _table(rows),
            *(_worst(segment) for segment in rows[-1:] if segment.worst),
            *(
                _p(f"In the order of people's scores: {ranking_text(segment.ranking)}.")
                for segment in rows[-1:]
                if segment.ranking is not None
            ),
        )
    rest = [one for one in watch.segments if one.application not in chosen]
    if rest:
        yield ("<h3>Not drawn</h3>", _table(rest))


def _table(segments: Sequence[Segment]) -> str:
    head = (
        "application",
        "under",
        "scores",
        "missing",
        "mean",
        "defect rate, at every look",
        "latest PEN, CIN, LIS, LNDS",
    )
    return _grid(head, [_row(segment) for segment in segments])


def _row(segment: Segment) -> Sequence[str]:
    rate = segment.rate
    rate_text = "no rule"
    if isinstance(rate, Estimate) and rate.count is not None and rate.low is not None and rate.high is not None:
        rate_text = figures.share(rate.count, rate.n)
        rate_text += f", {figures.span(rate.low, rate.high)}" if rate.n >= figures.FEW else ""
    order = latest_text(segment)
    under = ", ".join(f"{part} {version}" for part, version in segment.instruments.items()) or "not stated"
    level = f"{segment.level:.2f}" if segment.level is not None else "none"
    return (segment.application or "-", under, str(segment.n), str(segment.n_missing), level, rate_text, order)


def _worst(segment: Segment) -> str:
    """Return the worst of the latest scores with the annotator's reasons."""
    rows = [(score.dialogue, f"{score.value:g}", score.reason or "no reason was given") for score in segment.worst]
    return f"<h4>Worst of the latest scores</h4>{_grid(('score of', 'score', 'reason'), rows)}"


def _anchor_table(checks: Sequence[AnchorCheck]) -> str:
    head = ("sitting", "day", "anchors", "lower", "higher", "nearer to people", "farther", "CIN", "LIS", "tau", "drift")
    rows = [
        (
            check.batch or f"score {check.position + 1}",
            day(check.at),
            str(check.n),
            str(check.n_lower),
            str(check.n_higher),
            str(check.n_nearer),
            str(check.n_farther),
            *_ranking(check),
            "yes" if check.is_drift else "no",
        )
        for check in checks
    ]
    return _grid(head, rows)


def _ranking(check: AnchorCheck) -> tuple[str, str, str]:
    if check.ranking is None:
        return "-", "-", "-"
    tau = check.ranking.tau
    tau_text = figures.coefficient(tau.value) if isinstance(tau, Estimate) else UNDEFINED
    return str(check.ranking.cin), str(check.ranking.lis), tau_text


def _grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _rules(watch: Watch) -> str:
    rules = watch.rules
    rows = [
        ("window", f"{rules.window} scores, patterns of {rules.order} with delay {rules.delay}"),
        ("reference", f"the first {rules.reference} scores of a segment"),
        (
            "baseline",
            f"{rules.baseline:.1%}" if rules.baseline is not None else "learned, at the upper end of its 95% bound",
        ),
        ("limit", f"{rules.limit:.1%}" if rules.limit is not None else "none"),
        ("run length", f"{rules.arl:,} scores"),
        ("human review", f"after {rules.recalibrate_days} days" if rules.recalibrate_days else "never by age"),
    ]
    return _grid(("rule", "value"), rows)


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
        title: Text at its left end.
        low: Lower end of its axis.
        high: Upper end of its axis.
        row_of: Row of each segment; as long as the segment's windows, or empty.
        cuts: Lower ends of medium and high; None for a metric without bands.
        reference_of: Returns the reference value of a segment; None for none.
    """

    key: str
    title: str
    low: float
    high: float
    row_of: Callable[[Segment], Sequence[float]]
    cuts: tuple[float, float] | None = None
    reference_of: Callable[[Segment], float | None] | None = None


def application_chart(watch: Watch, application: str) -> str:
    """Return the rolling metrics of one application as SVG, with instrument changes and alerts.

    Each panel shows one metric of the rolling windows; level and defect share
    come first, because the order metrics below ignore them. Lines break where
    the instrument changes. It needs no script or other file.
    """
    segments = [
        segment for segment in watch.segments if segment.application == application and segment.windows.positions
    ]
    panels = list(_panels(watch, segments))
    axis = lanes.Axis(_last(watch))
    series = [
        *_changes(watch.changes, axis, len(panels)),
        *(part for index, panel in enumerate(panels) for part in _panel(panel, index, segments, axis)),
        *_marks([alert for alert in watch.alerts if alert.application == application], panels, axis),
        *_days(watch, axis, len(panels)),
    ]
    words = f"{watch.history.name}{f', {application}' if application else ''}: {len(panels)} metrics of rolling windows"
    return lanes.chart(series, len(panels), title=words, label=_application_text(watch, application))


def _last(watch: Watch) -> int:
    return max(1, len(watch.history.scores) - 1)


def _panels(watch: Watch, segments: Sequence[Segment]) -> Iterator[Panel]:
    history, window = watch.history, watch.rules.window
    cuts, most = band_cuts(window), window * (window - 1) / 2.0
    title = f"mean of {window}, {history.lowest:g} to {history.highest:g}"
    yield Panel(
        "level",
        title,
        history.lowest,
        history.highest,
        lambda one: one.windows.level,
        reference_of=lambda one: one.level,
    )
    if any(segment.windows.defect_share for segment in segments):
        title = f"defects, share of {window}"
        yield Panel(
            "share", title, 0.0, 1.0, lambda one: one.windows.defect_share, reference_of=lambda one: one.baseline
        )
    yield Panel("pen", "PEN, normalised", 0.0, 1.0, lambda one: one.windows.pen, cuts["pen"])
    yield Panel("cin", "CIN, inversions", 0.0, most, lambda one: one.windows.cin, cuts["cin"])
    yield Panel("lis", "LIS, scores", 0.0, float(window), lambda one: one.windows.lis, cuts["lis"])


def _application_text(watch: Watch, application: str) -> str:
    alerts = [alert.kind.value for alert in watch.alerts if alert.application == application]
    result = "no alert" if not alerts else f"alerts: {', '.join(alerts)}"
    return f"Rolling metrics of {application or watch.history.name}; {result}. The table below says the same."


def _panel(panel: Panel, index: int, segments: Sequence[Segment], axis: lanes.Axis) -> Iterator[str]:
    rows = [(segment.windows.positions, panel.row_of(segment)) for segment in segments]
    # Each row is thinned separately: a list of a million pairs would take a hundred times the space.
    lines = [list(zip(thinned(positions if row else ()), thinned(row), strict=True)) for positions, row in rows]
    lane = lanes.Lane(
        title=panel.title,
        low=panel.low,
        high=panel.high,
        lines=lines,
        bands=lanes.bands(panel.cuts, panel.low, panel.high) if panel.cuts else (),
        references=tuple(_references(panel, segments)),
        ticks=() if panel.cuts else ((panel.low + panel.high) / 2,),
    )
    yield from lanes.lane_parts(lane, index, axis)


def _references(panel: Panel, segments: Sequence[Segment]) -> Iterator[tuple[float, str, int, int]]:
    """Yield the reference value of each segment; the last one has a label."""
    if panel.reference_of is None:
        return
    name = {"level": "level", "share": "baseline"}[panel.key]
    for segment in segments:
        value = panel.reference_of(segment)
        if value is not None and panel.low <= value <= panel.high:
            label = f"{name} {value:.2f}" if segment is segments[-1] else ""
            yield value, label, segment.windows.positions[0], segment.windows.positions[-1]


def _changes(changes: Sequence[InstrumentChange], axis: lanes.Axis, n_panels: int) -> Iterator[str]:
    for change in changes:
        label = "instrument?" if change.is_suspected else f"{change.part} {change.after}"
        yield lanes.rule(axis, change.position, label[:40], n_panels, kind="change")


def _marks(alerts: Sequence[Alert], panels: Sequence[Panel], axis: lanes.Axis) -> Iterator[str]:
    """Mark each alert at its panel: a bar from its start to its alarm, and a triangle at the alarm."""
    positions = {panel.key: position for position, panel in enumerate(panels)}
    for alert in alerts:
        position = positions.get(_KIND_PANEL.get(alert.kind, ""))
        if position is None or alert.position is None:
            continue
        x, y = axis.x(alert.position), lanes.lane_top(position)
        if alert.since is not None:
            begin = axis.x(alert.since)
            width = max(2.0, x - begin)
            yield f'<rect class="since" x="{begin:.1f}" y="{y:.1f}" width="{width:.1f}" height="{lanes.LANE}"/>'
        foot = lanes.chart_height(len(panels)) - lanes.BOTTOM
        yield f'<line class="alert-rule" x1="{x:.1f}" x2="{x:.1f}" y1="{lanes.TOP}" y2="{foot:g}"/>'
        yield f'<path class="alarm" d="M{x:.1f} {y:.1f}l-6 -10h12z"><title>{escape(alert.kind.value)}</title></path>'


def _days(watch: Watch, axis: lanes.Axis, n_panels: int) -> Iterator[str]:
    """Label a few days, or indices of scores, below the chart."""
    scores, last = watch.history.columns, _last(watch)
    positions = sorted({round(last * share / 5) for share in range(6)})
    for position in (position for position in positions if position < len(scores)):
        at = scores.at(position)
        yield lanes.tick(axis, position, f"{at:%Y-%m-%d}" if at else f"{position + 1:,}", n_panels)
