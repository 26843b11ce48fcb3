"""`theodolite schemas`: the JSON Schemas of study files, for editors, and of written files."""

from __future__ import annotations

from pathlib import Path

import click

from theodolite.config.json_schemas import write_schemas


@click.command()
@click.argument("folder", type=click.Path(file_okay=False))
def schemas(folder: str) -> int:
    """Write the JSON Schemas of study files and of written files to a folder.

    An editor with a YAML language server completes and checks a study that
    begins with a line like

    \b
      # yaml-language-server: $schema=schemas/study.schema.json

    Those of results.json, compare.json, monitor.json and series.json tell programs what to expect.

    \b
    Example
      theodolite schemas schemas
    """  # noqa: D301 - click's mark for "keep these lines"
    for path in write_schemas(Path(folder)):
        click.echo(str(path))
    return 0
