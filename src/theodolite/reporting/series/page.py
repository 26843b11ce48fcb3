"""The studies of a series as one HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.event import Series
from theodolite.domain.tree_finding import NodeFinding
from theodolite.domain.undefined_reasons import undefined_text
from theodolite.reporting.interval_bars import IntervalBar, axis_end, bar_of, scale_of
from theodolite.reporting.page.report import policy_of, style_of, template_of
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.queries.rates import Rate, interval_words, unmeasured_words
from theodolite.reporting.series.sides import (
    RateRow,
    RuleTable,
    SeriesResults,
    SeriesStudy,
    TreeTable,
    deviations,
    node_names,
    rule_tables,
    tree_tables,
)
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import published_facts
from theodolite.reporting.words.trees import basis_words, value_words

TEMPLATE = "series.html"

_SHORT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureCell:
    """A figure as text, with its missing data and its location in its own report.

    Attributes:
        words: The figure.
        interval: Its interval; empty for none.
        missing: Data that it lacks; empty if none.
        is_undefined: Whether there is no figure; `words` then states the reason.
        bar: Its interval on the scale of all rates; None for none.
        tint: Number of the application's colour.
    """

    words: str
    interval: str = ""
    missing: str = ""
    is_undefined: bool = False
    bar: IntervalBar | None = None
    tint: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesTable:
    """A table with a heading.

    Attributes:
        title: The heading.
        about: Its subject; empty if none.
        notes: Notes to read before comparing.
        columns: Headings of the columns.
        rows: First cell, its children, depth, and the other cells; None if there were no tests.
        axis: Position and text of each tick of the bars; empty for a table without bars.
    """

    title: str
    about: str
    notes: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, int, tuple[FigureCell | None, ...]], ...]
    axis: tuple[tuple[float, str], ...] = ()


def series_html(results: SeriesResults, assets: Mapping[str, str], *, absent: Sequence[str] = ()) -> str:
    """Return the page, which contacts no host and runs no script.

    Args:
        results: The studies.
        assets: Path below `resources/report` to text.
        absent: Files of studies that have not been run.
    """
    style, tables = style_of(assets), rule_tables(results)
    end = axis_end(rate for table in tables for row in table.rows for rate in row.rates.values() if _has_bar(rate))
    return template_of(assets, TEMPLATE).render(
        name=results.name,
        policy=policy_of(style),
        style=style,
        generated=f"{results.generated:%Y-%m-%d}",
        package=results.package_version,
        badges=_badges(results),
        unfinished=[study.study.name for study in results.studies if not study.is_finished],
        absent=absent,
        plan=published_facts(results.preregistered) if isinstance(results.preregistered, Series) else (),
        deviations=deviations(results),
        untested=results.untested(),
        coverage=_coverage(results),
        rates=[_rate_table(table, results, end) for table in tables],
        sessions=_sessions(results),
        trees=[_tree_table(table) for table in tree_tables(results)],
        studies=[(study, _facts(study)) for study in results.studies],
        review=[line for study in results.studies for line in study.review],
    )


def _badges(results: SeriesResults) -> list[str]:
    completed = sum(study.results["run"]["completed_dialogues"] for study in results.studies)
    planned = sum(study.results["run"]["planned_dialogues"] for study in results.studies)
    return [
        figures.number_of(len(results.studies), "study", "studies"),
        figures.number_of(len(results.applications), "application"),
        figures.number_of(len(results.scenarios), "scenario"),
        f"{figures.count(completed)} of {figures.count(planned)} dialogues completed",
    ]


def _coverage(results: SeriesResults) -> SeriesTable:
    rows = []
    for application in results.applications:
        result = [results.studies_of(application, scenario) for scenario in results.scenarios]
        cells = [
            FigureCell(words="; ".join(_where(study) for study in studies)) if studies else None for studies in result
        ]
        rows.append((application, "", 0, tuple(cells)))
    return SeriesTable(
        title="Applications and scenarios",
        about="The studies, with their levels of testing, in which an application meets a scenario.",
        notes=(),
        columns=("Application", *results.scenarios),
        rows=tuple(rows),
    )


def _where(study: SeriesStudy) -> str:
    return f"{study.study.name} ({', '.join(study.levels)})"


def _rate_table(table: RuleTable, results: SeriesResults, end: float) -> SeriesTable:
    is_versioned = len(table.versions) > 1
    note = (
        f"The studies hold {len(table.versions)} versions of guideline `{table.guideline}`. Rates by different"
        " versions are different measures: compare them only within one version."
    )
    return SeriesTable(
        title=f"{table.guideline}: {table.rule}" if table.rule else table.guideline,
        about=f"Dialogues with {table.condition}.",
        notes=(note,) if is_versioned else (),
        columns=("Study", *results.applications),
        rows=tuple(_rate_row(row, table, results.applications, end) for row in table.rows),
        axis=scale_of(end) if any(_has_bar(rate) for row in table.rows for rate in row.rates.values()) else (),
    )


def _rate_row(
    row: RateRow, table: RuleTable, applications: Sequence[str], end: float
) -> tuple[str, str, int, tuple[FigureCell | None, ...]]:
    cells = [
        _rate_cell(row.rates[name], end, number % _TINTS) if name in row.rates else None
        for number, name in enumerate(applications)
    ]
    is_versioned = len(table.versions) > 1
    version = row.versions.get(f"guideline {table.guideline}", "")[:_SHORT] if is_versioned else ""
    parts = [*_conditions(row), f"version {version}" if version else ""]
    return row.study.study.name, "; ".join(part for part in parts if part), int(row.subject.is_part), tuple(cells)


def _conditions(row: RateRow) -> Iterator[str]:
    """Yield the conditions of a row's rates: scenarios, level and tester, split, annotator."""
    subject, one = row.subject, row.study
    yield subject.scenario or ", ".join(one.scenarios)
    yield subject.test_setting or ", ".join(one.levels)
    for group in (*subject.among, *filter(None, (subject.group, subject.annotator_group))):
        yield f"{group.name} {group.value}"
    yield "by " + ", ".join(title_of(one.study, name) for name in subject.annotators) if subject.annotators else ""


_TINTS = 8
"""Colours of applications; count."""


def _has_bar(rate: Rate) -> bool:
    return rate.estimate is not None and rate.estimate.n >= figures.FEW


def _rate_cell(rate: Rate, end: float, tint: int) -> FigureCell:
    result, missing = rate.measurement.result, unmeasured_words(rate)
    if isinstance(result, Undefined):
        return FigureCell(words=undefined_text(result), missing=missing, is_undefined=True)
    words = f"{rate.defects_text} of {figures.count(result.n)}"
    if result.n < figures.FEW:
        return FigureCell(words=words, missing=missing)
    return FigureCell(
        words=f"{words}, {figures.percent(result.value)}",
        interval=interval_words(rate),
        missing=missing,
        bar=bar_of(rate, end),
        tint=tint,
    )


def _sessions(results: SeriesResults) -> SeriesTable:
    rows = []
    for study in results.studies:
        for entry in study.results["applications"]:
            failed = sum(kind["n"] for kind in entry["failed"]) + entry["failed_by_others"]
            causes = ", ".join(f"{kind['n']} {kind['what']}" for kind in entry["failed"])
            numbers = (entry["planned"], entry["completed"], entry["filtered"], failed, entry["open"])
            cells = [FigureCell(words=figures.count(number)) for number in numbers]
            cells[3] = FigureCell(words=figures.count(failed), missing=causes)
            rows.append((study.study.name, entry["name"], 0, tuple(cells)))
    return SeriesTable(
        title="Sessions",
        about="The disposition of every planned session. A reply that the application's own filter withheld counts as"
        " completed.",
        notes=(),
        columns=("Study and application", "Planned", "Completed", "With a withheld reply", "Failed", "Open"),
        rows=tuple(rows),
    )


def _tree_table(table: TreeTable) -> SeriesTable:
    design = table.design
    rows = []
    for name, depth in node_names(design):
        result = [finding.node(name) for _, finding in table.columns]
        if any(node.outcomes.used for node in result):
            rows.append((design.by_name[name].title or name, "", depth, tuple(_node_cell(node) for node in result)))
    columns = [f"{finding.application} in {one.study.name}" for one, finding in table.columns]
    notes = [] if rows else ["No study has data for any node of this tree."]
    if differing := _differing(table):
        notes.append(
            f"The columns rest on different versions of {', '.join(differing)}: compare only those of one version."
        )
    return SeriesTable(
        title=f"{design.name} {design.edition}".strip(),
        about=f"{design.about} Version {design.method_version[:_SHORT]}. Nodes without data are left out.",
        notes=tuple(notes),
        columns=("Node", *columns),
        rows=tuple(rows),
    )


def _differing(table: TreeTable) -> list[str]:
    """Return the instruments whose versions differ between columns."""
    versions: dict[str, set[str]] = {}
    for _, finding in table.columns:
        for name, version in finding.versions.items():
            versions.setdefault(name, set()).add(version)
    return [name for name, result in versions.items() if len(result) > 1]


def _node_cell(node: NodeFinding) -> FigureCell:
    is_undefined = not isinstance(node.result, Estimate)
    return FigureCell(words=value_words(node), missing=basis_words(node), is_undefined=is_undefined)


def _facts(series_study: SeriesStudy) -> Sequence[tuple[str, str]]:
    run, study = series_study.results["run"], series_study.study
    facts = {
        "File": series_study.path,
        "Run": f"{run['number']}, {run['state']}; plan {run['plan_version'][:_SHORT]}, seed {run['seed']}",
        "Time": " to ".join(
            filter(None, (str(run[key] or "")[:16].replace("T", " ") for key in ("started", "finished")))
        ),
        "Study version": series_study.results["study"]["version"][:_SHORT],
        "Program": f"theodolite {series_study.results['package']['version']}",
        "Levels": ", ".join(series_study.levels),
        "Scenarios": ", ".join(series_study.scenarios),
        "Applications": ", ".join(application.name for application in study.applications),
        "Guidelines": ", ".join(guideline.name for guideline in study.guidelines),
        "Annotators": ", ".join(annotator.name for annotator in study.annotators),
        "Trees": ", ".join(f"{design.name} {design.edition}".strip() for design in study.trees),
    }
    return [(name, text) for name, text in facts.items() if text]
