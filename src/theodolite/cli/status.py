"""`theodolite status`: where the latest run of a study stands, from another terminal."""

from __future__ import annotations

import click

from theodolite.bootstrap.study_context import look_at
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_output import as_line
from theodolite.reporting.terminal.status import status_document, status_text


@click.command()
@study_argument
@json_option
def status(study: str, *, as_json: bool) -> int:
    """Say where the latest run stands, while it goes on or after.

    It only reads: the run is not disturbed, and nothing is brought up to date.

    \b
    Examples
      theodolite status support
      theodolite status support --json
    """  # noqa: D301 - click's mark for "keep these lines"
    found = look_at(study)
    click.echo(as_line({"exit_code": 0, **status_document(found)}) if as_json else status_text(found))
    return 0
