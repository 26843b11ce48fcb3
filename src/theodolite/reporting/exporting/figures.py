"""Figures of a run as SVG files for papers and slides: interval plots of rates, and a heatmap of areas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from theodolite.domain.estimate import Estimate, Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.study import Study
from theodolite.domain.undefined_reasons import UNDEFINED, undefined_text
from theodolite.reporting.interval_bars import axis_end, bar_of
from theodolite.reporting.queries.cases import rules_of, title_of
from theodolite.reporting.queries.rates import MatrixRow, Rate, interval_words, lead_rates, matrix_of, rates_of
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import heading_of, short_phrase

_FONT = "font-family=\"'Source Sans 3', 'Noto Sans', 'DejaVu Sans', sans-serif\""
_INK, _SOFT, _LINE, _DOT = "#1b2330", "#4d5868", "#cfd6df", "#24478f"

_LETTER = 7.6
"""Width of one letter at 13 pixels in a wide typeface, so that no text is cut; pixels."""

_ROW, _TOP, _PLOT = 30, 62, 320
"""Height of a row, height above the first row and width of the plot; pixels."""

_CELL_WIDTH, _CELL_HEIGHT = 132, 44
"""Size of a cell of the heatmap; pixels."""

_LIGHT, _DARK = (244, 246, 249), (28, 50, 96)
"""Colours of the rates 0 and 1: one hue, so that only lightness carries the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure.

    Attributes:
        name: Name of its file, without ending.
        title: Heading.
        svg: The drawing as self-contained SVG.
    """

    name: str
    title: str
    svg: str


def figures_of(evidence: Evidence, findings: Findings) -> tuple[Figure, ...]:
    """Return the figures of a run: one interval plot for each defect rule, and the heatmap where there are areas.

    Each plot has an axis with ticks from 0, the interval of each rate and its
    count, so that a figure is complete without the report. Rates of fewer than
    ten units have their count and no interval.

    Args:
        evidence: All records of one run.
        findings: All numbers of the run.
    """
    study, rates = evidence.study, rates_of(findings, evidence.study)
    plots = list(_interval_plots(study, rates))
    rows = matrix_of(study, rates)
    if rows:
        plots.append(_heatmap(study, rows))
    return tuple(plots)


def _interval_plots(study: Study, rates: tuple[Rate, ...]) -> Iterator[Figure]:
    for guideline, rule in rules_of(study):
        lead = lead_rates(rates, guideline.name, rule.name)
        if lead:
            yield _interval_plot(study, guideline, rule, lead)


def _interval_plot(study: Study, guideline: Guideline, rule: DefectRule, rates: Sequence[Rate]) -> Figure:
    several = len({rate.annotator for rate in rates}) > 1
    names = [_row_name(study, rate, with_annotator=several) for rate in rates]
    texts = [_rate_words(rate) for rate in rates]
    left = 24 + _LETTER * max(map(len, names))
    right = left + _PLOT + 24
    width, height = right + _LETTER * max(map(len, texts)) + 16, _TOP + _ROW * len(rates) + 58
    title, end = heading_of(guideline, rule), axis_end(rates)
    bottom = _TOP + _ROW * len(rates)
    parts = [_text(16, 26, title, size=16, weight=600), _text(16, 45, _subtitle(rule, rates), fill=_SOFT)]
    for tick in _ticks(end):
        x = left + _PLOT * tick / end
        parts.append(_line(x, _TOP - 6, x, bottom, _LINE))
        parts.append(_text(x, bottom + 18, f"{figures.points(tick).removesuffix('.0')}%", anchor="middle", fill=_SOFT))
    for number, (rate, name, text) in enumerate(zip(rates, names, texts, strict=True)):
        y = _TOP + _ROW * number + _ROW / 2
        parts.append(_text(16, y + 4, name))
        parts.append(_text(right, y + 4, text))
        parts += _mark(rate, end, left, y)
    parts.append(_text(16, bottom + 42, _note(rates), size=11, fill=_SOFT))
    return Figure(
        name=_file_name(f"rate-{guideline.name}-{rule.name}"), title=title, svg=_svg(width, height, title, parts)
    )


def _row_name(study: Study, rate: Rate, *, with_annotator: bool) -> str:
    parts = [rate.measurement.application, rate.station]
    if with_annotator:
        parts.insert(1, title_of(study, rate.annotator))
    return ", ".join(filter(None, parts))


def _subtitle(rule: DefectRule, rates: Sequence[Rate]) -> str:
    confidence = next((rate.estimate.confidence for rate in rates if rate.estimate), None)
    interval = f", {100 * confidence:g}% intervals" if confidence else ""
    return f"Defect: {short_phrase(rule) if rule.phrase else rule.condition}{interval}"


def _rate_words(rate: Rate) -> str:
    result = rate.measurement.result
    if not isinstance(result, Estimate):
        return undefined_text(result)
    words = f"{rate.defects_text} of {figures.count(result.n)}"
    if result.n < figures.FEW:
        return f"{words}, too few for a rate"
    return f"{words}, {figures.percent(result.value)} ({interval_words(rate)})"


def _note(rates: Sequence[Rate]) -> str:
    methods = sorted({rate.estimate.method for rate in rates if rate.estimate})
    planned = sum(rate.measurement.outcomes.planned for rate in rates)
    unmeasured = sum(rate.measurement.outcomes.unmeasured for rate in rates)
    return f"Method: {', '.join(methods) or 'none'}. Not measured: {unmeasured:,} of {planned:,} planned."


def _mark(rate: Rate, end: float, left: float, y: float) -> list[str]:
    """Return the interval with its point; a bound if no defect was found; empty for few units."""
    if rate.estimate is None or rate.estimate.n < figures.FEW:
        return []
    bar = bar_of(rate, end)
    low, value, high = (left + _PLOT * at for at in (bar.low, bar.value, bar.high))
    fill = "#fff" if bar.is_zero else _DOT
    ends = [_line(x, y - 5, x, y + 5, _DOT, 2) for x in ((high,) if bar.is_zero else (low, high))]
    point = f'<circle cx="{value:.1f}" cy="{y:.1f}" r="4.5" fill="{fill}" stroke="{_DOT}" stroke-width="2"/>'
    return [_line(low, y, high, y, _DOT, 2), *ends, point]


def _ticks(end: float) -> tuple[float, ...]:
    return tuple(end * fifth / 5 for fifth in range(6))


def _heatmap(study: Study, rows: Sequence[MatrixRow]) -> Figure:
    names = [f"{row.area} ({row.station})" if row.station else row.area for row in rows]
    applications = [application.name for application in study.applications]
    left, top = 24 + _LETTER * max(map(len, names)), 84
    parts = [
        _text(16, 26, "Defect rate by area and application", size=16, weight=600),
        _text(16, 45, "Darker is a higher rate. The bar is the 95% interval on a scale of 0 to 100%.", fill=_SOFT),
    ]
    for column, application in enumerate(applications):
        middle = left + _CELL_WIDTH * (column + 0.5)
        parts.append(_text(middle, top - 10, application, anchor="middle", weight=600))
    for number, (row, name) in enumerate(zip(rows, names, strict=True)):
        y = top + _CELL_HEIGHT * number
        parts.append(_text(16, y + _CELL_HEIGHT / 2 + 4, name))
        for column, rate in enumerate(row.cells):
            parts += _cell(rate, left + _CELL_WIDTH * column, y)
    width, height = left + _CELL_WIDTH * len(applications) + 16, top + _CELL_HEIGHT * len(rows) + 16
    title = "Defect rate by area and application"
    return Figure(name="areas", title=title, svg=_svg(width, height, title, parts))


def _cell(rate: Rate | None, x: float, y: float) -> list[str]:
    box = f'<rect x="{x + 2:.1f}" y="{y + 2:.1f}" width="{_CELL_WIDTH - 4}" height="{_CELL_HEIGHT - 4}"'
    middle = x + _CELL_WIDTH / 2
    estimate = rate.estimate if rate else None
    if rate is None or estimate is None:
        words = "not planned" if rate is None else UNDEFINED
        return [f'{box} fill="none" stroke="{_LINE}"/>', _text(middle, y + 26, words, anchor="middle", fill=_SOFT)]
    words = f"{rate.defects_text} of {figures.count(estimate.n)}"
    if estimate.n < figures.FEW:
        return [f'{box} fill="none" stroke="{_SOFT}"/>', _text(middle, y + 26, words, anchor="middle")]
    shade = tuple(round(a + (b - a) * estimate.value) for a, b in zip(_LIGHT, _DARK, strict=True))
    ink = "#fff" if estimate.value > 0.5 else _INK
    bar, start, length = bar_of(rate, 1.0), x + 16, _CELL_WIDTH - 32
    low, high = start + length * bar.low, start + length * bar.high
    return [
        f'{box} fill="rgb{shade}"/>',
        _text(middle, y + 20, words, anchor="middle", fill=ink),
        _line(start, y + 32, start + length, y + 32, ink, 0.5),
        _line(low, y + 32, high, y + 32, ink, 3),
    ]


def _line(x1: float, y1: float, x2: float, y2: float, stroke: str, width: float = 1) -> str:
    at = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {at} stroke="{stroke}" stroke-width="{width:g}"/>'


def _text(
    x: float, y: float, words: str, *, size: int = 13, weight: int = 400, anchor: str = "start", fill: str = _INK
) -> str:
    look = f'font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="{fill}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(words)}</text>'


def _svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    inside = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {_FONT}>\n<title>{escape(title)}</title>\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{inside}\n</svg>\n'
    )


def _file_name(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
