"""The catalogue of strategies as the page shows it: one table a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.estimate import StrategyTally, Undefined
from theodolite.domain.scenario import strategy_title
from theodolite.domain.strategy import OWN_WAY
from theodolite.reporting.found.cases import title_of
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyCell:
    """How a strategy fared against one application.

    Attributes:
        application: Name of the application.
        released: Dialogues in which something was released, in the red teamer's eyes, of those held; else why
            nobody knows.
        more: Attempts, refinements, what annotators say, what was not held.
        opens: Name of the set of these dialogues, or of all where nothing was released; empty for none.
        opens_all: Name of the set of all dialogues held; empty where `opens` is it.
    """

    application: str
    released: str
    more: str
    opens: str
    opens_all: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyLine:
    """One strategy against each application.

    Attributes:
        title: What it does, as the beginning of a line.
        name: What study files call it; empty for ways of people's own, which no study file names.
        cells: How it fared, in order of the applications; None where it was not tried.
    """

    title: str
    name: str
    cells: tuple[StrategyCell | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyTable:
    """One scenario at one level: strategies in the rows, applications in the columns."""

    scenario: str
    station: str
    applications: tuple[str, ...]
    rows: tuple[StrategyLine, ...]


def strategy_tables(subject: Subject) -> tuple[StrategyTable, ...]:
    """Return the catalogue of strategies; people and simulated red teamers apart."""
    tallies = subject.findings.strategies
    places = dict.fromkeys((tally.scenario, f"{tally.level}, {tally.held_by}") for tally in tallies)
    return tuple(
        _table(subject, scenario, station, [t for t in tallies if _place(t) == (scenario, station)])
        for scenario, station in places
    )


def _place(tally: StrategyTally) -> tuple[str, str]:
    return tally.scenario, f"{tally.level}, {tally.held_by}"


def _table(subject: Subject, scenario: str, station: str, tallies: Sequence[StrategyTally]) -> StrategyTable:
    met = {tally.application for tally in tallies}
    applications = tuple(a.name for a in subject.study.applications if a.name in met)
    found = {(tally.strategy, tally.application): tally for tally in tallies}
    strategies = dict.fromkeys(tally.strategy for tally in tallies)
    return StrategyTable(
        scenario=scenario,
        station=station,
        applications=applications,
        rows=tuple(
            _line(subject, name, [found.get((name, application)) for application in applications])
            for name in strategies
        ),
    )


def _line(subject: Subject, name: str, tallies: Sequence[StrategyTally | None]) -> StrategyLine:
    title = strategy_title(subject.study.scenarios, name)
    return StrategyLine(
        title=title[:1].upper() + title[1:],
        name="" if name == OWN_WAY else name,
        cells=tuple(_cell(subject, tally) for tally in tallies),
    )


def _cell(subject: Subject, tally: StrategyTally | None) -> StrategyCell | None:
    if tally is None:
        return None
    name = f"strategy.{tally.scenario}.{tally.strategy}.{tally.application}.{tally.level}.{tally.held_by}"
    what = f"{tally.application}, {tally.scenario}: {strategy_title(subject.study.scenarios, tally.strategy)}"
    released = _set(subject, name, f"{what}; released", tally.dialogues)
    held = _set(subject, f"{name}.held", f"{what}; all that was tried", tally.held)
    return StrategyCell(
        application=tally.application,
        released=_released(tally),
        more="; ".join(_more(subject, tally)),
        opens=released or held,
        opens_all=held if released and len(tally.dialogues) < len(tally.held) else "",
    )


def _set(subject: Subject, name: str, title: str, labels: Sequence[str]) -> str:
    return subject.sets.add(name, title, [case.index for case in subject.labelled(set(labels))])


def _released(tally: StrategyTally) -> str:
    if isinstance(tally.success, Undefined) and tally.tries:
        return f"not known of {figures.count(tally.tries)}"
    return f"{figures.count(len(set(tally.dialogues)))} of {figures.count(tally.tries)}"


def _more(subject: Subject, tally: StrategyTally) -> list[str]:
    parts = [
        figures.number_of(tally.attempts, "attempt"),
        figures.number_of(tally.refinements, "refinement"),
        *([tally.success.reason.rstrip(".").lower()] if isinstance(tally.success, Undefined) else []),
        *(f"{title_of(subject.study, name)}: {figures.count(n)} released" for name, n in tally.confirmed.items()),
    ]
    if tally.planned > tally.tries:
        parts.append(f"{figures.count(tally.planned - tally.tries)} not held")
    return parts
