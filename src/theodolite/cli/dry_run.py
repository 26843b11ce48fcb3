"""`theodolite dry-run`: bots complete the whole event before people do."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.permission import permission_options, permit_paths, permit_run

if TYPE_CHECKING:
    from theodolite.dry_run.event import DryRunResult, Problem

WIDTH = 80
"""Columns of the summary; count."""

_MOST_PROBLEMS = 12
_HEAD = 10


@click.command("dry-run")
@study_argument
@click.option("--people", type=click.IntRange(min=1), metavar="N", help="Bots per level; all slots if left out.")
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    default="theodolite-dry-run",
    show_default=True,
    help="Folder for copy, pages and results; an earlier dry run in it is replaced.",
)
@click.option("--no-pictures", is_flag=True, help="Save pages as files, without screenshots.")
@permission_options
@json_option
def dry_run(study: str, *, people: int | None, out: str, no_pictures: bool, as_json: bool) -> int:
    """Let bots complete the whole event of a study, with screenshots of its pages.

    The server runs a copy of the study on this machine; the real workspace stays
    unchanged, and no mail is sent. Bots join by invitation and access code,
    consent, chat with EVERY application of the study (this may cost money), take
    notes, answer questionnaires and finish; others annotate the dialogues, and a
    senior annotator reviews them. Pages are searched for text that breaks
    blinding, and the results are measured. They show that the event works and
    say nothing about the applications.

    One page of each kind is saved as a file without scripts, and as PNG if
    Chromium or Chrome is installed. Exit code 1 means that a step failed.

    \b
    Examples
      theodolite dry-run spoilers
      theodolite dry-run spoilers --people 2 --out first-try
    """  # noqa: D301 - click's mark for "keep these lines"
    from theodolite.bootstrap.plugins import resource_resolver
    from theodolite.config.loading import load_study
    from theodolite.dry_run.event import run_event

    permit_paths(study)
    permit_run(load_study(study, resolver=resource_resolver()))
    result = run_event(
        study, out=out, people=people, with_pictures=not no_pictures, report=lambda line: click.echo(line, err=True)
    )
    code = 1 if result.problems else 0
    if as_json:
        from theodolite.cli.json_output import as_line

        click.echo(as_line({"exit_code": code, **asdict(result)}))
    else:
        click.echo(summary_of(result, study))
    return code


def summary_of(result: DryRunResult, study: str) -> str:
    """Return the summary in lines of 80 columns."""
    return "\n".join([*_head(result), *_cells(result), *_problem_lines(result), *_foot(result, study)])


def _head(result: DryRunResult) -> list[str]:
    from theodolite.reporting.words.figures import number_of

    people = ", ".join(f"{n} {level}" for level, n in result.people.items())
    sessions = sum(cell.sessions for cell in result.cells)
    counts = ((sessions, "session"), (result.questionnaires, "questionnaire"), (result.pages, "page"))
    return [
        f"Bots      {people}; {result.completed} of {sum(result.people.values())} completed the event",
        f"Completed {', '.join(number_of(n, noun) for n, noun in counts)}",
        *_annotated(result),
        f"Took      {result.took_s / 60:.1f} minutes",
    ]


def _annotated(result: DryRunResult) -> list[str]:
    if not result.annotators:
        return []
    return [f"Annotated {result.annotations:,} times a dialogue by a category, by {result.annotators} bots"]


def _cells(result: DryRunResult) -> list[str]:
    head = f"{'Level':<18}{'Application':<26}{'Dialogues':>10}{'Prompts':>10}{'No reply':>12}"
    rows = [
        f"{_cut(cell.level, 17):<18}{_cut(cell.application, 25):<26}"
        f"{cell.dialogues:>10,}{cell.turns:>10,}{cell.failed:>12,}"
        for cell in result.cells
    ]
    dead = sorted({cell.application for cell in result.cells if cell.is_dead})
    return ["", head, *rows, *(_line("DEAD", f"{name} answered no prompt at all") for name in dead), ""]


def _problem_lines(result: DryRunResult) -> list[str]:
    if not result.problems:
        return ["Failed    nothing"]
    shown = [_problem_line(problem) for problem in result.problems[:_MOST_PROBLEMS]]
    more = len(result.problems) - len(shown)
    return [*shown, *([f"          and {more} more; --json has them all"] if more else [])]


def _problem_line(problem: Problem) -> str:
    return _line("Failed", f"{problem.source.value} {problem.who}, {problem.n} x: {problem.what}")


def _foot(result: DryRunResult, study: str) -> list[str]:
    drawn = "none" if result.pictures is None else str(result.pictures)
    why = ": no Chromium was found, or --no-pictures was given" if result.pictures is None else ""
    return [
        *(_line("Missing", f"{text}; the event does not open without") for text in result.missing),
        f"Pages     {result.folder}",
        f"Pictures  {drawn}{why}",
        f"Measured  {result.results or 'nothing: no dialogue was completed'}",
        f"Next: theodolite serve {shlex.quote(study)}",
    ]


def _line(head: str, text: str) -> str:
    return f"{head:<{_HEAD}}{_cut(text, WIDTH - _HEAD)}"


def _cut(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 3]}..."
