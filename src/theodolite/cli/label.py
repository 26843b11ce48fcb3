"""`theodolite label`: label dialogues on a local page, or write a file for annotators."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path

import click

from theodolite.bootstrap.database import DATABASE_VARIABLE
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_output import as_line
from theodolite.cli.terminal import width
from theodolite.usecases.label_planning import LabelRequest

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
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port; any free one if left out.")
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
    count at once in judge validation and corrected rates. Ctrl-C stops the
    server, and the same command resumes.

    With --file the sample goes to a table with open answers for annotators;
    `theodolite import labels` reads it back.

    \b
    Examples
      theodolite label support
      theodolite label support --sample 100 --annotator anna --browser
      theodolite label support --sample 100 --file labels.csv
    """  # noqa: D301 - click's mark for "keep these lines"
    from theodolite.bootstrap.label_desk import open_label_desk, serve_label_desk, waiting
    from theodolite.reporting.terminal.labels import desk_lines, labelled_text

    request = LabelRequest(n=sample, guideline=guideline, judge=judge, seed=seed)
    if file:
        return _write_file(
            study, request, Path(file), annotator="" if annotator == "me" else annotator, as_json=as_json
        )
    database_url = os.environ.get(DATABASE_VARIABLE) or None
    serving, desk = open_label_desk(study, request, by=annotator, database_url=database_url, port=port)
    head = desk_lines(n=desk.n_open, guideline=desk.guideline, judge=desk.judge, by=desk.annotator, width=width())
    address = f"Open once  {{address}}{desk.door}"

    def tell(line: str) -> None:
        click.echo(line)
        if browser and line.startswith("Open once"):
            webbrowser.open(line.rsplit(maxsplit=1)[-1])

    n = serve_label_desk(serving, desk, (*head, address), tell)
    text = labelled_text(
        n=n, n_open=waiting(desk), study=desk.study, by=desk.annotator, has_judge=bool(desk.judge), width=width()
    )
    click.echo(text)
    return 0


def _write_file(study: str, request: LabelRequest, path: Path, *, annotator: str, as_json: bool) -> int:
    from theodolite.bootstrap.exchange import write_label_sample
    from theodolite.bootstrap.study_context import open_study
    from theodolite.reporting.terminal.labels import sample_text

    context = open_study(study)
    try:
        drawn = write_label_sample(context, request, path, by=annotator)
        n_rows = len(drawn.slips)
        if as_json:
            strata = {one.name: {"dialogues": one.n_dialogues, "drawn": one.n_drawn} for one in drawn.sample.strata}
            click.echo(as_line({"exit_code": 0, "file": str(path), "answers": n_rows, "strata": strata}))
        else:
            click.echo(sample_text(drawn.sample, n_slips=n_rows, file=str(path), study=context.path, width=width()))
        return 0
    finally:
        context.close()
