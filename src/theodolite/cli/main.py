"""The door: one command group that loads a command only when it is called."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from keyword import iskeyword
from typing import Any, NoReturn

import click

from theodolite.domain.errors import InputError, NotFound, TheodoliteError
from theodolite.domain.fault import did_you_mean
from theodolite.domain.printable import printable
from theodolite.execution.gc_tuning import WHILE_LOADING, reduced_gc

FIRST = {
    "demo": ("the whole loop on real recorded data: no key, no network", "theodolite.cli.demo"),
    "init": ("a new study from a template, or from a file's header", "theodolite.cli.init"),
    "check": ("find every fault of a study; count its calls and their cost", "theodolite.cli.check"),
    "run": ("test, assess, measure, report; goes on where it stopped", "theodolite.cli.run"),
    "label": ("label dialogues yourself, on a page of this machine", "theodolite.cli.label"),
    "serve": ("the web side: people test, annotate and organise", "theodolite.cli.serve"),
}
"""The commands that one meets first."""

FURTHER = {
    "test": ("hold the dialogues only", "theodolite.cli.run"),
    "assess": ("annotate the dialogues; draw and read people's labels", "theodolite.cli.assess"),
    "judge": ("hold a judge against people: its certificate", "theodolite.cli.judge"),
    "status": ("where a run stands, from another terminal", "theodolite.cli.status"),
    "measure": ("write results.json and print the summary", "theodolite.cli.report"),
    "show": ("print one dialogue with what annotators said of it", "theodolite.cli.show"),
    "report": ("write report.html and results.json of the latest run", "theodolite.cli.report"),
    "compare": ("two applications or runs, pair by pair: mended, broken", "theodolite.cli.compare"),
    "export": ("every answer as a row of its own, or tasks for Label Studio", "theodolite.cli.exchange"),
    "bring": ("dialogues that were held elsewhere", "theodolite.cli.bring"),
    "import": ("labels that people gave elsewhere", "theodolite.cli.exchange"),
    "rehearse": ("bots play an event before people do, with pictures", "theodolite.cli.rehearse"),
    "monitor": ("scores over time: alerts and who moved; exit code 1 on alert", "theodolite.cli.monitor"),
    "tree": ("measurement trees: show, compute again, compare two", "theodolite.cli.tree"),
    "check-application": (
        "call an application a few times: does it behave?",
        "theodolite.cli.check_application",
    ),
    "schemas": ("write the JSON Schemas of study files, for editors", "theodolite.cli.schemas"),
}
"""The stages of `run` one at a time, and what is seldom needed."""

_EPILOG = """\
Examples
  theodolite demo                          see what comes out, in half a minute
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
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(module, f"{name}_" if iskeyword(name) else name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is meant, or say which one might be."""
        known = [*FIRST, *FURTHER]
        if args and args[0] not in known:
            ctx.fail(f"there is no command `{args[0]}`{did_you_mean(args[0], known)}")
        return super().resolve_command(ctx, args)

    def format_help(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write("Usage: theodolite COMMAND ...   (COMMAND --help tells more)\n\n")
        formatter.write("Measures what GenAI applications do to people.\n\n")
        for name, (words, _) in FIRST.items():
            formatter.write(f"  {name:<8} {words}\n")
        formatter.write("\nAlso\n")
        for name, (words, _) in FURTHER.items():
            formatter.write(f"  {name:<17} {words}\n")
        formatter.write(f"\n{_EPILOG}\n")


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="theodolite", message="theodolite %(version)s")
def cli() -> None:
    """Measures what GenAI applications do to people."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _speak_with_any_terminal()
    with reduced_gc(WHILE_LOADING):
        code = _guarded(words, lambda: cli.main(args=words, standalone_mode=False, prog_name="theodolite"))
    sys.exit(code)


def program() -> NoReturn:
    """Run the command line as a process, and end that as soon as the command has ended.

    By then everything is written and closed. Python would take apart all that was
    loaded, piece by piece, which is a sixth of the time of a small command.
    """
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    os._exit(_spoken_out(code))


def _spoken_out(code: int) -> int:
    """Hand over what was printed and return the exit code; whoever has not got everything is not done."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 3
    return code


def _speak_with_any_terminal() -> None:
    """Let letters that a terminal does not know become question marks: no text of a study may end the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _guarded(words: Sequence[str], call: Callable[[], Any]) -> int:
    """Return the exit code of a command; whatever ends it is told in words."""
    try:
        code = call()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return _told(words, error, error.exit_code)
    except OSError as error:
        return _unheard(error)
    except (KeyboardInterrupt, click.Abort) as end:
        click.echo("Stopped. Run the same command to resume.", err=True)
        return _told(words, end, 3)
    except TheodoliteError as error:
        click.echo(printable(str(error)), err=True)
        return _told(words, error, exit_code_of(error))
    return code if isinstance(code, int) else 0


def _unheard(error: OSError) -> int:
    """Return the exit code where the output reached nobody: its reader has gone, or the disk under it is full."""
    if isinstance(error, BrokenPipeError):  # what is still buffered has nowhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    else:
        click.echo(f"The system refused: {error}. Mend that, then give the same command again.", err=True)
    return 3


def _told(words: Sequence[str], error: BaseException, code: int) -> int:
    """Print the object that `--json` promises in every ending, and return the exit code."""
    options = words[: words.index("--")] if "--" in words else words
    if "--json" in options:
        from theodolite.cli.json_ending import error_json

        click.echo(error_json(error, exit_code=code))
    return code


def exit_code_of(error: TheodoliteError) -> int:
    """Return 2 where the user's input is to be mended, 3 where the run is to be gone on with."""
    return 2 if isinstance(error, InputError | NotFound) else 3


if __name__ == "__main__":
    main()
