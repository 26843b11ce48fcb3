"""The door: one command group that loads a command only when it is called."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from theodolite.domain.errors import InputError, NotFound, TheodoliteError

FIRST = {
    "demo": ("the whole loop on real recorded data: no key, no network", "theodolite.cli.demo"),
    "init": ("a new study from a template, or from a file's header", "theodolite.cli.init"),
    "check": ("find every fault of a study; count its calls and their cost", "theodolite.cli.check"),
    "run": ("test, assess, measure, report; goes on where it stopped", "theodolite.cli.run"),
    "show": ("print one dialogue with what annotators said of it", "theodolite.cli.show"),
    "report": ("write report.html and results.json of the latest run", "theodolite.cli.report"),
}
"""The commands that one meets first."""

FURTHER = {
    "test": ("hold the dialogues only", "theodolite.cli.run"),
    "assess": ("annotate the dialogues that were held", "theodolite.cli.run"),
    "measure": ("write results.json and print the summary", "theodolite.cli.report"),
    "schemas": ("write the JSON Schemas of study files, for editors", "theodolite.cli.schemas"),
}
"""The stages of `run` one at a time, and what is seldom needed."""

_EPILOG = """\
Examples
  theodolite demo                          see what comes out, in ten seconds
  theodolite init support                  three questions, three files
  theodolite check support                 nothing is sent, nothing is paid
  theodolite run support --first 3         look before you pay
  theodolite run support                   the same command goes on after a stop

Exit codes: 0 done, 1 a finding over a gate's threshold, 2 the input is wrong,
3 not finished (the same command goes on)."""


class _Commands(click.Group):
    """Commands by name, imported when they are asked for: `--help` stays quick."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return [*FIRST, *FURTHER]

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = {**FIRST, **FURTHER}
        if cmd_name not in known:
            return None
        module = importlib.import_module(known[cmd_name][1])
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_help(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write("Usage: theodolite COMMAND ...   (COMMAND --help tells more)\n\n")
        formatter.write("Measures what GenAI applications do to people.\n\n")
        for name, (words, _) in FIRST.items():
            formatter.write(f"  {name:<8} {words}\n")
        formatter.write("\nAlso\n")
        for name, (words, _) in FURTHER.items():
            formatter.write(f"  {name:<8} {words}\n")
        formatter.write(f"\n{_EPILOG}\n")


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="theodolite", message="theodolite %(version)s")
def cli() -> None:
    """Measures what GenAI applications do to people."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(_guarded(lambda: cli.main(args=arguments, standalone_mode=False, prog_name="theodolite")))


def _guarded(call: Callable[[], Any]) -> int:
    try:
        code = call()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("Stopped.", err=True)
        return 3
    except TheodoliteError as error:
        click.echo(str(error), err=True)
        return exit_code_of(error)
    return code if isinstance(code, int) else 0


def exit_code_of(error: TheodoliteError) -> int:
    """Return 2 where the user's input is to be mended, 3 where the run is to be gone on with."""
    return 2 if isinstance(error, InputError | NotFound) else 3


if __name__ == "__main__":
    main()
