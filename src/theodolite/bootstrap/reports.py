"""Reports: findings become files and screens."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from theodolite.bootstrap.workbench import Workbench
from theodolite.config.hosts import hosts_of
from theodolite.config.report_assets import report_assets, report_words
from theodolite.domain.errors import InputError, StorageUnavailable
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.fault import did_you_mean
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.html import report_html
from theodolite.reporting.results import results_document, results_text
from theodolite.reporting.show import failure_text, first_text, show_text
from theodolite.reporting.summary import Places, summary_text
from theodolite.reporting.words import read_words

REPORT = "report.html"
RESULTS = "results.json"

_FEW = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Paths of the files that were written, as people may type them; empty where one was not."""

    report: str
    results: str


def write_reports(
    bench: Workbench,
    evidence: Evidence,
    findings: Findings,
    *,
    out: str | None = None,
    with_report: bool = True,
    took_s: float | None = None,
) -> Written:
    """Write results.json and report.html, and return where they are.

    Args:
        bench: The study.
        evidence: Everything that its run holds.
        findings: Everything that was measured on it.
        out: Folder; the study's own where None.
        with_report: Whether the HTML report is wanted too.
        took_s: Length of the sitting that led to it; seconds, None where there was none.

    Raises:
        StorageUnavailable: If a file cannot be written.
    """
    folder = Path(out) if out else bench.loaded.folder
    facts = facts_of(bench, took_s)
    results, report = folder / RESULTS, folder / REPORT
    _write(results, results_text(results_document(evidence, findings, facts)))
    if with_report:
        _write(report, report_html(evidence, findings, facts, report_assets()))
    return Written(report=str(report) if with_report else "", results=str(results))


def summary_of(
    bench: Workbench,
    evidence: Evidence,
    findings: Findings,
    written: Written,
    *,
    width: int,
    unicode: bool,
    took_s: float | None = None,
) -> str:
    """Return the result on one screen of a terminal."""
    places = Places(report=written.report, results=written.results)
    words = read_words(report_words())
    return summary_text(evidence, findings, facts_of(bench, took_s), words, width=width, unicode=unicode, places=places)


def dialogue_screen(evidence: Evidence, label: str, *, width: int) -> str:
    """Return one dialogue, or the failure in its place, with everything that was said about it.

    Raises:
        InputError: If the run holds no dialogue of that label.
    """
    study = evidence.study
    failures = [failure for failure in evidence.failures if failure.label == label]
    dialogue = next((dialogue for dialogue in evidence.dialogues if dialogue.label == label), None)
    if dialogue is not None:
        annotations = [annotation for annotation in evidence.annotations if annotation.dialogue == dialogue.key]
        final = [adjudication for adjudication in evidence.adjudications if adjudication.dialogue == dialogue.key]
        return show_text(study, dialogue, annotations, final, failures=failures, width=width)
    if failures:
        return "\n".join(f"{failure.label}  {failure_text(failure)}: a failure" for failure in failures)
    planned = [session.label for session in evidence.sessions]
    state = "is planned but not held yet" if label in planned else f"is not in the plan{_meant(label, planned)}"
    message = (
        f"dialogue `{label}` {state}{'' if state.endswith('?') else '.'} "
        f"The {len(planned):,} planned ones run from `{planned[0]}` to `{planned[-1]}`."
    )
    raise InputError(message)


def _meant(label: str, planned: list[str]) -> str:
    """Return a guess at the label that was meant; one without its application may be several."""
    ends = [f"`{known}`" for known in planned if known.endswith(f"/{label}")]
    return f"; meant {' or '.join(ends)}?" if 0 < len(ends) <= _FEW else did_you_mean(label, planned)


def first_screen(evidence: Evidence, first: int, *, width: int) -> str:
    """Return the first sessions of the plan: one in full, the others in a line each."""
    labels = [session.label for session in evidence.sessions[:first]]
    dialogues = [dialogue for dialogue in evidence.dialogues if dialogue.label in labels]
    failures = [failure for failure in evidence.failures if failure.label in labels]
    return first_text(evidence.study, dialogues, evidence.annotations, failures, width=width)


def facts_of(bench: Workbench, took_s: float | None = None) -> RunFacts:
    """Return what a report says about its own making; `took_s` is the length of the sitting, where there was one."""
    return RunFacts(
        command=f"theodolite run {bench.path}",
        package_version=version("theodolite"),
        generated=bench.clock.now(),
        hosts=hosts_of(bench.loaded.study),
        duration_s=took_s,
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
