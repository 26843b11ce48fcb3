"""`theodolite dry-run`: bots complete the whole event before people do."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.permission import permission_options, permit_paths, permit_run

if TYPE_CHECKING:
    from theodolite.rehearsal.counting import Trouble
    from theodolite.rehearsal.playing import Rehearsed

WIDTH = 80
"""Columns of the summary; count."""

_MOST_TROUBLES = 12
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
    from theodolite.rehearsal.playing import rehearse as play

    permit_paths(study)
    permit_run(load_study(study, resolver=resource_resolver()))
    rehearsed = play(
        study, out=out, people=people, with_pictures=not no_pictures, tell=lambda line: click.echo(line, err=True)
    )
    code = 1 if rehearsed.troubles else 0
    if as_json:
        from theodolite.cli.json_output import as_line

        click.echo(as_line({"exit_code": code, **asdict(rehearsed)}))
    else:
        click.echo(summary_of(rehearsed, study))
    return code


def summary_of(rehearsed: Rehearsed, study: str) -> str:
    """Return what a rehearsal brought, in lines of 80 columns."""
    return "\n".join([*_head(rehearsed), *_cells(rehearsed), *_troubles(rehearsed), *_foot(rehearsed, study)])


def _head(rehearsed: Rehearsed) -> list[str]:
    from theodolite.reporting.words.figures import number_of

    people = ", ".join(f"{n} {level}" for level, n in rehearsed.people.items())
    sessions = sum(cell.sessions for cell in rehearsed.cells)
    counts = ((sessions, "session"), (rehearsed.sheets, "questionnaire"), (rehearsed.pages, "page"))
    return [
        f"Bots      {people}; {rehearsed.through} of {sum(rehearsed.people.values())} came to the end",
        f"Held      {', '.join(number_of(n, noun) for n, noun in counts)}",
        *_annotated(rehearsed),
        f"Took      {rehearsed.took_s / 60:.1f} minutes",
    ]


def _annotated(rehearsed: Rehearsed) -> list[str]:
    if not rehearsed.annotators:
        return []
    return [f"Annotated {rehearsed.sittings:,} times a dialogue by a category, by {rehearsed.annotators} bots"]


def _cells(rehearsed: Rehearsed) -> list[str]:
    head = f"{'Level':<18}{'Application':<26}{'Dialogues':>10}{'Prompts':>10}{'No reply':>12}"
    rows = [
        f"{_cut(cell.level, 17):<18}{_cut(cell.application, 25):<26}"
        f"{cell.dialogues:>10,}{cell.turns:>10,}{cell.failed:>12,}"
        for cell in rehearsed.cells
    ]
    dead = sorted({cell.application for cell in rehearsed.cells if cell.is_dead})
    return ["", head, *rows, *(_line("DEAD", f"{name} answered no prompt at all") for name in dead), ""]


def _troubles(rehearsed: Rehearsed) -> list[str]:
    if not rehearsed.troubles:
        return ["Failed    nothing"]
    shown = [_trouble(each) for each in rehearsed.troubles[:_MOST_TROUBLES]]
    more = len(rehearsed.troubles) - len(shown)
    return [*shown, *([f"          and {more} more; --json has them all"] if more else [])]


def _trouble(trouble: Trouble) -> str:
    return _line("Failed", f"{trouble.party.value} {trouble.who}, {trouble.n} x: {trouble.what}")


def _foot(rehearsed: Rehearsed, study: str) -> list[str]:
    drawn = "none" if rehearsed.pictures is None else str(rehearsed.pictures)
    why = ": no Chromium was found, or none was wanted" if rehearsed.pictures is None else ""
    return [
        *(_line("Missing", f"{text}; the event does not open without") for text in rehearsed.missing),
        f"Pages     {rehearsed.folder}",
        f"Pictures  {drawn}{why}",
        f"Measured  {rehearsed.results or 'nothing: no dialogue was held'}",
        f"Next: theodolite serve {shlex.quote(study)}",
    ]


def _line(head: str, text: str) -> str:
    return f"{head:<{_HEAD}}{_cut(text, WIDTH - _HEAD)}"


def _cut(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 3]}..."
