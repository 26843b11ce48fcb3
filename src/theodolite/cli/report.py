"""`theodolite report` and `theodolite measure`: what the latest run of a study brought."""

from __future__ import annotations

import click

from theodolite.bootstrap.study_context import open_study
from theodolite.cli.arguments import json_option, out_option, study_argument
from theodolite.cli.outcome import present_results
from theodolite.domain.errors import RunStopped
from theodolite.domain.evidence import Evidence


@click.command()
@study_argument
@click.option("--unfinished", is_flag=True, help="Report a run that is not finished; the report says so in its head.")
@click.option("--open", "open_it", is_flag=True, help="Open the report in a browser.")
@out_option
@json_option
def report(study: str, *, unfinished: bool, open_it: bool, out: str | None, as_json: bool) -> int:
    """Write report.html and results.json of the latest run.

    \b
    Examples
      theodolite report support --open
      theodolite report support --unfinished    after a stop
    """  # noqa: D301 - click's mark for "keep these lines"
    context = open_study(study)
    try:
        evidence = context.evidence()
        if not unfinished and not context.is_finished():
            message = (
                f"The latest run of `{context.loaded.study.name}` is not finished, and half a run must not look whole. "
                f"Resume  theodolite run {context.path}  or add  --unfinished"
            )
            raise RunStopped(message)
        code = _exit_code(evidence)
        written = present_results(context, out=out, as_json=as_json, exit_code=code, evidence=evidence)
        if open_it:
            click.launch(written.report)
        return code
    finally:
        context.close()


@click.command()
@study_argument
@out_option
@json_option
def measure(study: str, *, out: str | None, as_json: bool) -> int:
    """Measure what the latest run holds so far; writes results.json.

    \b
    Example
      theodolite measure support --json
    """  # noqa: D301
    context = open_study(study)
    try:
        evidence = context.evidence()
        code = _exit_code(evidence)
        present_results(context, out=out, as_json=as_json, exit_code=code, with_report=False, evidence=evidence)
        return code
    finally:
        context.close()


def _exit_code(evidence: Evidence) -> int:
    """Return 3 where nothing has a label: a script must not take that for a rate of 0."""
    return 0 if evidence.answers.is_labelled else 3
