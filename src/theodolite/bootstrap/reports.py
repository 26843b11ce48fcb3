"""Reports: findings become files and screens."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from theodolite.bootstrap.workbench import Workbench
from theodolite.config.calls import hosts_of
from theodolite.config.report_assets import report_assets
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.html import report_html
from theodolite.reporting.results import results_document, results_text
from theodolite.reporting.summary import Places, summary_text

REPORT = "report.html"
RESULTS = "results.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Paths of the files that were written, as people may type them."""

    report: str
    results: str


def write_reports(bench: Workbench, evidence: Evidence, findings: Findings, *, out: str | None = None) -> Written:
    """Write results.json and report.html, and return where they are.

    Args:
        bench: The study.
        evidence: Everything that its run holds.
        findings: Everything that was measured on it.
        out: Folder; the study's own where None.

    Raises:
        StorageUnavailable: If a file cannot be written.
    """
    folder = Path(out) if out else bench.loaded.folder
    facts = facts_of(bench)
    document = results_document(evidence, findings, facts)
    _write(folder / RESULTS, results_text(document))
    _write(folder / REPORT, report_html(evidence, findings, facts, report_assets()))
    return Written(report=str(folder / REPORT), results=str(folder / RESULTS))
