"""`theodolite document`: datasheet, data statement, data card, methods and codebook of the latest run."""

from __future__ import annotations

from pathlib import Path

import click

from theodolite.bootstrap.documents import FOLDER, WrittenDocuments, document_changes, write_documents
from theodolite.bootstrap.study_context import open_study
from theodolite.cli.terminal import as_line, json_option, study_argument


@click.command()
@study_argument
@click.option("--out", default="", metavar="DIR", help=f"Folder of the documents; STUDY/{FOLDER} if left out.")
@click.option("--diff", "is_diff", is_flag=True, help="Print the differences to the previous issue; write nothing.")
@json_option
def document(study: str, *, out: str, is_diff: bool, as_json: bool) -> int:
    """Write the documentation pack of the latest run.

    The pack contains datasheet, data statement, data card, methods, codebook,
    deviations from the published plan, validity evidence and a glossary, as
    Markdown and HTML. Each number links to its value in results.json. Run the
    command again after a change: changes.md lists the differences to the
    previous issue, and --diff prints them before anything is written.

    \b
    Examples
      theodolite document support
      theodolite document support --out docs/data
      theodolite document support --diff
    """  # noqa: D301 - click's mark for "keep these lines"
    context = open_study(study)
    try:
        folder = Path(out) if out else context.loaded.folder / FOLDER
        if is_diff:
            issue, difference = document_changes(context, folder)
            click.echo(_json(issue) if as_json else difference or f"Issue {issue.issue} is unchanged.")
            return 0
        written = write_documents(context, folder)
        if as_json:
            click.echo(_json(written))
            return 0
        click.echo(f"Documents    {', '.join(written.names)}")
        if not written.is_new:
            click.echo(f"Issue        {written.issue}, unchanged")
        elif written.issue > 1:
            click.echo(f"Issue        {written.issue}, {written.n_changed} documents changed; see changes.md")
        else:
            click.echo("Issue        1")
        click.echo(f"Open         {written.folder}/index.md")
        return 0
    finally:
        context.close()


def _json(issue: WrittenDocuments) -> str:
    entry = {"folder": issue.folder, "issue": issue.issue, "new": issue.is_new, "documents": list(issue.names)}
    return as_line({"exit_code": 0, "changed": issue.n_changed, **entry})
