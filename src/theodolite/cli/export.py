"""`theodolite export`: the answers of a run as rows or tasks."""

from __future__ import annotations

from pathlib import Path

import click

from theodolite.bootstrap.exchange import ExportForm, write_export
from theodolite.bootstrap.study_context import open_study
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_ending import as_line


@click.command("export")
@study_argument
@click.option("--out", default="", metavar="FILE", help="Output file; next to the study if left out.")
@click.option(
    "--format",
    "form",
    type=click.Choice([one.value for one in ExportForm]),
    default=ExportForm.CSV.value,
    show_default=True,
    help="Format of the file.",
)
@click.option("--guideline", default="", metavar="NAME", help="Export only this guideline and its dialogues.")
@json_option
def export(study: str, *, out: str, form: str, guideline: str, as_json: bool) -> int:
    """Export the answers of the latest run as rows, with codebook and schema.

    People appear as numbers, not as names. `csv` and `parquet` contain no texts
    of dialogues. `argilla` adds datasets for `Dataset.from_disk`, and
    `label-studio` writes tasks and their configuration; both contain blinded
    dialogues. Parquet needs  pip install 'theodolite[parquet]'.

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
