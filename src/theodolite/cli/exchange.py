"""`theodolite export` and `theodolite import`: answers given away, labels taken in."""

from __future__ import annotations

from pathlib import Path

import click

from theodolite.bootstrap.exchange import import_labels, write_export, write_label_studio
from theodolite.bootstrap.workbench import open_workbench
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_ending import as_line
from theodolite.cli.terminal import width
from theodolite.config.label_imports import ImportColumns, spelling_of
from theodolite.reporting.label_text import kept_text


@click.command("export")
@study_argument
@click.option("--out", default="", metavar="FILE", help="Where to; `answers.zip` beside the study where left out.")
@click.option("--label-studio", is_flag=True, help="Tasks for Label Studio, with its configuration beside them.")
@click.option("--guideline", default="", metavar="NAME", help="For Label Studio: what they are labelled by.")
@json_option
def export(study: str, *, out: str, label_studio: bool, guideline: str, as_json: bool) -> int:
    """Write every answer of the latest run as a row of its own, with codebook and schema.

    Nothing is summed up and nobody is named: people stand under numbers.

    \b
    Examples
      theodolite export support
      theodolite export support --label-studio --out tasks.json
    """  # noqa: D301 - click's mark for "keep these lines"
    bench = open_workbench(study)
    try:
        path = Path(out) if out else bench.loaded.folder / ("tasks.json" if label_studio else "answers.zip")
        if label_studio:
            n, what = write_label_studio(bench, path, guideline=guideline), "tasks"
        else:
            n, what = write_export(bench, path), "answers"
        if as_json:
            click.echo(as_line({"exit_code": 0, "file": str(path), what: n}))
        else:
            beside = f" and {path.with_suffix('.xml')}" if label_studio else ""
            click.echo(f"{n:,} {what} in {path}{beside}")
        return 0
    finally:
        bench.close()


@click.command("import")
@study_argument
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--dialogue", default="dialogue", show_default=True, metavar="COLUMN", help="Names the dialogue.")
@click.option("--annotator", default="", metavar="COLUMN", help="Names who labelled.")
@click.option(
    "--answer", "answers", multiple=True, metavar="QUESTION=COLUMN", help="Holds a question's answer; repeat."
)
@click.option("--about", multiple=True, metavar="ATTRIBUTE=COLUMN", help="Tells something of the annotator; repeat.")
@click.option("--turn", default="", metavar="COLUMN", help="Number of the turn.")
@click.option("--reason", default="", metavar="COLUMN", help="The annotator's words.")
@click.option("--spelling", multiple=True, metavar="WRITTEN=LABEL", help="What the file writes to a label; repeat.")
@click.option("--by", default="", metavar="NAME", help="Who labelled, where the file does not say.")
@click.option("--repeats", is_flag=True, help="One person may have labelled the same dialogue several times.")
@click.option("--check", is_flag=True, help="Read it and store nothing.")
@json_option
def import_(study: str, file: str, *, by: str, repeats: bool, check: bool, as_json: bool, **columns: object) -> int:
    """Take in labels that people gave elsewhere, as if they had been given here.

    A table names the dialogue in one column and holds answers in others, or
    has one row an answer with the columns `question` and `answer`. A file that
    ends in .json is an export of Label Studio. All of it is stored, or nothing.

    \b
    Examples
      theodolite import support labels.csv --annotator rater --answer unsafe=Q1
      theodolite import support project-1.json
    """  # noqa: D301
    bench = open_workbench(study)
    try:
        given = {name: value for name, value in columns.items() if name in {"dialogue", "annotator", "turn", "reason"}}
        means = ImportColumns(
            **{name: str(value) for name, value in given.items()},
            answers=_pairs(columns["answers"]),
            spelling=_pairs(columns["spelling"]),
            about=_pairs(columns["about"]),
        )
        kept = import_labels(bench, Path(file), means, by=by, repeats=repeats, store=not check)
        if as_json:
            counts = {"new": len(kept.new), "revised": len(kept.revised), "unchanged": kept.unchanged}
            click.echo(as_line({"exit_code": 0, "stored": not check, **counts}))
        else:
            click.echo(kept_text(kept, n_open=0, stored=not check, study=bench.path, width=width()))
        return 0
    finally:
        bench.close()


def _pairs(written: object) -> dict[str, str]:
    pairs = [str(pair) for pair in written] if isinstance(written, tuple) else []
    if strange := [pair for pair in pairs if "=" not in pair]:
        message = f"expected NAME=VALUE, got `{strange[0]}`"
        raise click.UsageError(message)
    return spelling_of(pairs)
