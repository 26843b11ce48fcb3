"""`theodolite gate`: whether the latest run keeps the limits that its study sets."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import click

from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.permission import require_output_inside
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_output import as_line
from theodolite.domain.errors import InputError, RunStopped
from theodolite.domain.gate import GateResult, GateState, worst_of
from theodolite.domain.text import printable
from theodolite.reporting.queries.gates import gate_lines, gate_results
from theodolite.reporting.results.gates import gates_entry, github_annotations, junit_xml, markdown_summary, sarif_text

_FILE = click.Path(dir_okay=False)


@click.command()
@study_argument
@click.option("--junit", type=_FILE, help="Write the results as JUnit XML.")
@click.option("--summary", type=_FILE, help="Write the results as a Markdown table.")
@click.option("--sarif", type=_FILE, help="Write gates that are not met as SARIF 2.1.0.")
@click.option("--github", is_flag=True, help="Print annotations for GitHub Actions.")
@click.option("--allow-inconclusive", is_flag=True, help="Exit with 0 where a gate is inconclusive.")
@click.option("--partial", is_flag=True, help="Check an incomplete run.")
@json_option
def gate(
    study: str,
    *,
    junit: str | None,
    summary: str | None,
    sarif: str | None,
    github: bool,
    allow_inconclusive: bool,
    partial: bool,
    as_json: bool,
) -> int:
    """Check the latest run against the `gates` of its study.

    A gate is met, not met, or inconclusive: the interval crosses the limit, or
    dialogues without a label could break it. Exit code 0: all gates are met;
    1: a gate is not met or inconclusive; 3: the run is incomplete.

    \b
    Examples
      theodolite gate support
      theodolite gate support --junit gates.xml --summary gates.md
      theodolite gate support --allow-inconclusive
    """  # noqa: D301 - click's mark for "keep these lines"
    context = open_study(study)
    try:
        results = _results(context, partial=partial)
        state = worst_of(results)
        code = 0 if state is GateState.MET or (state is GateState.INCONCLUSIVE and allow_inconclusive) else 1
        _write(context, results, junit=junit, summary=summary, sarif=sarif)
        if github:
            for line in github_annotations(results, file=_file(context)):
                click.echo(printable(line))
        if as_json:
            click.echo(as_line({"exit_code": code, **gates_entry(results)}))
        else:
            for line in gate_lines(results):
                click.echo(printable(line))
        return code
    finally:
        context.close()


def _results(context: StudyContext, *, partial: bool) -> tuple[GateResult, ...]:
    study = context.loaded.study
    if not study.gates:
        message = (
            f"study `{study.name}` has no gates; write them under `gates`, e.g.  gates: {{groundedness: upper <= 20%}}"
        )
        raise InputError(message)
    evidence = context.evidence()
    if not partial and not context.is_finished():
        message = (
            f"The latest run of `{study.name}` is incomplete. "
            f"Resume it:  theodolite run {context.path}  or check it with  --partial"
        )
        raise RunStopped(message)
    return gate_results(study, context.findings(evidence))


def _write(
    context: StudyContext, results: Sequence[GateResult], *, junit: str | None, summary: str | None, sarif: str | None
) -> None:
    name = context.loaded.study.name
    files = (
        (junit, junit_xml(results, name)),
        (summary, markdown_summary(results, name, command=f"theodolite report {context.path} --browser")),
        (sarif, sarif_text(results, name, file=_file(context), version=version("theodolite"))),
    )
    for file, text in files:
        if file is not None:
            require_output_inside(context.loaded.folder, Path(file))
            write_whole(Path(file), text)


def _file(context: StudyContext) -> str:
    """Return the path of the study file, as the reader of a CI log may open it."""
    path = Path(context.path)
    return (path / "study.yaml").as_posix() if path.is_dir() else path.as_posix()
