"""`theodolite export` and `theodolite import`: answers given away, labels taken in."""

from __future__ import annotations

from pathlib import Path

import click

from theodolite.bootstrap.exchange import ExportForm, import_labels, write_export
from theodolite.bootstrap.study_context import open_study
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_ending import as_line
from theodolite.cli.terminal import width
from theodolite.config.brought.label_imports import ImportColumns, spelling_of
from theodolite.reporting.terminal.labels import kept_text


@click.command("export")
@study_argument
@click.option("--out", default="", metavar="FILE", help="Where to; beside the study where left out.")
@click.option(
    "--format",
    "form",
    type=click.Choice([one.value for one in ExportForm]),
    default=ExportForm.CSV.value,
    show_default=True,
    help="What as.",
)
@click.option("--guideline", default="", metavar="NAME", help="Only its answers and the dialogues labelled by it.")
@json_option
def export(study: str, *, out: str, form: str, guideline: str, as_json: bool) -> int:
    """Write every answer of the latest run as a row of its own, with codebook and schema.

    Nothing is summed up and nobody is named: people stand under numbers.
    `csv` and `parquet` hold no words of dialogues. `argilla` adds datasets for
    its `Dataset.from_disk`, and `label-studio` writes tasks with their
    configuration beside them; both hold blinded dialogues. Parquet needs
    pip install 'theodolite[parquet]'.

    \b
    Examples
      theodolite export support
      theodolite export support --format parquet --out answers.zip
      theodolite export support --format label-studio --out tasks.json
    """  # noqa: D301 - click's mark for "keep these lines"
    context = open_study(study)
    try:
        wanted = ExportForm(form)
        path = Path(out) if out else context.loaded.folder / _FILES[wanted]
        is_tasks = wanted is ExportForm.LABEL_STUDIO
        n, what = write_export(context, path, wanted, guideline=guideline), "tasks" if is_tasks else "answers"
        if as_json:
            click.echo(as_line({"exit_code": 0, "file": str(path), what: n}))
        else:
            beside = f" and {path.with_suffix('.xml')}" if is_tasks else ""
            click.echo(f"{n:,} {what} in {path}{beside}")
        return 0
    finally:
        context.close()


_FILES = {
    ExportForm.CSV: "answers.zip",
    ExportForm.PARQUET: "answers-parquet.zip",
    ExportForm.ARGILLA: "answers-argilla.zip",
    ExportForm.LABEL_STUDIO: "tasks.json",
}


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
    context = open_study(study)
    try:
        given = {name: value for name, value in columns.items() if name in {"dialogue", "annotator", "turn", "reason"}}
        means = ImportColumns(
            **{name: str(value) for name, value in given.items()},
            answers=_pairs(columns["answers"]),
            spelling=_pairs(columns["spelling"]),
            about=_pairs(columns["about"]),
        )
        kept = import_labels(context, Path(file), means, by=by, repeats=repeats, store=not check)
        if as_json:
            counts = {"new": len(kept.new), "revised": len(kept.revised), "unchanged": kept.unchanged}
            click.echo(as_line({"exit_code": 0, "stored": not check, **counts}))
        else:
            click.echo(kept_text(kept, n_open=0, stored=not check, study=context.path, width=width()))
        return 0
    finally:
        context.close()


def _pairs(written: object) -> dict[str, str]:
    pairs = [str(pair) for pair in written] if isinstance(written, tuple) else []
    if strange := [pair for pair in pairs if "=" not in pair]:
        message = f"expected NAME=VALUE, got `{strange[0]}`"
        raise click.UsageError(message)
    return spelling_of(pairs)
