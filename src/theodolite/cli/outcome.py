"""What a run brought: the summary on the screen and the files beside the study."""

from __future__ import annotations

import json

import click

from theodolite.bootstrap.reports import Written, summary_of, write_reports
from theodolite.bootstrap.workbench import Workbench
from theodolite.cli.terminal import speaks_unicode, width
from theodolite.usecases.running import Standing


def present_results(
    bench: Workbench,
    *,
    out: str | None,
    as_json: bool,
    exit_code: int,
    standing: Standing | None = None,
    with_report: bool = True,
) -> Written:
    """Write results (and the report), show the summary or one JSON object, and return where the files are."""
    evidence = bench.evidence()
    findings = bench.findings(evidence)
    written = write_reports(bench, evidence, findings, out=out, with_report=with_report)
    if as_json:
        click.echo(json.dumps(_object(written, exit_code, standing), allow_nan=False))
    else:
        click.echo(summary_of(bench, evidence, findings, written, width=width(), unicode=speaks_unicode()))
    return written


def _object(written: Written, exit_code: int, standing: Standing | None) -> dict[str, object]:
    counts: dict[str, object] = {}
    if standing is not None:
        counts = {
            "stopped": standing.stopped,
            "planned": standing.planned,
            "sessions": dict(standing.sessions),
            "annotations": dict(standing.annotations),
        }
    return {"report": written.report, "results": written.results, "exit_code": exit_code, **counts}
