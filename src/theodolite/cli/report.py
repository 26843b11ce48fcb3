"""`theodolite report` and `theodolite show`: the results of the latest run, and one dialogue."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from theodolite.bootstrap.audience_reports import write_audience_report
from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.permission import require_output_inside
from theodolite.bootstrap.reports import WrittenFiles, dialogue_screen, summary_of, write_reports
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.cli.terminal import as_line, counts_of, json_option, out_option, speaks_unicode, study_argument, width
from theodolite.config.series import is_series_file
from theodolite.domain.errors import InputError, RunStopped
from theodolite.domain.evidence import Evidence
from theodolite.domain.gate import GateState, worst_of
from theodolite.domain.study import Study
from theodolite.domain.text import printable
from theodolite.reporting.queries.cases import records_at
from theodolite.reporting.queries.gates import gate_facts, gate_results
from theodolite.reporting.results.gates import junit_xml
from theodolite.reporting.series.sides import deviations
from theodolite.usecases.audiences import Audience, AudienceKind, audience_named
from theodolite.usecases.running import RunStatus

if TYPE_CHECKING:
    from theodolite.bootstrap.comparing import WrittenSeries


@click.command()
@study_argument
@click.option("--partial", is_flag=True, help="Report an incomplete run, with a warning at the top.")
@click.option(
    "--for",
    "audience",
    default=AudienceKind.ENGINEER.value,
    show_default=True,
    metavar="AUDIENCE",
    help="Readers: engineer, organiser, operators, team:NAME or public.",
)
@click.option("--browser", is_flag=True, help="Open the report in a browser.")
@out_option
@json_option
def report(study: str, *, partial: bool, audience: str, browser: bool, out: str | None, as_json: bool) -> int:
    """Write report.html and results.json of the latest run.

    STUDY may also be the file of a series, series/NAME.yaml. The command then
    writes the reports of all its studies and, over them, series.html and
    series.json with the studies side by side, to series-report-NAME.

    `--for team:NAME` writes a report about the team's own applications alone,
    under new ids, with strengths and tuning hints; NAME is a team of the series
    or an application. `--for public` shows only texts without undecided
    identifiers; see  theodolite release. `--for operators` adds, for those who
    decide about a deployment, failures, upper ends and untested claims.
    `--for organiser` adds recruitment, blinding and the data card.

    \b
    Examples
      theodolite report support --browser
      theodolite report support --partial       after a stop
      theodolite report series/spring.yaml    all studies of a series
      theodolite report support --for team:bot-1.4
      theodolite report series/spring.yaml --for team:red
    """  # noqa: D301 - click's mark for "keep these lines"
    if is_series_file(Path(study)):
        return _report_series(study, audience, partial=partial, browser=browser, out=out, as_json=as_json)
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
        readers = audience_named(audience, evidence.study)
        if readers.kind is not AudienceKind.ENGINEER:
            return _report_for(context, readers, code, browser=browser, out=out, as_json=as_json)
        written = present_results(context, out=out, as_json=as_json, exit_code=code, evidence=evidence)
        if browser:
            click.launch(written.report)
        return code
    finally:
        context.close()


def _report_for(
    context: StudyContext, audience: Audience, code: int, *, browser: bool, out: str | None, as_json: bool
) -> int:
    written = write_audience_report(context, audience, out=out)
    if as_json:
        click.echo(as_line({"report": written.report, "results": written.results, "exit_code": code}))
    else:
        readers = f"team {audience.team}: {', '.join(audience.applications)}" if audience.team else audience.kind.value
        click.echo(f"Readers        {readers}")
        click.echo(f"Open           {written.report}      Data  {written.results}")
    if browser:
        click.launch(written.report)
    return code


def _report_series(path: str, audience: str, *, partial: bool, browser: bool, out: str | None, as_json: bool) -> int:
    from theodolite.bootstrap.comparing import write_series_report

    written = write_series_report(path, out=out, partial=partial, audience=audience)
    studies = written.results.studies
    code = (
        0 if any(entry["measure"] == "defect_rate" for study in studies for entry in study.results["estimates"]) else 3
    )
    if as_json:
        names = [study.study.name for study in studies]
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
    for item in results.studies:
        run = item.results["run"]
        state = "" if item.is_finished else ", not finished"
        of = f"{run['completed_dialogues']} of {run['planned_dialogues']}"
        yield f"  {item.study.name}: {of} dialogues completed{state}"
    for file in written.absent:
        yield f"  {file}: not run"
    for study, text in deviations(results):
        yield f"Not in plan    {study}: {text}"
    for text in results.untested():
        yield f"Not tested     {text}"
    yield f"Open           {written.page}      Data  {written.data}"


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
    facts = gate_facts(evidence, context.clock.now())
    results = gate_results(evidence.study, context.findings(evidence), facts)
    return 0 if worst_of(results) is GateState.MET else 1


def require_gates(study: Study) -> None:
    """Refuse a study without gates.

    Raises:
        InputError: If the study has none; states how to write them.
    """
    if not study.gates:
        message = (
            f"study `{study.name}` has no gates; write them under `gates`, e.g.  gates: {{groundedness: upper <= 20%}}"
        )
        raise InputError(message)


def write_junit(context: StudyContext, file: str) -> None:
    """Write the gates of the latest run as JUnit XML."""
    evidence = context.evidence()
    facts = gate_facts(evidence, context.clock.now())
    results = gate_results(evidence.study, context.findings(evidence), facts)
    require_output_inside(context.loaded.folder, Path(file))
    write_whole(Path(file), junit_xml(results, evidence.study.name))


def exit_code_for(evidence: Evidence) -> int:
    """Return 3 if no dialogue has a label, so that a script does not mistake this for a rate of 0; else 0."""
    return 0 if evidence.answers.is_labelled else 3


@click.command()
@study_argument
@click.argument("dialogue")
@click.option("--raw", is_flag=True, help="Also print prompts and raw replies of judges, and the cost of all calls.")
@json_option
def show(study: str, dialogue: str, *, raw: bool, as_json: bool) -> int:
    """Print one dialogue of the latest run, with its annotations.

    DIALOGUE is what the screens call it, e.g. d001 or gpt4/v2-31.

    \b
    Example
      theodolite show support d001
    """  # noqa: D301 - click's mark for "keep these lines"
    if raw and as_json:
        message = "--raw prints text; leave --json out"
        raise click.UsageError(message)
    context = open_study(study)
    try:
        text = dialogue_screen(context, dialogue, width=width(), raw=raw)
        click.echo(as_line({"exit_code": 0, **_dialogue_entry(context, dialogue)}) if as_json else text)
        return 0
    finally:
        context.close()


def _dialogue_entry(context: StudyContext, label: str) -> dict[str, object]:
    """Return one dialogue of the latest run as an object; it is in the plan."""
    from theodolite.cli.mcp_server import record_entry

    position = context.sessions.find(label)
    record = next(records_at(context.evidence(), [] if position is None else [position]))
    return record_entry(record, withheld=record.dialogue.withheld if record.dialogue else "")
