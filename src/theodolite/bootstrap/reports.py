"""Reports: findings become files and screens."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from theodolite.bootstrap.files import tree_file_name, tree_file_pieces, write_whole
from theodolite.bootstrap.permission import require_output_inside
from theodolite.bootstrap.running import code_changes
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.load_context import report_assets, report_words
from theodolite.config.permissions import workspace_for
from theodolite.config.required_access import hosts_of, judge_code
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.network import NetworkUse
from theodolite.domain.plan import Sessions
from theodolite.gateways.applications.connections import network_use
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.page.report import report_pieces
from theodolite.reporting.page.tuning import Section, gate_sections, plugin_sections
from theodolite.reporting.results.document import results_pieces
from theodolite.reporting.terminal.show import failure_text, first_text, show_text
from theodolite.reporting.terminal.summary import Places, summary_text
from theodolite.reporting.words.reading_aids import read_words

REPORT = "report.html"
RESULTS = "results.json"

_FEW = 5

_HEAD = 4_096
"""Number of characters at the start of a results file that contain the study's name; count."""

_NAME = re.compile(r'"study": \{\s*"name": ("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFiles:
    """Paths of the written files, as people may type them; empty for files that were not written.

    Attributes:
        report: The HTML report.
        results: The numbers.
        replaced: Name of another study whose results were overwritten; empty if there was none.
    """

    report: str
    results: str
    replaced: str = ""


def write_reports(
    context: StudyContext,
    evidence: Evidence,
    findings: Findings,
    *,
    out: str | None = None,
    with_report: bool = True,
    took_s: float | None = None,
    audience: Sequence[Section] = (),
) -> WrittenFiles:
    """Write results.json, a file for each measurement tree and report.html, and return their paths.

    Args:
        context: The study.
        evidence: The evidence of its run.
        findings: Everything that was measured on it.
        out: Folder; default: the study folder.
        with_report: Whether to write the HTML report too.
        took_s: Duration of the command's work; seconds, None if there was none.
        audience: Sections for the readers of the HTML report.

    Raises:
        InputError: If a file is a link out of the study folder.
        StorageUnavailable: If a file cannot be written.
    """
    folder = Path(out) if out else context.loaded.folder
    facts = facts_of(context, took_s)
    results, report = folder / RESULTS, folder / REPORT
    trees = [folder / tree_file_name(design) for design in evidence.study.trees]
    require_output_inside(context.loaded.folder, results, report, *trees)
    before = _study_in(results)
    write_whole(results, results_pieces(evidence, findings, facts))
    for file, design in zip(trees, evidence.study.trees, strict=True):
        write_whole(file, tree_file_pieces(evidence, findings, design))
    if with_report:
        sections = (*gate_sections(evidence, findings, facts), *plugin_sections(findings), *audience)
        write_whole(report, report_pieces(evidence, findings, facts, report_assets(), sections=sections))
    replaced = before if before != evidence.study.name else ""
    return WrittenFiles(report=str(report) if with_report else "", results=str(results), replaced=replaced)


def _study_in(results: Path) -> str:
    """Return the name of the study of a results file; empty if it cannot be read."""
    try:
        with results.open(encoding="utf-8", errors="replace") as file:
            result = _NAME.search(file.read(_HEAD))
        return str(json.loads(result[1])) if result else ""
    except (OSError, ValueError):  # it belongs to another user, or cannot be read
        return ""


def summary_of(
    context: StudyContext,
    evidence: Evidence,
    findings: Findings,
    written: WrittenFiles,
    *,
    width: int,
    unicode: bool,
    took_s: float | None = None,
) -> str:
    """Return the result on one screen of a terminal."""
    files = Places(report=written.report, results=written.results)
    text = read_words(report_words())
    return summary_text(evidence, findings, facts_of(context, took_s), text, width=width, unicode=unicode, places=files)


def dialogue_screen(context: StudyContext, label: str, *, width: int, raw: bool = False) -> str:
    """Return one dialogue of the latest run, or its failure, with all annotations of it.

    Args:
        context: The study.
        label: Displayed label of the dialogue.
        width: Columns of the terminal; count.
        raw: Whether to include judges' prompts, their raw replies and costs.

    Raises:
        InputError: If the run has no dialogue with that label.
    """
    study, archive, sessions = context.loaded.study, context.archive(), context.sessions
    position = sessions.find(label)
    if position is not None:
        failures = tuple(archive.failures((position,)))
        for dialogue in archive.dialogues((position,)):
            answers, final = tuple(archive.annotations((position,))), tuple(archive.adjudications((position,)))
            calls = archive.calls((dialogue,), answers) if raw else None
            return show_text(study, dialogue, answers, final, failures=failures, calls=calls, width=width)
        if failures:
            return "\n".join(f"{failure.label}  {failure_text(failure)}: a failure" for failure in failures)
    state = "is planned but not run yet" if position is not None else f"is not in the plan{_meant(label, sessions)}"
    n = len(sessions)
    message = (
        f"dialogue `{label}` {state}{'' if state.endswith('?') else '.'} "
        f"The {n:,} planned ones run from `{sessions.label(0)}` to `{sessions.label(n - 1)}`."
    )
    raise InputError(message)


def _meant(label: str, sessions: Sessions) -> str:
    """Return the likely intended label; a label without its application may match several."""
    planned = [sessions.label(position) for position in range(len(sessions))]
    ends = [f"`{known}`" for known in planned if known.endswith(f"/{label}")]
    return f". Did you mean {' or '.join(ends)}?" if 0 < len(ends) <= _FEW else did_you_mean(label, planned)


def first_screen(context: StudyContext, positions: Sequence[int], *, width: int) -> str:
    """Return some sessions of the plan: the first in full, the others on one line each."""
    archive = context.archive()
    dialogues, annotations = tuple(archive.dialogues(positions)), tuple(archive.annotations(positions))
    return first_text(context.loaded.study, dialogues, annotations, tuple(archive.failures(positions)), width=width)


def _network(context: StudyContext) -> tuple[NetworkUse, ...]:
    workspace = workspace_for(context.loaded.folder)
    uses = (network_use(application, workspace) for application in context.loaded.study.applications)
    return tuple(use for use in uses if use is not None)


def facts_of(context: StudyContext, took_s: float | None = None) -> RunFacts:
    """Return the facts about the creation of a report; `took_s` is the duration of the command's work, if any."""
    return RunFacts(
        command=f"theodolite run {context.path}",
        package_version=version("theodolite"),
        generated=context.clock.now(),
        hosts=hosts_of(context.loaded.study),
        network=_network(context),
        code_changes=code_changes(context),
        unobserved=judge_code(context.loaded.study),
        duration_s=took_s,
        show_command=f"theodolite show {context.path}",
        label_command=f"theodolite label {context.path}",
        validate_command=f"theodolite judge validate {context.path}",
    )
