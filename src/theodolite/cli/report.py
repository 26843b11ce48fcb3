"""`theodolite report`: the report of the latest run of a study."""

from __future__ import annotations

import click

from theodolite.bootstrap.study_context import open_study
from theodolite.cli.arguments import json_option, out_option, study_argument
from theodolite.cli.outcome import exit_code_for, present_results
from theodolite.domain.errors import RunStopped


@click.command()
@study_argument
@click.option("--partial", is_flag=True, help="Report an incomplete run; the report says so at its top.")
@click.option("--browser", is_flag=True, help="Open the report in a browser.")
@out_option
@json_option
def report(study: str, *, partial: bool, browser: bool, out: str | None, as_json: bool) -> int:
    """Write report.html and results.json of the latest run.

    \b
    Examples
      theodolite report support --browser
      theodolite report support --partial    after a stop
    """  # noqa: D301 - click's mark for "keep these lines"
    context = open_study(study)
    try:
        evidence = context.evidence()
        if not partial and not context.is_finished():
            message = (
                f"The latest run of `{context.loaded.study.name}` is incomplete. "
                f"Resume it:  theodolite run {context.path}  or report it with  --partial"
            )
            raise RunStopped(message)
        code = exit_code_for(evidence)
        written = present_results(context, out=out, as_json=as_json, exit_code=code, evidence=evidence)
        if browser:
            click.launch(written.report)
        return code
    finally:
        context.close()
