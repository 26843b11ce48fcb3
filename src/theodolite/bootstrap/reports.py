"""Reports: findings become files and screens."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from theodolite.bootstrap.workbench import Workbench
from theodolite.config.report_assets import report_assets, report_words
from theodolite.domain.errors import StorageUnavailable
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.html import report_html
from theodolite.reporting.results import results_document, results_text
from theodolite.reporting.summary import Places, summary_text
from theodolite.reporting.words import read_words

REPORT = "report.html"
RESULTS = "results.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Paths of the files that were written, as people may type them; empty where one was not."""

    report: str
    results: str


def write_reports(
    bench: Workbench, evidence: Evidence, findings: Findings, *, out: str | None = None, with_report: bool = True
) -> Written:
    """Write results.json and report.html, and return where they are.

    Args:
        bench: The study.
        evidence: Everything that its run holds.
        findings: Everything that was measured on it.
        out: Folder; the study's own where None.
        with_report: Whether the HTML report is wanted too.

    Raises:
        StorageUnavailable: If a file cannot be written.
    """
    folder = Path(out) if out else bench.loaded.folder
    facts = facts_of(bench)
    results, report = folder / RESULTS, folder / REPORT
    _write(results, results_text(results_document(evidence, findings, facts)))
    if with_report:
        _write(report, report_html(evidence, findings, facts, report_assets()))
    return Written(report=str(report) if with_report else "", results=str(results))


def summary_of(
    bench: Workbench, evidence: Evidence, findings: Findings, written: Written, *, width: int, unicode: bool
) -> str:
    """Return the result on one screen of a terminal."""
    places = Places(report=written.report, results=written.results)
    words = read_words(report_words())
    return summary_text(evidence, findings, facts_of(bench), words, width=width, unicode=unicode, places=places)


def facts_of(bench: Workbench) -> RunFacts:
    """Return what a report says about its own making."""
    return RunFacts(
        command=f"theodolite run {bench.path}",
        package_version=version("theodolite"),
        generated=bench.clock.now(),
    )


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all: a half report must not look like one."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror}. Name another folder with --out"
        raise StorageUnavailable(message) from error
