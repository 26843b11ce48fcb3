"""`theodolite show`: one dialogue with what annotators said of it."""

from __future__ import annotations

import click

from theodolite.bootstrap.reports import dialogue_screen
from theodolite.bootstrap.study_context import open_study
from theodolite.cli.arguments import study_argument
from theodolite.cli.terminal import width


@click.command()
@study_argument
@click.argument("dialogue")
@click.option("--raw", is_flag=True, help="Also print prompts and raw replies of judges, and the cost of all calls.")
def show(study: str, dialogue: str, *, raw: bool) -> int:
    """Print one dialogue of the latest run, with its annotations.

    DIALOGUE is what the screens call it, e.g. d001 or gpt4/v2-31.

    \b
    Example
      theodolite show support d001
    """  # noqa: D301 - click's mark for "keep these lines"
    context = open_study(study)
    try:
        click.echo(dialogue_screen(context, dialogue, width=width(), raw=raw))
        return 0
    finally:
        context.close()
