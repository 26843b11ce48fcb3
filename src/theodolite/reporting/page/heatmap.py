"""The heatmap of the first screen: areas by applications, one group of columns for each level of testing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from theodolite.domain.annotation import Outcome
from theodolite.domain.study import Study
from theodolite.reporting.interval_bars import bar_of
from theodolite.reporting.page.rates import rate_cell
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.rates import SPLIT, MatrixRow, Rate, matrix_of
from theodolite.reporting.tables import RateCell
from theodolite.reporting.words import figures

STEPS = 9
"""Number of steps of the hue; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatCell:
    """One rate.

    Attributes:
        rate: The rate; None if the study plans none.
        step: Its step of the hue, 0 to 8; -1 for too few dialogues or an undefined rate.
        value: The rate as a fraction, for sorting; -1 for none.
        width: Width of its interval, for sorting; -1 for none.
    """

    rate: RateCell | None
    step: int = -1
    value: float = -1
    width: float = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatRow:
    """One area with its cells, level by level."""

    area: str
    group: str
    cells: tuple[HeatCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatLevel:
    """A group of columns: a level of testing.

    Attributes:
        title: Level and tester type; empty if there is only one.
        size: Dialogues in a cell, as text.
        is_small: Whether all its cells have too few dialogues for a rate.
    """

    title: str
    size: str
    is_small: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Heatmap:
    """Areas by applications.

    Attributes:
        applications: Name and number of the colour of each application.
        levels: Groups of columns.
        rows: Areas, those of one group together.
        groups: Each group of areas with the number of its areas.
    """

    applications: tuple[tuple[str, int], ...]
    levels: tuple[HeatLevel, ...]
    rows: tuple[HeatRow, ...]
    groups: tuple[tuple[str, int], ...]


def heatmap_of(subject: Subject) -> Heatmap | None:
    """Return the heatmap of a study with many areas and several applications; None for others."""
    rows = [replace(row, station=_station(subject, row)) for row in matrix_of(subject.study, subject.rates)]
    if not rows:
        return None
    by_cell = {(row.area, row.station): row for row in rows}
    stations = sorted(dict.fromkeys(row.station for row in rows), key=lambda name: -_largest(rows, name))
    areas = list(dict.fromkeys(row.area for row in rows))
    groups = {area: _group(subject.study, [row for row in rows if row.area == area]) for area in areas}
    ordered = sorted(areas, key=lambda area: list(dict.fromkeys(groups.values())).index(groups[area]))
    applications = tuple((app.name, subject.tint(app.name)) for app in subject.study.applications)
    return Heatmap(
        applications=applications,
        levels=tuple(_level(rows, station) for station in stations),
        rows=tuple(
            HeatRow(
                area=area,
                group=groups[area],
                cells=tuple(
                    cell
                    for station in stations
                    for cell in _cells(subject, by_cell.get((area, station)), len(applications))
                ),
            )
            for area in ordered
        ),
        groups=tuple(
            (group, sum(other == group for other in groups.values()))
            for group in dict.fromkeys(groups[a] for a in ordered)
        ),
    )


def _group(study: Study, rows: Sequence[MatrixRow]) -> str:
    """Return the title of an area's defect if several areas share it; else of its violation."""
    rate = next((rate for row in rows for rate in row.cells if rate is not None), None)
    if rate is None:
        return ""
    subject = rate.measurement.subject
    guideline = next((one for one in study.guidelines if one.name == subject.guideline), None)
    rule = next((one for one in guideline.defect_rules if one.name == subject.rule), None) if guideline else None
    violation = rule.violation if rule else None
    return violation.value.replace("_", " ").capitalize() if violation else "Other"


def _station(subject: Subject, row: MatrixRow) -> str:
    """Return the level of testing and the tester type; read from the plan if an area has only one level."""
    rate = next((rate for rate in row.cells if rate is not None and rate.group is not None), None)
    if row.station or rate is None or rate.group is None or rate.group.name != SPLIT:
        return row.station
    scenario = rate.group.value
    settings = {
        f"{setting.level.value}, {setting.held_by.value}"
        for setting in subject.evidence.answers.settings
        if setting.scenario == scenario
    }
    return settings.pop() if len(settings) == 1 else ""


def _add_rest(subject: Subject, rate: Rate) -> None:
    """Store the labelled dialogues of a rate that are not defects, if their number equals its count."""
    of, group = rate.measurement.subject, rate.group
    guideline = next((one for one in subject.study.guidelines if one.name == of.guideline), None)
    defects = {case.index for case in subject.labelled(rate.measurement.dialogues)}
    if guideline is None or (group is not None and group.name != SPLIT):
        return
    rule = next((one for one in guideline.defect_rules if one.name == of.rule), None)
    rest = [
        case.index
        for case in subject.cases
        if case.index not in defects
        and case.setting.application == of.application
        and (group is None or case.setting.scenario == group.value)
        and rate.station in {"", f"{case.setting.level.value}, {case.setting.held_by.value}"}
        and rule is not None
        and case.dialogue_label(rate.annotator, guideline, rule.question).outcome is Outcome.ANSWERED
    ]
    if len(rest) + len(defects) == rate.measurement.result.n:
        subject.sets.add(f"rest{rate.place}", f"{of.application}: no defect", rest)


def _sizes(rows: Sequence[MatrixRow], station: str) -> list[int]:
    return [
        rate.measurement.result.n for row in rows if row.station == station for rate in row.cells if rate is not None
    ]


def _largest(rows: Sequence[MatrixRow], station: str) -> int:
    return max(_sizes(rows, station), default=0)


def _level(rows: Sequence[MatrixRow], station: str) -> HeatLevel:
    sizes = sorted(_sizes(rows, station))
    low, high = sizes[0], sizes[-1]
    cell_size = figures.count(high) if low == high else f"{figures.count(low)} to {figures.count(high)}"
    return HeatLevel(
        title=station[:1].upper() + station[1:], size=f"{cell_size} dialogues a cell", is_small=high < figures.FEW
    )


def _cells(subject: Subject, row: MatrixRow | None, n: int) -> tuple[HeatCell, ...]:
    rates: Sequence[Rate | None] = row.cells if row else [None] * n
    return tuple(_cell(subject, rate) for rate in rates)


def _cell(subject: Subject, rate: Rate | None) -> HeatCell:
    if rate is None:
        return HeatCell(rate=None)
    shown = rate_cell(subject, rate, 1.0)
    _add_rest(subject, rate)
    estimate = rate.estimate
    if estimate is None or shown.bar is None:
        return HeatCell(rate=shown)
    bar = bar_of(rate, 1.0)
    step = min(int(estimate.value * (STEPS - 0.001)), STEPS - 1)
    return HeatCell(rate=shown, step=step, value=estimate.value, width=round(bar.high - bar.low, 4))
