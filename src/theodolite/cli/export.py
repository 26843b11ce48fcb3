"""`theodolite export`: dialogues, labels and answers of a run as tables or tasks."""

from __future__ import annotations

from pathlib import Path

import click

from theodolite.bootstrap.exchange import ExportForm, write_export
from theodolite.bootstrap.study_context import open_study
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_output import as_line


@click.command("export")
@study_argument
@click.option("--out", default="", metavar="FILE", help="Output file or folder; next to the study if left out.")
@click.option(
    "--format",
    "form",
    type=click.Choice([one.value for one in ExportForm]),
    default=ExportForm.CSV.value,
    show_default=True,
    metavar="FORMAT",
    help="Format: csv, jsonl, parquet, chat, hugging-face, inspect, answers, answers-parquet, argilla, label-studio, "
    "figures, figures-png, markdown or latex.",
)
@click.option("--guideline", default="", metavar="NAME", help="Export only this guideline and its dialogues.")
@click.option(
    "--include-text", is_flag=True, help="Include texts of sessions with people; needs a finished privacy review."
)
@json_option
def export(study: str, *, out: str, form: str, guideline: str, include_text: bool, as_json: bool) -> int:
    """Export the latest run: one row per dialogue, turn and label, with texts.

    `csv`, `jsonl` and `parquet` write this table; its ids are those of report
    and screens. `hugging-face` writes it with a card as a data set. `chat`
    writes one dialogue a line as chat messages, and `inspect` one log for each
    application, for Inspect View. `answers` and `answers-parquet` write
    answers, codebook and schema without texts. `argilla` adds datasets for
    `Dataset.from_disk`, and `label-studio` writes tasks and their
    configuration; both contain blinded dialogues. `figures` draws the results
    as SVG, `markdown` and `latex` write them as tables. People who label appear
    as numbers. Parquet needs  pip install 'theodolite[parquet]', and PNG
    pip install 'theodolite[png]'.

    \b
    Examples
      theodolite export support
      theodolite export support --format parquet --out labels.parquet
      theodolite export support --format inspect --out logs
      theodolite export support --format label-studio --out tasks.json
      theodolite export support --format figures --out figures
    """  # noqa: D301 - click's mark for "keep these lines"
    context = open_study(study)
    try:
        chosen = ExportForm(form)
        file, noun = _FILES[chosen]
        path = Path(out) if out else context.loaded.folder / file
        n = write_export(context, path, chosen, guideline=guideline, include_text=include_text)
        if as_json:
            click.echo(as_line({"exit_code": 0, "file": str(path), noun: n}))
        else:
            configuration = f" and {path.with_suffix('.xml')}" if chosen is ExportForm.LABEL_STUDIO else ""
            click.echo(f"{n:,} {noun} in {path}{configuration}")
        return 0
    finally:
        context.close()


_FILES = {
    ExportForm.CSV: ("export.csv", "rows"),
    ExportForm.JSONL: ("export.jsonl", "rows"),
    ExportForm.PARQUET: ("export.parquet", "rows"),
    ExportForm.CHAT: ("export-chat.jsonl", "dialogues"),
    ExportForm.HUGGING_FACE: ("export-hugging-face", "rows"),
    ExportForm.INSPECT: ("export-inspect", "samples"),
    ExportForm.ANSWERS: ("answers.zip", "answers"),
    ExportForm.ANSWERS_PARQUET: ("answers-parquet.zip", "answers"),
    ExportForm.ARGILLA: ("answers-argilla.zip", "answers"),
    ExportForm.LABEL_STUDIO: ("tasks.json", "tasks"),
    ExportForm.FIGURES: ("figures", "figures"),
    ExportForm.FIGURES_PNG: ("figures", "figures"),
    ExportForm.MARKDOWN: ("tables.md", "tables"),
    ExportForm.LATEX: ("tables.tex", "tables"),
}
"""Name of the file and of what it counts, by format."""
