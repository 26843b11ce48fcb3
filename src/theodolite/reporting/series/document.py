"""The studies of a series as one JSON document with the results of each study."""

from __future__ import annotations

from theodolite.domain.identity import Json
from theodolite.domain.series_review import NumberedEntry
from theodolite.reporting.results.document import published_entry
from theodolite.reporting.results.trees import node_entry
from theodolite.reporting.series.sides import (
    SeriesResults,
    SeriesStudy,
    deviations,
    rule_tables,
    tree_tables,
)

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
        "review": [_review(line) for one in results.studies for line in one.review],
        "studies": [_study(one) for one in results.studies],
    }


def _coverage(results: SeriesResults) -> list[Json]:
    return [
        {
            "application": application,
            "scenario": scenario,
            "studies": [
                {"study": one.study.name, "levels": list(one.levels)}
                for one in results.studies_of(application, scenario)
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


def _study(one: SeriesStudy) -> dict[str, Json]:
    return {
        "name": one.study.name,
        "file": one.path,
        "finished": one.is_finished,
        "report": one.report,
        "levels": list(one.levels),
        "scenarios": list(one.scenarios),
        "results": dict(one.results),
    }
