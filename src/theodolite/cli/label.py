"""`theodolite label`: one person labels dialogues on a page of this machine."""

from __future__ import annotations

import os
import webbrowser

import click

from theodolite.bootstrap.database import DATABASE_VARIABLE
from theodolite.cli.arguments import study_argument
from theodolite.cli.terminal import width
from theodolite.usecases.label_requests import LabelRequest

SAMPLE = 40
"""Dialogues that are drawn where nobody says how many; count."""


@click.command()
@study_argument
@click.option("--sample", type=click.IntRange(min=1), default=SAMPLE, show_default=True, metavar="N", help="How many.")
@click.option("--guideline", default="", metavar="NAME", help="What they are labelled by.")
@click.option("--judge", default="", metavar="NAME", help="Whose verdicts they are drawn from.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the draw.")
@click.option("--by", default="me", show_default=True, metavar="NAME", help="Who labels.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Any free one where left out.")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
def label(study: str, *, sample: int, guideline: str, judge: str, seed: int, by: str, port: int, opens: bool) -> int:
    """Label dialogues that were held, on a page of this machine.

    One person, no account: the address lets in once, and nobody else can
    reach it. The page tells neither application nor judge. Each dialogue that
    is submitted counts at once, in certificates and corrected rates; Ctrl-C
    ends, and the same command goes on.

    \b
    Examples
      theodolite label support
      theodolite label support --sample 100 --by anna --open
    """  # noqa: D301 - click's mark for "keep these lines"
    from theodolite.bootstrap.label_desk import open_label_desk, serve_label_desk, waiting
    from theodolite.reporting.terminal.labels import desk_lines, labelled_text

    request = LabelRequest(n=sample, guideline=guideline, judge=judge, seed=seed)
    database_url = os.environ.get(DATABASE_VARIABLE) or None
    serving, desk = open_label_desk(study, request, by=by, database_url=database_url, port=port)
    head = desk_lines(n=desk.n_open, guideline=desk.guideline, judge=desk.judge, by=desk.annotator, width=width())
    address = f"Open once  {{address}}{desk.door}"

    def tell(line: str) -> None:
        click.echo(line)
        if opens and line.startswith("Open once"):
            webbrowser.open(line.rsplit(maxsplit=1)[-1])

    n = serve_label_desk(serving, desk, (*head, address), tell)
    click.echo(labelled_text(n=n, n_open=waiting(desk), study=desk.study, by=desk.annotator, width=width()))
    return 0
