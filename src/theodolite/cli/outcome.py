"""Results of a run: the summary on the screen and the files next to the study."""

from __future__ import annotations

import click

from theodolite.bootstrap.reports import WrittenFiles, summary_of, write_reports
from theodolite.bootstrap.study_context import StudyContext
from theodolite.cli.json_output import as_line, counts_of
from theodolite.cli.terminal import speaks_unicode, width
from theodolite.domain.evidence import Evidence
from theodolite.domain.text import printable
from theodolite.usecases.running import RunStatus


def present_results(
    context: StudyContext,
    *,
    out: str | None,
    as_json: bool,
    exit_code: int,
    status: RunStatus | None = None,
    with_report: bool = True,
    evidence: Evidence | None = None,
    took_s: float | None = None,
) -> WrittenFiles:
    """Write results (and the report), show the summary or one JSON object, and return where the files are."""
    evidence = context.evidence() if evidence is None else evidence
    findings = context.findings(evidence)
    written = write_reports(context, evidence, findings, out=out, with_report=with_report, took_s=took_s)
    if written.replaced:
        click.echo(
            f"{written.results} held the results of study `{written.replaced}`, which are replaced;"
            " `--out FOLDER` keeps the results of several studies apart",
            err=True,
        )
    if as_json:
        counts = counts_of(status) if status else {}
        click.echo(as_line({"report": written.report, "results": written.results, "exit_code": exit_code, **counts}))
    else:
        text = summary_of(context, evidence, findings, written, width=width(), unicode=speaks_unicode(), took_s=took_s)
        click.echo(printable(text))
    return written


def measure(context: StudyContext, *, out: str | None, as_json: bool) -> int:
    """Measure the stored annotations of the latest run, write results.json and return the exit code."""
    evidence = context.evidence()
    code = exit_code_for(evidence)
    present_results(context, out=out, as_json=as_json, exit_code=code, with_report=False, evidence=evidence)
    return code


def gates_code(context: StudyContext, evidence: Evidence) -> int:
    """Return 1 if a gate of the study is not met or inconclusive, else 0."""
    if not evidence.study.gates:
        return 0
    from theodolite.domain.gate import GateState, worst_of
    from theodolite.reporting.queries.gates import gate_results

    results = gate_results(evidence.study, context.findings(evidence))
    return 0 if worst_of(results) is GateState.MET else 1


def exit_code_for(evidence: Evidence) -> int:
    """Return 3 if no dialogue has a label, so that a script does not take this for a rate of 0; else 0."""
    return 0 if evidence.answers.is_labelled else 3
