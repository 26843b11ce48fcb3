"""Rates of a summary: two sides of a guardrail, one line for each rule, or a matrix of areas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from theodolite.domain.estimate import Undefined
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.plan import Setting
from theodolite.domain.study import Study
from theodolite.domain.undefined_reasons import UNDEFINED, reason_text, undefined_text
from theodolite.reporting.interval_bars import Pen, axis_end, bar_of, bar_text
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.queries.rates import (
    Guardrail,
    MatrixRow,
    Rate,
    interval_words,
    lead_rates,
    unlabelled_guidelines,
)
from theodolite.reporting.terminal.layout import MARGIN, labelled
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import cluster_words, phrase_of, short_phrase
from theodolite.reporting.words.reading_aids import Words

_NAME = 16

_SIDE = 32

_CELLS = 7

_LONG_CELLS = 10

_STRIP_AT = 36

_MARGIN_OF_NAMES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """Characters for drawing rows.

    Attributes:
        width: Columns of the terminal; count.
        pen: Characters of the strips.
        words: The reading aids.
        settings: Common settings of the run's sessions, for the names of clusters.
    """

    width: int
    pen: Pen
    words: Words
    settings: Sequence[Setting] = ()


def guardrail_rows(study: Study, guardrail: Guardrail, rates: tuple[Rate, ...], screen: Screen) -> list[str]:
    """Return both sides of a guardrail next to each other, one line per application."""
    sides = (guardrail.withheld, guardrail.released)
    columns = [lead_rates(rates, guardrail.guideline.name, rule.name) for rule in sides]
    end = axis_end([rate for column in columns for rate in column])
    titles = [(rule.title or rule.name).upper() for rule in sides]
    apart = any(rate.station for column in columns for rate in column)
    phrases = [
        short_phrase(rule) if apart else phrase_of(rule, {_widest(column)})
        for rule, column in zip(sides, columns, strict=True)
    ]
    margin = " " * _NAME
    rows = [_sided(margin, titles), _sided(margin, phrases)]
    for application in study.applications:
        rows += _sided_rows(study, application.name, columns, end, screen)
    return [*rows, margin + f"95% intervals; axis 0 to {figures.points(end).removesuffix('.0')}%; {_ORDER}"]


_ORDER = "file order, not a ranking"


def _widest(column: Sequence[Rate]) -> int:
    return max((rate.estimate.n for rate in column if rate.estimate), default=0)


def _sided(name: str, cells: Sequence[str]) -> str:
    return (name + cells[0].ljust(_SIDE) + cells[1]).rstrip()


def _sided_rows(
    study: Study, application: str, columns: Sequence[Sequence[Rate]], end: float, screen: Screen
) -> list[str]:
    """Return an application's row or, if several annotators are side by side, one row each below its name."""
    sides = [
        {(r.station, r.annotator): r for r in column if r.measurement.application == application} for column in columns
    ]
    keys = _keys(sides)
    several = len({annotator for _, annotator in keys}) > 1
    rows = [] if len(keys) < 2 and len(application) < _NAME else [application]
    met = ""
    for condition, annotator in keys:
        result = [side.get((condition, annotator)) for side in sides]
        if condition and condition != met:
            rows.append(f"  {condition}, {_of_each(result)}")
            met = condition
        name = f"  {title_of(study, annotator)}" if several or (rows and not condition) else ""
        cells = [_side(rate, end, screen) for rate in result]
        rows.append(_sided(f"{(name if rows else application)[: _NAME - 1]:<{_NAME}}", cells))
    return rows


def _keys(sides: Sequence[Mapping[tuple[str, str], Rate]]) -> list[tuple[str, str]]:
    """Return test setting and annotator of each row; unmeasured rows have none if others are measured."""
    keys = list(dict.fromkeys(voice for side in sides for voice in side)) or [("", "")]
    at_stations = [(condition, annotator) for condition, annotator in keys if condition]
    idle = not any(rate.estimate for side in sides for (condition, _), rate in side.items() if not condition)
    return at_stations if at_stations and idle else keys


def _of_each(rates: Sequence[Rate | None]) -> str:
    """Return the dialogues behind each side, since levels of testing differ between them."""
    return " and ".join(f"of {figures.count(rate.estimate.n)}" for rate in rates if rate and rate.estimate)


def _side(rate: Rate | None, end: float, screen: Screen) -> str:
    if rate is None or rate.estimate is None:
        return "not measured"
    if rate.estimate.n < figures.FEW:
        return " " * (_CELLS + 1) + f"{rate.defects_text} of {rate.estimate.n}"
    strip = bar_text(bar_of(rate, end), cells=_CELLS, pen=screen.pen)
    percent, interval = (
        words.replace("100.0", "100")  # or both sides would be wider than a terminal, and grow together
        for words in (figures.percent(rate.estimate.value), interval_words(rate))
    )
    return f"{strip} {rate.defects_text:>3} {percent:>6} {interval}"


def rule_rows(
    study: Study, rules: Sequence[tuple[Guideline, DefectRule]], rates: tuple[Rate, ...], screen: Screen
) -> list[str]:
    """Return one block per rule: its condition, and one line per application and annotator."""
    bare = unlabelled_guidelines(study, rates)
    result = [
        (guideline, rule, lead_rates(rates, guideline.name, rule.name))
        for guideline, rule in rules
        if guideline not in bare
    ]
    shown = [rate for _, _, column in result for rate in column]
    end = axis_end(shown)
    rows = [line for guideline, rule, column in result for line in _block(study, guideline, rule, column, end, screen)]
    if any(rate.estimate is not None and rate.estimate.n >= figures.FEW for rate in shown):
        rows.append(" " * MARGIN + f"95% intervals; axis 0 to {figures.points(end).removesuffix('.0')}%; {_ORDER}")
    return rows


def _block(
    study: Study, guideline: Guideline, rule: DefectRule, column: Sequence[Rate], end: float, screen: Screen
) -> list[str]:
    title = f"defect ({rule.condition})"
    if len(guideline.defect_rules) > 1 and rule.title:
        title = f"{rule.title} ({rule.condition})"
    head = f"{guideline.name} ".ljust(MARGIN) + title
    if len(column) == 1 and column[0].estimate is not None and len(head) < _STRIP_AT:
        return [head.ljust(_STRIP_AT) + line_of(column[0], end, screen), *_remarks(column[0], screen)]
    rows = [head]
    for rate in column:
        if rate.estimate is not None:
            rows += _line_of_name(f"  {_who(study, rate, column)}", line_of(rate, end, screen))
            rows += _remarks(rate, screen)
    return rows + _undefined_rows(study, column, screen)


def _line_of_name(name: str, line: str) -> list[str]:
    """Return name and rate on one line, or on two if the name would move the bar out of its column."""
    together = name.ljust(_STRIP_AT - 1) + " " + line
    return [together] if len(name) < _STRIP_AT else [name, " " * _STRIP_AT + line]


def _undefined_rows(study: Study, column: Sequence[Rate], screen: Screen) -> list[str]:
    """Return why there are no rates: one line per rate, or one for all with the same reason."""
    alike: dict[str, list[Rate]] = {}
    for rate in column:
        if isinstance(rate.measurement.result, Undefined):
            alike.setdefault(rate.measurement.result.reason, []).append(rate)
    rows = []
    for reason, rates in alike.items():
        names = [_who(study, rate, column) for rate in rates]
        if len(names) == 1:
            label, text = f"  {names[0]} ", f"{UNDEFINED}: {reason_text(reason)}"
        else:
            label, text = f"  {UNDEFINED}", f"{reason} So for {'; '.join(names)}."
        rows += labelled(label, text, margin=_MARGIN_OF_NAMES, width=screen.width)
    return rows


def _who(study: Study, rate: Rate, column: Sequence[Rate]) -> str:
    names = [rate.measurement.application]
    if len({other.annotator for other in column}) > 1:
        names.append(f"by {title_of(study, rate.annotator)}")
    if rate.station:
        names.append(rate.station)
    return ", ".join(names)


def line_of(rate: Rate, end: float, screen: Screen) -> str:
    """Return a rate as bar, count, percentage and interval; only the count if there are few units."""
    result = rate.measurement.result
    if isinstance(result, Undefined):
        return undefined_text(result)
    part = f"{rate.defects_text} of {figures.count(result.n)}"
    if result.n < figures.FEW:
        return f"{part}; too few for a percent"
    strip = bar_text(bar_of(rate, end), cells=_LONG_CELLS, pen=screen.pen)
    wide = f"{strip} {part:>9}   {figures.percent(result.value):>6}   {interval_words(rate)}"
    return wide if len(wide) <= screen.width - _STRIP_AT else " ".join(wide.split())


def _remarks(rate: Rate, screen: Screen) -> list[str]:
    estimate = rate.estimate
    if estimate is None or estimate.n < figures.FEW:
        return []
    remarks = []
    if estimate.n_clusters is not None and estimate.n_clusters < estimate.n:
        one, many = cluster_words(screen.settings, rate.measurement.subject)
        testers = one if estimate.n_clusters == 1 else many
        n, k = figures.count(estimate.n), figures.count(estimate.n_clusters)
        remarks.append(screen.words.short("few_personas", n=n, k=k, testers=testers, tester=one, m=""))
    return [line for remark in remarks for line in labelled("", remark, margin=MARGIN, width=screen.width)]


_AREA_NAME = 20


_CELL = 20


def matrix_lines(study: Study, rows: Sequence[MatrixRow], width: int) -> list[str]:
    """Return a matrix as lines of a terminal; applications that do not fit follow in a further table."""
    names = [application.name for application in study.applications]
    widest = max((len(_cell(rate)) for row in rows for rate in row.cells), default=0)
    cell = max(_CELL, widest + 1)
    fitting = max(1, (width - _AREA_NAME) // cell)
    lines: list[str] = []
    for start in range(0, len(names), fitting):
        part = [(row, row.cells[start : start + fitting]) for row in rows]
        lines += _table(names[start : start + fitting], part, cell)
    return [*lines, " " * _AREA_NAME + "defects of labelled, 95% interval in percent; no ranking"]


def _table(names: Sequence[str], rows: Sequence[tuple[MatrixRow, Sequence[Rate | None]]], cell: int) -> list[str]:
    lines = [_line("", names, cell)]
    condition = ""
    shown = Counter((row.station, _area(row)[: _AREA_NAME - 1]) for row, _ in rows)
    for row, cells in rows:
        if row.station != condition:
            condition = row.station
            lines.append(condition)
        name = _area(row)
        is_cut = len(name) >= _AREA_NAME and ", by " in name
        if is_cut or shown[condition, name[: _AREA_NAME - 1]] > 1:  # cut off, two areas would have one name
            lines.append(name)
            name = ""
        lines.append(_line(name, [_cell(rate) for rate in cells], cell))
    return lines


def _area(row: MatrixRow) -> str:
    return f"{'  ' if row.station else ''}{row.area}"


def _line(name: str, texts: Sequence[str], cell: int) -> str:
    """Return a row; numbers are never cut, because the cells are as wide as the widest number."""
    return (
        f"{name[: _AREA_NAME - 1]:<{_AREA_NAME}}" + "".join(f"{text[: cell - 1]:<{cell}}" for text in texts)
    ).rstrip()


def _cell(rate: Rate | None) -> str:
    if rate is None or rate.estimate is None:
        return "not measured"
    estimate = rate.estimate
    counts = f"{rate.defects_text} of {figures.count(estimate.n)}"
    if estimate.n < figures.FEW or estimate.low is None or estimate.high is None:
        return counts
    if rate.defects == 0:
        return f"{counts}, to {_whole(rate.ceiling if rate.ceiling is not None else estimate.high)}"
    return f"{counts}, {_whole(estimate.low)} to {_whole(estimate.high)}"


def _whole(fraction: float) -> str:
    """Return a fraction as whole percent, never rounded to 0 or 100% unless exact."""
    percent = round(100 * fraction)
    return "<1" if fraction > 0 and not percent else ">99" if fraction < 1 and percent == 100 else str(percent)
