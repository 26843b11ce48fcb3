"""`theodolite bring`: dialogues that were held elsewhere join a study."""

from __future__ import annotations

from pathlib import Path

import click

from theodolite.bootstrap.bringing import bring_looked, columns_for, look_into, stored_of
from theodolite.bootstrap.study_context import open_study
from theodolite.bootstrap.venues import open_venue
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_ending import as_line
from theodolite.config.brought.bringing import HOLDERS, BringColumns
from theodolite.config.brought.threads import Ways
from theodolite.config.brought.voices import Voices
from theodolite.domain.dialogue import HeldBy


@click.command()
@study_argument
@click.argument("file", type=click.Path(exists=True))
@click.option("--prompt", default="prompt", show_default=True, metavar="COLUMN", help="What the tester said.")
@click.option("--response", default="response", show_default=True, metavar="COLUMN", help="What the application said.")
@click.option("--id", default="", metavar="COLUMN", help="Names the dialogue; each row is one where left out.")
@click.option("--turn", default="", metavar="COLUMN", help="Number of the turn.")
@click.option("--tester", default="", metavar="COLUMN", help="Names who tested.")
@click.option("--context", default="", metavar="COLUMN", help="Source material that the response should rest on.")
@click.option("--withheld", default="", metavar="COLUMN", help="Says why a row's texts are not there.")
@click.option("--application", default="", metavar="NAME", help="Whose replies they are.")
@click.option("--scenario", default="", metavar="NAME", help="What they are about.")
@click.option("--level", default="", metavar="LEVEL", help="Model testing, red teaming or field testing.")
@click.option("--application-column", default="", metavar="COLUMN", help="Says so row by row; likewise the next two.")
@click.option("--scenario-column", default="", metavar="COLUMN")
@click.option("--level-column", default="", metavar="COLUMN")
@click.option("--held-by", type=click.Choice([one.value for one in HOLDERS]), default=HeldBy.RECORDED.value)
@click.option("--replies", multiple=True, metavar="FIELD=VALUE", help="No table: whose remarks are replies; repeat.")
@click.option(
    "--left-out", multiple=True, metavar="VALUE", help="Of the same field: remarks that are no side's; repeat."
)
@click.option("--ways", type=click.Choice([one.name.lower() for one in Ways]), default="every", show_default=True)
@click.option("--check", is_flag=True, help="Read it and store nothing.")
@json_option
def bring(
    study: str,
    file: str,
    *,
    replies: tuple[str, ...],
    left_out: tuple[str, ...],
    ways: str,
    check: bool,
    as_json: bool,
    **said: str,
) -> int:
    """Take in dialogues that were held elsewhere, with their words.

    A table (CSV, TSV, JSON Lines) has one row a turn. A corpus of ConvoKit (a
    folder, or a zip archive of it) and the tasks of Label Studio (.json) hold
    remarks of several voices: --replies says which are the application's, e.g.
    speaker.role=bot, and --ways what becomes of a conversation that branches.

    The dialogues join the study's run beside those of people: `theodolite run`
    lets judges read them, and annotators on a server get them. All of it is
    stored, or nothing; what is there already stays as it is.

    \b
    Examples
      theodolite bring spoilers log.csv --id chat --turn n --application bot \\
          --scenario spoilers --level "red teaming" --held-by person
      theodolite bring spoilers log.jsonl --application-column system --check
      theodolite bring spoilers corpus.zip --replies speaker.role=bot \\
          --application bot --scenario spoilers --level "field testing"
    """  # noqa: D301 - click's mark for "keep these lines"
    named = ("application", "scenario", "level")
    columns = {
        name: said[name] for name in ("prompt", "response", "id", "turn", "tester", "context", "withheld", "held_by")
    }
    constants = {f"of_{name}": said[name] for name in named}
    means = BringColumns(**columns, **constants, **{name: said[f"{name}_column"] for name in named})
    context = open_study(study)
    try:
        venue = open_venue(study, context.store, workspace=context.loaded.folder).venue
        path = Path(file)
        stored = stored_of(path)
        meant = columns_for(stored, path.name, means)
        looked = look_into(stored, path.name, venue, meant, _voices(replies, left_out, ways))
        found = bring_looked(looked, venue, store=not check)
        if as_json:
            counts = {"new": list(found.new), "known": found.known, "notes": list(looked.notes)}
            click.echo(as_line({"exit_code": 0, "stored": not check, **counts}))
        else:
            done = "Checked, nothing stored" if check else "Stored"
            click.echo(f"{done}: {len(found.new)} new dialogues, {found.known} there already.")
            for note in looked.notes:
                click.echo(f"  {note}")
            click.echo(f"Next           theodolite run {context.path}")
        return 0
    finally:
        context.close()


def _voices(replies: tuple[str, ...], left_out: tuple[str, ...], ways: str) -> Voices:
    """Return who speaks for the application, as far as it is said."""
    pairs = [pair.partition("=") for pair in replies]
    fields = dict.fromkeys(name for name, _, _ in pairs)
    if len(fields) > 1 or any(not sign for _, sign, _ in pairs):
        message = f"--replies takes FIELD=VALUE, each time with the same field; got {', '.join(replies)}"
        raise click.UsageError(message)
    return Voices(
        told_by=next(iter(fields), ""),
        application=tuple(value for _, _, value in pairs),
        silent=left_out or None,
        ways=Ways[ways.upper()],
    )
