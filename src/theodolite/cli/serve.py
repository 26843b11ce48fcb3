"""`theodolite view`, `serve`, `label`, `dry-run`: pages for people; `backup`, `restore`, `copy-database`: records."""

from __future__ import annotations

import os
import shlex
import webbrowser
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from theodolite.bootstrap.database import DATABASE_VARIABLE
from theodolite.bootstrap.observers import logs_json
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.cli.terminal import (
    as_line,
    confirm_settings,
    diagnostics_json,
    json_option,
    log_option,
    permission_options,
    permit_paths,
    permit_run,
    study_argument,
    wants_colour,
    width,
)
from theodolite.config.loading import load_study
from theodolite.config.permissions import WORKSPACE_NAME, workspace_for
from theodolite.config.serving import load_serving
from theodolite.domain.errors import InputError
from theodolite.reporting.terminal.labels import desk_lines, labelled_text, sample_text
from theodolite.reporting.words.figures import number_of
from theodolite.usecases.labels import LabelRequest

if TYPE_CHECKING:
    from theodolite.bootstrap.backup import Backup
    from theodolite.dry_run.event import DryRunResult, Problem


_DEMO = Path("theodolite-event")


@click.command()
@click.argument("study", required=False, default="")
@click.option("--listen", default="", metavar="HOST:PORT", help="Address to listen on; default: 127.0.0.1:8000.")
@click.option(
    "--settings",
    "file",
    default="",
    metavar="FILE",
    help="Settings file to use instead of the study's serve.yaml, which needs permission.",
)
@click.option("--check", "only_check", is_flag=True, help="Report errors and unsafe settings without serving.")
@permission_options
@log_option
@click.option("--demo", "as_demo", is_flag=True, help="Serve a demo event; this machine only.")
@json_option
def serve(study: str, *, listen: str, file: str, only_check: bool, as_demo: bool, as_json: bool) -> int:
    """Serve the pages on which people test applications and annotate dialogues.

    Listens on this machine only, unless --listen says otherwise.

    \b
    Examples
      theodolite serve --demo
      theodolite serve spoilers
      theodolite serve spoilers --listen 0.0.0.0:8000
      theodolite serve spoilers --check
    """  # noqa: D301 - click's mark for "keep these lines"
    from theodolite.bootstrap.serving import Serving, serve

    if study and not as_demo:
        _permit(study)
    folder = _DEMO if as_demo else _folder(study)
    serving = Serving(
        workspace=folder / WORKSPACE_NAME if as_demo else workspace_for(folder),
        settings=load_serving({}, listen=listen)
        if as_demo
        else load_serving(os.environ, folder=folder, file=file, listen=listen, confirm=confirm_settings),
        database_url=None if as_demo else os.environ.get(DATABASE_VARIABLE) or None,
        study=study,
        demo=as_demo,
    )
    if only_check:
        from theodolite.bootstrap.serving import check_serving, check_text

        result = check_serving(serving)
        code = 2 if result.faults else 0
        click.echo(
            diagnostics_json(result.placed, exit_code=code) if as_json else check_text(result, color=wants_colour())
        )
        return code
    serve(serving, teller(as_json=as_json))
    return 0


def teller(*, as_json: bool = False, browser: bool = False) -> Callable[[str], None]:
    """Return the function that prints the lines of a listening server; with `as_json` it prints one object."""

    def tell(line: str) -> None:
        address = next((word for word in line.split() if word.startswith(("http://", "https://"))), "")
        if as_json and address:
            click.echo(as_line({"address": address}))
        else:
            click.echo(line, err=as_json or logs_json())
        if browser and address:
            webbrowser.open(address)

    return tell


@click.command()
@click.argument("study", required=False, default=".")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port; default: any free port.")
@click.option("--browser", is_flag=True, help="Open the page in a browser.")
@json_option
def view(study: str, *, port: int, browser: bool, as_json: bool) -> int:
    """View studies and their runs in a browser; start, stop and resume runs.

    STUDY is a study or a folder with studies; the present folder if left out.
    The pages have one user and no accounts: the address works once and only on
    this machine. The pages also show the progress of runs that other commands started;
    runs started on a page continue when this server ends.

    \b
    Examples
      theodolite view
      theodolite view support --browser
    """  # noqa: D301 - click's mark for "keep these lines"
    from theodolite.bootstrap.serving import view as serve_view

    serve_view(study, teller(as_json=as_json, browser=browser), port=port)
    return 0


def _permit(study: str) -> None:
    """Ask for confirmation before applications of a study run, if there is a terminal."""
    permit_paths(study)
    if Path(study).exists():
        permit_run(load_study(study, resolver=resource_resolver()))


def _folder(study: str) -> Path:
    folder = Path(study or ".")
    if not folder.exists():
        message = f"expected the folder or file of a study; `{study}` does not exist"
        raise InputError(message)
    return folder if folder.is_dir() else folder.parent


SAMPLE = 40
"""Default size of the sample; dialogues."""


@click.command()
@study_argument
@click.option(
    "--sample", type=click.IntRange(min=1), default=SAMPLE, show_default=True, metavar="N", help="Sample size."
)
@click.option("--guideline", default="", metavar="NAME", help="Guideline to label by.")
@click.option("--judge", default="", metavar="NAME", help="Judge whose labels stratify the sample.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the sample.")
@click.option("--annotator", default="me", show_default=True, metavar="NAME", help="Name of the annotator.")
@click.option(
    "--file", type=click.Path(dir_okay=False), metavar="FILE", help="Write a .csv or .jsonl file to fill in instead."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port; default: any free port.")
@click.option("--browser", is_flag=True, help="Open the page in a browser.")
@json_option
def label(
    study: str,
    *,
    sample: int,
    guideline: str,
    judge: str,
    seed: int,
    annotator: str,
    file: str | None,
    port: int,
    browser: bool,
    as_json: bool,
) -> int:
    """Label a sample of dialogues on a local page, or write it to a file.

    The page has one user and no account: its address works once and only on
    this machine. It shows neither application nor judge labels. Submitted labels
    count immediately in judge validation and corrected rates. Ctrl-C stops the
    server, and the same command resumes.

    With --file the sample goes to a table with open answers for annotators;
    `theodolite import labels` reads it back.

    \b
    Examples
      theodolite label support
      theodolite label support --sample 100 --annotator anna --browser
      theodolite label support --sample 100 --file labels.csv
    """  # noqa: D301 - click's mark for "keep these lines"
    from theodolite.bootstrap.serving import open_label_desk, serve_label_desk, waiting

    request = LabelRequest(n=sample, guideline=guideline, judge=judge, seed=seed)
    if file:
        return _write_file(
            study, request, Path(file), annotator="" if annotator == "me" else annotator, as_json=as_json
        )
    database_url = os.environ.get(DATABASE_VARIABLE) or None
    serving, desk = open_label_desk(study, request, by=annotator, database_url=database_url, port=port)
    head = desk_lines(n=desk.n_open, guideline=desk.guideline, judge=desk.judge, by=desk.annotator, width=width())
    address = f"Open once  {{address}}{desk.door}"

    n = serve_label_desk(serving, desk, (*head, address), teller(as_json=as_json, browser=browser))
    text = labelled_text(
        n=n, n_open=waiting(desk), study=desk.study, by=desk.annotator, has_judge=bool(desk.judge), width=width()
    )
    click.echo(text, err=as_json)
    return 0


def _write_file(study: str, request: LabelRequest, path: Path, *, annotator: str, as_json: bool) -> int:
    from theodolite.bootstrap.exchange import write_label_sample
    from theodolite.bootstrap.study_context import open_study

    context = open_study(study)
    try:
        sampled = write_label_sample(context, request, path, by=annotator)
        n_rows = len(sampled.slips)
        if as_json:
            strata = {
                item.name: {"dialogues": item.n_dialogues, "drawn": item.n_drawn} for item in sampled.sample.strata
            }
            click.echo(as_line({"exit_code": 0, "file": str(path), "answers": n_rows, "strata": strata}))
        else:
            click.echo(sample_text(sampled.sample, n_slips=n_rows, file=str(path), study=context.path, width=width()))
        return 0
    finally:
        context.close()


WIDTH = 80
"""Columns of the summary; count."""

_MOST_PROBLEMS = 12
_HEAD = 10


@click.command("dry-run")
@study_argument
@click.option("--people", type=click.IntRange(min=1), metavar="N", help="Bots per level; default: one for each slot.")
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    default="theodolite-dry-run",
    show_default=True,
    help="Folder for copy, pages and results; replaces an earlier dry run in it.",
)
@click.option("--no-pictures", is_flag=True, help="Save pages as files only, without screenshots.")
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
    from theodolite.dry_run.event import run_event

    permit_paths(study)
    permit_run(load_study(study, resolver=resource_resolver()))
    result = run_event(
        study, out=out, people=people, with_pictures=not no_pictures, report=lambda line: click.echo(line, err=True)
    )
    code = 1 if result.problems else 0
    if as_json:
        click.echo(as_line({"exit_code": code, **asdict(result)}))
    else:
        click.echo(summary_of(result, study))
    return code


def summary_of(result: DryRunResult, study: str) -> str:
    """Return the summary in lines of 80 columns."""
    return "\n".join([*_head(result), *_cells(result), *_problem_lines(result), *_foot(result, study)])


def _head(result: DryRunResult) -> list[str]:
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
    return [f"Labels    {result.annotations:,} annotations by {result.annotators} bots"]


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
    sampled = "none" if result.pictures is None else str(result.pictures)
    why = ": no Chromium was found, or --no-pictures was given" if result.pictures is None else ""
    return [
        *(_line("Missing", f"{text}; the event does not open without") for text in result.missing),
        f"Pages     {result.folder}",
        f"Pictures  {sampled}{why}",
        f"Measured  {result.results or 'nothing: no dialogue was completed'}",
        f"Next: theodolite serve {shlex.quote(study)}",
    ]


def _line(head: str, text: str) -> str:
    return f"{head:<{_HEAD}}{_cut(text, WIDTH - _HEAD)}"


@click.command()
@study_argument
@click.option(
    "--to",
    "side",
    type=click.Choice(["postgresql", "sqlite"]),
    required=True,
    help="Copy the workspace's file to the database in DATABASE_URL, or back.",
)
@json_option
def copy_database(study: str, *, side: str, as_json: bool) -> int:
    """Copy all records of a workspace from its file to PostgreSQL, or back.

    The target must have no runs. The copy is one transaction; counts and hashes of each table
    are compared before it ends.

    \b
    Examples
      theodolite copy-database support --to postgresql
      theodolite copy-database support --to sqlite
    """  # noqa: D301 - click's mark for "keep these lines"
    from theodolite.bootstrap.backup import copy_database as copy

    address = os.environ.get(DATABASE_VARIABLE, "")
    if not address:
        message = "`DATABASE_URL` is not set; set it to the address of the PostgreSQL database"
        raise InputError(message)
    tables = copy(workspace_for(_folder(study)), address, to_postgresql=side == "postgresql")
    if as_json:
        result = [asdict(table) for table in tables]
        click.echo(as_line({"exit_code": 0, "tables": result}))
        return 0
    for table in tables:
        click.echo(f"  {table.name:<36}{table.rows:>10,}  {table.digest[:12]}")
    click.echo(f"Copied {sum(table.rows for table in tables):,} rows of {len(tables)} tables; all hashes are equal.")
    return 0


@click.command()
@study_argument
@click.option(
    "--out", "target", type=click.Path(path_type=Path), help="File to write; default: STUDY-TIME.backup in this folder."
)
@json_option
def backup(study: str, *, target: Path | None, as_json: bool) -> int:
    """Back up the workspace of a study to one file: records, accounts, texts and keys.

    Runs and `serve` may continue meanwhile. With DATABASE_URL set, the records are those of that
    database. Protect the file: it contains keys and the data of people.

    \b
    Examples
      theodolite backup support
      theodolite backup support --out /backups/support-monday.backup
    """  # noqa: D301 - click's mark for "keep these lines"
    from theodolite.bootstrap.backup import back_up
    from theodolite.bootstrap.connections import SystemClock

    folder, now = _folder(study), SystemClock().now()
    target = target or Path(f"{folder.resolve().name}-{now:%Y%m%d-%H%M%S}.backup")
    made = back_up(workspace_for(folder), os.environ.get(DATABASE_VARIABLE, ""), target, now=now)
    _report_backup(made, target, "Backed up to", as_json=as_json)
    return 0


@click.command()
@study_argument
@click.argument("source", metavar="BACKUP", type=click.Path(path_type=Path))
@json_option
def restore(study: str, *, source: Path, as_json: bool) -> int:
    """Restore a backup into the workspace of a study that has no database yet.

    All hashes are checked first. With DATABASE_URL set, the records are restored to that database, which
    must have no runs; a backup of a file can be restored to PostgreSQL, and vice versa.

    \b
    Examples
      theodolite restore support support-20261123-120000.backup
    """  # noqa: D301 - click's mark for "keep these lines"
    from theodolite.bootstrap.backup import restore as restore_backup

    restored = restore_backup(source, workspace_for(_folder(study)), os.environ.get(DATABASE_VARIABLE, ""))
    _report_backup(restored, source, "Restored", as_json=as_json)
    return 0


def _report_backup(backup: Backup, file: Path, verb: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(as_line({"exit_code": 0, "file": str(file), **asdict(backup)}))
        return
    size = sum(entry.size for entry in backup.files) / 1e6
    click.echo(f"{verb} {file}: {backup.rows:,} rows and {len(backup.files) - 1:,} other files, {size:.1f} MB.")


def _cut(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 3]}..."
