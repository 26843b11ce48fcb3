"""The matrix: areas in the rows, applications in the columns, where a study looks at many areas at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from theodolite.domain.annotator import PEOPLE
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.study import Study
from theodolite.reporting.found.cases import rules_of, title_of
from theodolite.reporting.found.rates import Rate, lead_rates
from theodolite.reporting.words.rules import heading_of

AREAS = 4
"""Areas from which on a matrix says more than a block for each."""

SPLIT = "scenario"
"""Group by which one guideline's rate falls into several areas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """One area at one station.

    Attributes:
        area: Name of the area.
        station: Level of testing and who held the tester's side; empty where there is one alone.
        cells: The rate of each application, in order of the study; None where there is none.
    """

    area: str
    station: str
    cells: tuple[Rate | None, ...]


def matrix_of(study: Study, rates: tuple[Rate, ...]) -> tuple[MatrixRow, ...]:
    """Return areas by applications, level by level; empty where there are few areas or one application.

    An area is a defect rule or, where the study splits by scenario, a rule in one
    scenario. Each annotator whose labels lead has rows of its own. Areas of one name
    have the rule behind it: no two are called alike.
    """
    applications = [application.name for application in study.applications]
    by_rule = [
        (guideline, rule, _rows(study, guideline, rule, rates, applications)) for guideline, rule in rules_of(study)
    ]
    rows = list(_named_apart(by_rule))
    stations = dict.fromkeys(row.station for row in rows)
    if len(applications) < 2 or len({row.area for row in rows}) < AREAS:
        return ()
    return tuple(row for station in sorted(stations, key=bool) for row in rows if row.station == station)


def _named_apart(by_rule: Sequence[tuple[Guideline, DefectRule, Sequence[MatrixRow]]]) -> Iterator[MatrixRow]:
    """Yield the rows of all rules; where two rules have areas of one name, guideline and rule stand behind it."""
    called = Counter(area for _, _, rows in by_rule for area in {row.area for row in rows})
    for guideline, rule, rows in by_rule:
        for row in rows:
            alike = [one for one, _, others in by_rule if row.area in {other.area for other in others}]
            which = rule.name if len({one.name for one in alike}) == 1 else f"{guideline.name}, {rule.name}"
            yield replace(row, area=f"{row.area}: {which}") if called[row.area] > 1 else row


def _rows(
    study: Study, guideline: Guideline, rule: DefectRule, rates: tuple[Rate, ...], applications: Sequence[str]
) -> list[MatrixRow]:
    lead = lead_rates(rates, guideline.name, rule.name)
    voices = {rate.annotator for rate in lead}
    split = [rate for rate in rates if _is_part(rate, guideline, rule, voices)]
    found: dict[tuple[str, str], dict[str, Rate]] = {}
    for rate in split or lead:
        area = rate.group.value if rate.group else heading_of(guideline, rule)
        is_named = len(voices) > 1 or rate.annotator == PEOPLE
        name = f"{area}, by {title_of(study, rate.annotator)}" if is_named else area
        if rate.measurement.result.n:
            found.setdefault((name, rate.station), {})[rate.measurement.application] = rate
    return [
        MatrixRow(area=area, station=station, cells=tuple(by_application.get(name) for name in applications))
        for (area, station), by_application in found.items()
    ]


def _is_part(rate: Rate, guideline: Guideline, rule: DefectRule, voices: set[str]) -> bool:
    subject = rate.measurement.subject
    of_rule = (subject.guideline, subject.rule) == (guideline.name, rule.name)
    return of_rule and rate.annotator in voices and rate.group is not None and rate.group.name == SPLIT
