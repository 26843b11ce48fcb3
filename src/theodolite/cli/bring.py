"""`theodolite bring`: dialogues that were held elsewhere join a study."""

from __future__ import annotations

from pathlib import Path

import click

from theodolite.bootstrap.bringing import bring_file
from theodolite.bootstrap.venues import open_venue
from theodolite.bootstrap.workbench import open_workbench
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_ending import as_line
from theodolite.config.bringing import HOLDERS, BringColumns
from theodolite.domain.dialogue import HeldBy


@click.command()
@study_argument
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--prompt", default="prompt", show_default=True, metavar="COLUMN", help="What the tester said.")
@click.option("--response", default="response", show_default=True, metavar="COLUMN", help="What the application said.")
@click.option("--id", default="", metavar="COLUMN", help="Names the dialogue; each row is one where left out.")
@click.option("--turn", default="", metavar="COLUMN", help="Number of the turn.")
@click.option("--tester", default="", metavar="COLUMN", help="Names who tested.")
@click.option("--withheld", default="", metavar="COLUMN", help="Says why a row's texts are not there.")
@click.option("--application", default="", metavar="NAME", help="Whose replies they are.")
@click.option("--scenario", default="", metavar="NAME", help="What they are about.")
@click.option("--level", default="", metavar="LEVEL", help="Model testing, red teaming or field testing.")
@click.option("--application-column", default="", metavar="COLUMN", help="Says so row by row; likewise the next two.")
@click.option("--scenario-column", default="", metavar="COLUMN")
@click.option("--level-column", default="", metavar="COLUMN")
@click.option("--held-by", type=click.Choice([one.value for one in HOLDERS]), default=HeldBy.RECORDED.value)
@click.option("--check", is_flag=True, help="Read it and store nothing.")
@json_option
def bring(study: str, file: str, *, check: bool, as_json: bool, **said: str) -> int:
    """Take in dialogues that were held elsewhere, with their words.

    A table (CSV, TSV, JSON Lines) has one row a turn. Its dialogues join the
    study's run beside those of people: `theodolite run` lets judges read them,
    and annotators on a server get them. All of it is stored, or nothing; what
    is there already stays as it is.

    \b
    Examples
      theodolite bring spoilers log.csv --id chat --turn n --application bot \\
          --scenario spoilers --level "red teaming" --held-by person
      theodolite bring spoilers log.jsonl --application-column system --check
    """  # noqa: D301 - click's mark for "keep these lines"
    named = ("application", "scenario", "level")
    columns = {name: said[name] for name in ("prompt", "response", "id", "turn", "tester", "withheld", "held_by")}
    constants = {f"of_{name}": said[name] for name in named}
    means = BringColumns(**columns, **constants, **{name: said[f"{name}_column"] for name in named})
    bench = open_workbench(study)
    try:
        venue = open_venue(study, bench.store, workspace=bench.loaded.folder).venue
        path = Path(file)
        found = bring_file(path.read_bytes(), path.name, venue, means, store=not check)
        if as_json:
            click.echo(as_line({"exit_code": 0, "stored": not check, "new": list(found.new), "known": found.known}))
        else:
            stored = "Checked, nothing stored" if check else "Stored"
            click.echo(f"{stored}: {len(found.new)} new dialogues, {found.known} there already.")
            click.echo(f"Next           theodolite run {bench.path}")
        return 0
    finally:
        bench.close()
