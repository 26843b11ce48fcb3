"""`theodolite report`: the report of the latest run of a study."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from theodolite.bootstrap.study_context import open_study
from theodolite.cli.arguments import json_option, out_option, study_argument
from theodolite.cli.json_output import as_line
from theodolite.cli.outcome import exit_code_for, present_results
from theodolite.config.series import is_series_file
from theodolite.domain.errors import RunStopped
from theodolite.reporting.series.sides import deviations

if TYPE_CHECKING:
    from theodolite.bootstrap.series_report import WrittenSeries


@click.command()
@study_argument
@click.option("--partial", is_flag=True, help="Report an incomplete run, with a warning at the top.")
@click.option("--browser", is_flag=True, help="Open the report in a browser.")
@out_option
@json_option
def report(study: str, *, partial: bool, browser: bool, out: str | None, as_json: bool) -> int:
    """Write report.html and results.json of the latest run.

    STUDY may also be the file of a series, series/NAME.yaml. The command then
    writes the reports of all its studies and, over them, series.html and
    series.json with the studies side by side, to series-report-NAME.

    \b
    Examples
      theodolite report support --browser
      theodolite report support --partial       after a stop
      theodolite report series/spring.yaml    all studies of a series
    """  # noqa: D301 - click's mark for "keep these lines"
    if is_series_file(Path(study)):
        return _report_series(study, partial=partial, browser=browser, out=out, as_json=as_json)
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


def _report_series(path: str, *, partial: bool, browser: bool, out: str | None, as_json: bool) -> int:
    from theodolite.bootstrap.series_report import write_series_report

    written = write_series_report(path, out=out, partial=partial)
    studies = written.results.studies
    code = 0 if any(entry["measure"] == "defect_rate" for one in studies for entry in one.results["estimates"]) else 3
    if as_json:
        names = [one.study.name for one in studies]
        ending = {"report": written.page, "results": written.data, "studies": names, "not_run": list(written.absent)}
        click.echo(as_line({**ending, "exit_code": code}))
    else:
        for line in _series_lines(written):
            click.echo(line)
    if browser:
        click.launch(written.page)
    return code


def _series_lines(written: WrittenSeries) -> Iterator[str]:
    results = written.results
    yield f"Series         {results.name}: {len(results.studies)} studies"
    for one in results.studies:
        run = one.results["run"]
        state = "" if one.is_finished else ", not finished"
        of = f"{run['completed_dialogues']} of {run['planned_dialogues']}"
        yield f"  {one.study.name}: {of} dialogues completed{state}"
    for file in written.absent:
        yield f"  {file}: not run"
    for study, words in deviations(results):
        yield f"Not in plan    {study}: {words}"
    for words in results.untested():
        yield f"Not tested     {words}"
    yield f"Open           {written.page}      Data  {written.data}"
