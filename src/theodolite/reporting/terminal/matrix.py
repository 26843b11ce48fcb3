"""The matrix of areas and applications as lines of a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from theodolite.domain.study import Study
from theodolite.reporting.found.matrix import MatrixRow
from theodolite.reporting.found.rates import Rate
from theodolite.reporting.words import figures

_NAME = 20

_CELL = 20


def matrix_lines(study: Study, rows: Sequence[MatrixRow], width: int) -> list[str]:
    """Return a matrix as lines of a terminal; applications that do not fit follow in a further table."""
    names = [application.name for application in study.applications]
    widest = max((len(_cell(rate)) for row in rows for rate in row.cells), default=0)
    cell = max(_CELL, widest + 1)
    fitting = max(1, (width - _NAME) // cell)
    lines: list[str] = []
    for start in range(0, len(names), fitting):
        part = [(row, row.cells[start : start + fitting]) for row in rows]
        lines += _table(names[start : start + fitting], part, cell)
    return [*lines, " " * _NAME + "defects of labelled, 95 % interval in percent; no ranking"]


def _table(names: Sequence[str], rows: Sequence[tuple[MatrixRow, Sequence[Rate | None]]], cell: int) -> list[str]:
    lines = [_line("", names, cell)]
    station = ""
    shown = Counter((row.station, _area(row)[: _NAME - 1]) for row, _ in rows)
    for row, cells in rows:
        if row.station != station:
            station = row.station
            lines.append(station)
        name = _area(row)
        is_told_by = len(name) >= _NAME and ", by " in name
        if is_told_by or shown[station, name[: _NAME - 1]] > 1:  # cut off, two areas would have one name
            lines.append(name)
            name = ""
        lines.append(_line(name, [_cell(rate) for rate in cells], cell))
    return lines


def _area(row: MatrixRow) -> str:
    return f"{'  ' if row.station else ''}{row.area}"


def _line(name: str, texts: Sequence[str], cell: int) -> str:
    """Return a row; a number is never cut, since the cells are as wide as the widest."""
    return (f"{name[: _NAME - 1]:<{_NAME}}" + "".join(f"{text[: cell - 1]:<{cell}}" for text in texts)).rstrip()


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
    """Return a fraction in whole percents; one that is neither none nor all is never rounded to that."""
    percent = round(100 * fraction)
    return "<1" if fraction > 0 and not percent else ">99" if fraction < 1 and percent == 100 else str(percent)
