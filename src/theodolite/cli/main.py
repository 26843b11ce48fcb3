"""The command line: a group that imports a command when it is called, and maps former names."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from keyword import iskeyword
from typing import Any, NoReturn

import click

from theodolite.domain.errors import InputError, NotFound, TheodoliteError, did_you_mean
from theodolite.domain.text import printable
from theodolite.execution.gc_tuning import WHILE_LOADING, reduced_gc

RENAMED_COMMANDS = {
    "assess": "`run --stage score`, `label --file`, `import labels` or `judge plan`",
    "bring": "`import dialogues`",
    "certify": "`judge validate`",
    "check-application": "`probe`",
    "measure": "`run --stage measure`",
    "rehearse": "`dry-run`",
    "test": "`run --stage test`",
}
"""Former name of a command to its present one."""

RENAMED_OPTIONS = {
    "--anew": "--new-run",
    "--by": "--annotator",
    "--first": "--limit",
    "--held-by": "--tester-type",
    "--left-out": "--ignore",
    "--open": "--browser",
    "--parallel": "--concurrency",
    "--unfinished": "--partial",
    "--ways": "--branches",
}
"""Former name of an option to its present one."""


class Group(click.Group):
    """A group that names the closest command, or the new name of a renamed one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name.

        Raises:
            click.UsageError: If there is no such command; the message names the closest command.
        """
        known = self.list_commands(ctx)
        if args and args[0] not in known:
            ctx.fail(f"there is no command `{args[0]}`{_command_advice(ctx, args[0], known)}")
        return super().resolve_command(ctx, args)


WITHOUT_JSON = {
    "completion": "it prints a shell script",
    "mcp": "its standard output speaks the Model Context Protocol, which is JSON",
    "tree expand": "it prints a tree file, which is JSON",
}
"""Commands without `--json`, and the reason."""


def explain_option(error: click.NoSuchOption) -> click.UsageError:
    """Return an error with the new name of a renamed option or the reason of a missing one, or the error itself."""
    command = error.ctx.command_path.partition(" ")[2] if error.ctx else ""
    if error.option_name == "--json" and command in WITHOUT_JSON:
        return click.UsageError(f"`{command}` takes no --json: {WITHOUT_JSON[command]}.", error.ctx)
    new = RENAMED_OPTIONS.get(error.option_name)
    if new and error.ctx and any(new in parameter.opts for parameter in error.ctx.command.params):
        return click.UsageError(f"option `{error.option_name}` is now `{new}`.", error.ctx)
    return error


def _command_advice(ctx: click.Context, name: str, known: list[str]) -> str:
    if name in RENAMED_COMMANDS and name not in known:
        return f"; use {RENAMED_COMMANDS[name]}"
    if ctx.info_name == "import":
        return f". To import labels, write  theodolite import labels {name} FILE"
    return did_you_mean(name, known)


COMMANDS = {
    "Start": {
        "demo": ("run two example studies: no API key, no network", "theodolite.cli.init"),
        "init": ("create a study from a template or from a data file", "theodolite.cli.init"),
        "check": ("validate a study; estimate calls, cost and hosts", "theodolite.cli.check"),
        "run": ("test, score, measure and report; resumes a stopped run", "theodolite.cli.run"),
    },
    "Results": {
        "report": ("write report.html and results.json of the latest run", "theodolite.cli.report"),
        "view": ("view studies and runs in a browser; start and stop runs", "theodolite.cli.serve"),
        "show": ("print one dialogue with its annotations", "theodolite.cli.report"),
        "compare": ("compare two applications or runs: fixed, regressed", "theodolite.cli.compare"),
        "monitor": ("monitor scores over time; exit code 1 on an alert", "theodolite.cli.compare"),
        "gate": ("check the gates of a study; exit code 1 if not met", "theodolite.cli.compare"),
        "export": ("export dialogues and labels as a table, or for other tools", "theodolite.cli.imports"),
        "document": ("write datasheet, methods, codebook and data card", "theodolite.cli.release"),
        "release": ("write an anonymised, signed bundle for the public", "theodolite.cli.release"),
        "verify": ("check a release bundle and score it again", "theodolite.cli.release"),
    },
    "People": {
        "label": ("label dialogues on a local page", "theodolite.cli.serve"),
        "serve": ("serve the web app to testers, annotators and organisers", "theodolite.cli.serve"),
        "dry-run": ("let bots complete an event before people do", "theodolite.cli.serve"),
    },
    "Data": {
        "import": ("import dialogues or labels from other tools", "theodolite.cli.imports"),
    },
    "Judges and trees": {
        "judge": ("validate a judge against human labels", "theodolite.cli.judge"),
        "tree": ("show, recompute and compare measurement trees", "theodolite.cli.judge"),
    },
    "More": {
        "status": ("print the status of a run", "theodolite.cli.run"),
        "runs": ("list the runs of a study", "theodolite.cli.run"),
        "worker": ("work on open runs as an additional process", "theodolite.cli.run"),
        "merge": ("join the shards of a run that was split", "theodolite.cli.shards"),
        "azureml": ("write, check and submit an Azure Machine Learning pipeline", "theodolite.cli.shards"),
        "copy-database": ("copy a workspace between its file and PostgreSQL", "theodolite.cli.serve"),
        "backup": ("back up a workspace to one file", "theodolite.cli.serve"),
        "restore": ("restore a workspace from a backup", "theodolite.cli.serve"),
        "docs": ("read the documentation offline: HTML files, search, pages as text", "theodolite.cli.catalogue"),
        "doctor": ("print versions, extras, keys and problems of this machine", "theodolite.cli.check"),
        "mcp": ("serve studies to coding agents (Model Context Protocol)", "theodolite.cli.mcp_server"),
        "probe": ("test the conformance of an application", "theodolite.cli.check"),
        "packs": ("list scenario packs, show their cards, install packs", "theodolite.cli.catalogue"),
        "plugins": ("list the parts of installed plugins by kind", "theodolite.cli.catalogue"),
        "completion": ("print the completion script of a shell", "theodolite.cli.catalogue"),
        "schemas": ("write the JSON Schemas of study files for editors", "theodolite.cli.check"),
    },
}
"""Commands by group, each with its summary and its module."""

_ALL = {name: entry for commands in COMMANDS.values() for name, entry in commands.items()}

DOCUMENTATION = "theodolite docs --browser  (installed, needs no network)"
"""How to open the documentation; it is part of the package and has no public address."""

_EPILOG = f"""\
Examples
  theodolite demo                          see results in half a minute
  theodolite init support                  answer a few questions, get a study
  theodolite check support                 no call is made
  theodolite run support --limit 3         try a few dialogues first
  theodolite run support                   the same command resumes

Exit codes: 0 done, 1 gate not met or alert, 2 input error, 3 incomplete.
Documentation: {DOCUMENTATION}"""


class _Commands(Group):
    """Commands by name, imported on demand so that `--help` stays fast."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return [*_ALL]

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _ALL:
            return None
        module = importlib.import_module(_ALL[cmd_name][1])
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(module, f"{name}_" if iskeyword(name) else name)
        return command

    def format_help(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write("Usage: theodolite COMMAND ...   (COMMAND --help for details)\n\n")
        formatter.write("Measures the risks of GenAI applications.\n")
        for group, commands in COMMANDS.items():
            formatter.write(f"\n{group}\n")
            for name, (summary, _) in commands.items():
                formatter.write(f"  {name:<10} {summary}\n")
        formatter.write(f"\n{_EPILOG}\n")


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="theodolite", message="theodolite %(version)s")
def cli() -> None:
    """Measures the risks of GenAI applications."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    _replace_unencodable()
    try:
        with reduced_gc(WHILE_LOADING):
            code = _guarded(argv, lambda: cli.main(args=argv, standalone_mode=False, prog_name="theodolite"))
    finally:
        if observers := sys.modules.get("theodolite.bootstrap.observers"):
            observers.stop_observers()
    sys.exit(code)


def program() -> NoReturn:
    """Run the command line as a process, and exit without the interpreter's clean-up.

    All files are written and closed by then. The clean-up of loaded modules takes
    a sixth to a quarter of the time of a small command.

    Removal condition (ADR-0074): remove it once it saves less than a tenth of the CPU
    time of `--help` and of a run of one dialogue.
    """
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    os._exit(_flush(code))


def _flush(code: int) -> int:
    """Flush the output and return the exit code; 3 if the output could not be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 3
    return code


def _replace_unencodable() -> None:
    """Replace characters the terminal cannot encode, so printing never fails."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _guarded(argv: Sequence[str], call: Callable[[], Any]) -> int:
    """Run a command and return its exit code; errors are printed as messages."""
    try:
        code = call()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        shown = explain_option(error) if isinstance(error, click.NoSuchOption) else error
        shown.show()
        return _print_json_error(argv, shown, error.exit_code)
    except OSError as error:
        return _output_failed(error)
    except (KeyboardInterrupt, click.Abort) as end:
        click.echo("Stopped. Run the same command to resume.", err=True)
        return _print_json_error(argv, end, 3)
    except TheodoliteError as error:
        click.echo(printable(str(error)), err=True)
        return _print_json_error(argv, error, exit_code_of(error))
    return code if isinstance(code, int) else 0


def _output_failed(error: OSError) -> int:
    """Return the exit code for output that cannot be written: a closed pipe or a full disk."""
    if isinstance(error, BrokenPipeError):  # discard the rest of the buffer
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    else:
        click.echo(f"System error: {error}. Fix the problem, then run the same command again.", err=True)
    return 3


def _print_json_error(argv: Sequence[str], error: BaseException, code: int) -> int:
    """Print the error object of `--json` and return the exit code."""
    options = argv[: argv.index("--")] if "--" in argv else argv
    if "--json" in options:
        from theodolite.cli.terminal import error_json

        click.echo(error_json(error, exit_code=code))
    return code


def exit_code_of(error: TheodoliteError) -> int:
    """Return 2 for errors in the input, 3 for an incomplete run."""
    return 2 if isinstance(error, InputError | NotFound) else 3


if __name__ == "__main__":
    main()
