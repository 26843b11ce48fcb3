"""The studies of a series side by side, and as one JSON document with the results of each study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from theodolite.domain.estimate import Findings
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.event import Series
from theodolite.domain.identity import Json
from theodolite.domain.series_review import NumberedEntry
from theodolite.domain.study import Study
from theodolite.domain.tree import TreeDesign
from theodolite.domain.tree_finding import TreeFinding
from theodolite.reporting.queries.rates import Rate, rates_of
from theodolite.reporting.results.document import published_entry
from theodolite.reporting.results.trees import node_entry

MODEL_TESTING = "model testing"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesStudy:
    """One study of a series with its own results.

    Attributes:
        path: Its file, relative to the series' folder.
        study: The study.
        findings: Findings of its latest run.
        results: The same as its results.json.
        is_finished: Whether the run is finished.
        report: Its own report, relative to the series' report.
        review: Entries of the review of the series that were made in it.
    """

    path: str
    study: Study
    findings: Findings
    results: Mapping[str, Any]
    is_finished: bool
    report: str
    review: tuple[NumberedEntry, ...] = ()

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of its levels of testing; model testing if it names none."""
        return tuple(plan.level.value for plan in self.study.levels) or (MODEL_TESTING,)

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Names of its scenarios."""
        return tuple(scenario.name for scenario in self.study.scenarios)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesResults:
    """All studies of a series.

    Attributes:
        name: The series.
        preregistered: Its plan; None if it is not written down.
        studies: Its studies, in order.
        generated: Time of creation.
        package_version: Version of the program.
    """

    name: str
    preregistered: Series | None
    studies: tuple[SeriesStudy, ...]
    generated: datetime
    package_version: str

    @property
    def applications(self) -> tuple[str, ...]:
        """Names of all applications, in order of the plan and then of the studies."""
        planned = (
            [name for team in self.preregistered.teams for name in team.applications] if self.preregistered else []
        )
        tested = [application.name for study in self.studies for application in study.study.applications]
        return tuple(dict.fromkeys([*(name for name in planned if name in tested), *tested]))

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Names of all scenarios, in order of the plan and then of the studies."""
        planned = self.preregistered.plan.scenarios if self.preregistered else ()
        return tuple(dict.fromkeys([*planned, *(name for study in self.studies for name in study.scenarios)]))

    def untested(self) -> tuple[str, ...]:
        """Return as text the parts of the plan that no study tests."""
        if self.preregistered is None:
            return ()
        studies = [series_study.study for series_study in self.studies]
        return self.preregistered.untested(
            pairs={
                (application.name, scenario.name)
                for study in studies
                for application in study.applications
                for scenario in study.scenarios
                if application.is_tested_in(scenario.name)
            },
            risks={name for study in studies for risk in study.risks for name in (risk.name, risk.taxonomy)},
            user_types={kind for study in studies for plan in study.levels for kind in plan.quotas},
        )

    def studies_of(self, application: str, scenario: str) -> tuple[SeriesStudy, ...]:
        """Return the studies in which an application is tested in a scenario."""
        return tuple(
            study
            for study in self.studies
            if scenario in study.scenarios
            and any(own.name == application and own.is_tested_in(scenario) for own in study.study.applications)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRow:
    """One rule's rates in one study, by one annotator, of one level and split: a cell for each application.

    Attributes:
        study: The study.
        subject: Common subject of the rates.
        versions: Content hashes of guideline and annotators, by name.
        rates: Name of an application to its rate.
    """

    study: SeriesStudy
    subject: EstimateSubject
    versions: Mapping[str, str]
    rates: Mapping[str, Rate]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTable:
    """All rates by one rule of one guideline.

    Attributes:
        guideline: Name of the guideline.
        rule: Name of the rule.
        condition: The rule as written.
        rows: The rows, in order of the studies.
        versions: Versions of the guideline behind the rows.
    """

    guideline: str
    rule: str
    condition: str
    rows: tuple[RateRow, ...]
    versions: tuple[str, ...]


def rule_tables(results: SeriesResults) -> tuple[RuleTable, ...]:
    """Return a table for each rule, in the order of the studies."""
    rows: dict[tuple[str, str, str], list[RateRow]] = {}
    for study in results.studies:
        for row in _rows(study):
            rows.setdefault((row.subject.guideline, row.subject.rule, row.subject.condition), []).append(row)
    return tuple(
        RuleTable(
            guideline=guideline,
            rule=rule,
            condition=condition,
            rows=tuple(result),
            versions=tuple(dict.fromkeys(row.versions.get(f"guideline {guideline}", "") for row in result)),
        )
        for (guideline, rule, condition), result in rows.items()
    )


def _rows(study: SeriesStudy) -> Iterator[RateRow]:
    result: dict[EstimateSubject, list[Rate]] = {}
    for rate in rates_of(study.findings, study.study):
        result.setdefault(replace(rate.measurement.subject, application=""), []).append(rate)
    for subject, rates in result.items():
        versions = {name: value for rate in rates for name, value in rate.measurement.versions.items()}
        by_application = {rate.measurement.application: rate for rate in rates}
        yield RateRow(study=study, subject=subject, versions=versions, rates=by_application)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeTable:
    """Results of one version of a tree for each application of each study.

    Attributes:
        design: The tree.
        columns: Study and finding, in order of the studies.
    """

    design: TreeDesign
    columns: tuple[tuple[SeriesStudy, TreeFinding], ...]


def tree_tables(results: SeriesResults) -> tuple[TreeTable, ...]:
    """Return a table for each version of each tree: values of two versions never share one."""
    columns: dict[tuple[str, str], list[tuple[SeriesStudy, TreeFinding]]] = {}
    for study in results.studies:
        for finding in study.findings.trees:
            columns.setdefault((finding.design.name, finding.design.method_version), []).append((study, finding))
    return tuple(TreeTable(design=result[0][1].design, columns=tuple(result)) for result in columns.values())


def node_names(design: TreeDesign) -> Iterator[tuple[str, int]]:
    """Yield each node of a tree once with its depth, roots first and children below their parent."""
    seen: set[str] = set()

    def below(names: Iterable[str], depth: int) -> Iterator[tuple[str, int]]:
        for name in names:
            if name not in seen:
                seen.add(name)
                yield name, depth
                yield from below(design.by_name[name].children, depth + 1)

    yield from below(design.roots, 0)


def deviations(results: SeriesResults) -> Sequence[tuple[str, str]]:
    """Return the tests of studies that the series has not preregistered: study and description."""
    return [(study.study.name, words) for study in results.studies for words in _deviations_of(study)]


def _deviations_of(study: SeriesStudy) -> Sequence[str]:
    entry = study.results.get("series") or {}
    return [str(words) for words in entry.get("deviations", ())]


SCHEMA_VERSION = "1.0"
"""Version of the document format; the first number changes when readers break."""


def series_document(results: SeriesResults) -> dict[str, Json]:
    """Return a series as plain values; `results` of a study equals its own results.json.

    Its form is published in `resources/schemas/series-report.schema.json`.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "series": {
            "name": results.name,
            "published": published_entry(results.preregistered) if results.preregistered else None,
            "deviations": [{"study": study, "deviation": words} for study, words in deviations(results)],
            "untested": list(results.untested()),
        },
        "package": {"name": "theodolite", "version": results.package_version},
        "generated": results.generated.isoformat(),
        "coverage": _coverage(results),
        "rates": _rates(results),
        "trees": _trees(results),
        "review": [_review(line) for series_study in results.studies for line in series_study.review],
        "studies": [_study(series_study) for series_study in results.studies],
    }


def _coverage(results: SeriesResults) -> list[Json]:
    return [
        {
            "application": application,
            "scenario": scenario,
            "studies": [
                {"study": study.study.name, "levels": list(study.levels)}
                for study in results.studies_of(application, scenario)
            ],
        }
        for application in results.applications
        for scenario in results.scenarios
    ]


def _rates(results: SeriesResults) -> list[Json]:
    """Return rates by rule; `estimate` is the index in `estimates` of the study's results."""
    entries: list[Json] = []
    for table in rule_tables(results):
        for row in table.rows:
            for application, rate in row.rates.items():
                result = row.study.results["estimates"][rate.place]
                entries.append(
                    {
                        "study": row.study.study.name,
                        "scenarios": list(row.study.scenarios),
                        "application": application,
                        "subject": result["subject"],
                        "versions": dict(row.versions),
                        "estimate": rate.place,
                        **{key: result[key] for key in ("value", "low", "high", "n", "method", "undefined_reason")},
                        "outcomes": result["outcomes"],
                    }
                )
    return entries


def _trees(results: SeriesResults) -> list[Json]:
    return [
        {
            "tree": table.design.name,
            "edition": table.design.edition,
            "version": table.design.method_version,
            "columns": [
                {
                    "study": one.study.name,
                    "application": finding.application,
                    "scenarios": list(finding.scenarios),
                    "nodes": [node_entry(node) for node in finding.nodes],
                }
                for one, finding in table.columns
            ],
        }
        for table in tree_tables(results)
    ]


def _review(line: NumberedEntry) -> Json:
    entry = line.entry
    return {
        "study": entry.study,
        "number": line.number,
        "part": entry.part.value,
        "kind": entry.kind.value,
        "text": entry.text,
        "at": entry.at.isoformat(),
        "source": entry.source.value if entry.source else None,
        "evidence": list(entry.evidence),
        "because": list(line.because),
        "carried_from": entry.carried_from[0] if entry.carried_from else None,
        "state": line.state.value if line.state else None,
        "updates": [
            {"state": update.state.value, "note": update.note, "at": update.at.isoformat()} for update in line.updates
        ],
    }


def _study(study: SeriesStudy) -> dict[str, Json]:
    return {
        "name": study.study.name,
        "file": study.path,
        "finished": study.is_finished,
        "report": study.report,
        "levels": list(study.levels),
        "scenarios": list(study.scenarios),
        "results": dict(study.results),
    }
