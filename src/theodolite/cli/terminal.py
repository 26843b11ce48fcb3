"""Options, permissions, widths and JSON output that commands share."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import click

from theodolite.bootstrap.observers import hide_secrets, logs_json, metrics_server, start_json_logs, start_traces
from theodolite.bootstrap.permission import (
    CodeRequest,
    KeyRequest,
    allow_paths,
    code_request,
    key_refusal_text,
    key_request,
    refusal_text,
)
from theodolite.config.loading import LoadedStudy
from theodolite.config.required_access import named_keys
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic
from theodolite.domain.errors import InputError
from theodolite.domain.text import printable, printable_line
from theodolite.ports.progress import Sample
from theodolite.usecases.running import RunStatus

if TYPE_CHECKING:
    from theodolite.bootstrap.study_context import StudyContext

WIDEST = 80
"""Width that screens are designed for; columns."""


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def wants_colour() -> bool:
    """Return whether to use colours; respects `NO_COLOR`."""
    return is_terminal() and not os.environ.get("NO_COLOR")


def speaks_unicode() -> bool:
    """Return whether the terminal can display box-drawing lines and dots."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")


class RowProgress:
    """One line on standard error with the progress of a long table; nothing without a terminal."""

    def __init__(self) -> None:
        """Check whether standard error is a terminal."""
        self._watched = sys.stderr.isatty()
        self._shown = 0

    def __call__(self, step: str, n_rows: int) -> None:
        """Report the step and the number of rows that it has read."""
        if self._watched and n_rows:
            self._write(f"{step}: {n_rows:,} rows"[: width() - 1])

    def __enter__(self) -> Self:
        """Start without a line."""
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the line."""
        if self._shown:
            self._write("")
            sys.stderr.write("\r")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text.ljust(self._shown)}")
        sys.stderr.flush()
        self._shown = len(text)


def width() -> int:
    """Return the columns to use; 80 at most."""
    return min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns)


def error_json(error: BaseException, *, exit_code: int) -> str:
    """Return the object of a command that ended with an error, with one entry per error of a study."""
    if isinstance(error, InvalidStudyError):
        return diagnostics_json(error.placed, exit_code=exit_code)
    text = error.format_message() if isinstance(error, click.ClickException) else str(error)
    return as_line({"exit_code": exit_code, "error": text or "stopped"})


def diagnostics_json(placed: Sequence[LocatedDiagnostic], *, exit_code: int, **more: object) -> str:
    """Return the object with the errors and notes of a study, their positions, and the command's other findings."""
    result = [
        {
            "file": diagnostic.file,
            "line": diagnostic.line,
            "column": diagnostic.column,
            "severity": diagnostic.severity.value,
            "message": diagnostic.message,
        }
        for diagnostic in placed
    ]
    return as_line({"exit_code": exit_code, "diagnostics": result, **more})


def counts_of(status: RunStatus) -> dict[str, object]:
    """Return the path of a run for a JSON object."""
    return {
        "stopped": status.stopped,
        "planned": status.planned,
        "sessions": dict(status.sessions),
        "annotations": dict(status.annotations),
    }


def as_line(found: dict[str, Any]) -> str:
    """Return an object as one line of ASCII JSON, safe for every pipe."""
    return json.dumps(found, allow_nan=False)


Command = TypeVar("Command", bound=Callable[..., Any])


def study_argument(command: Command) -> Command:
    """Add the study: a folder with a `study.yaml`, or a file."""
    return click.argument("study", type=click.Path())(command)


def json_option(command: Command) -> Command:
    """Add `--json`: one JSON object on standard output, everything else on standard error."""
    text = "Print one JSON object instead of text."
    return click.option("--json", "as_json", is_flag=True, help=text)(command)


def cache_option(command: Command) -> Command:
    """Add `--cache`: equal requests to models are answered from the workspace's cache."""
    text = "Answer repeated requests to models from the cache, but never those to applications."
    return click.option("--cache", is_flag=True, help=text)(command)


def out_option(command: Command) -> Command:
    """Add `--out`: the folder for report.html and results.json."""
    text = "Folder for report.html and results.json; default: the study folder."
    return click.option("--out", type=click.Path(file_okay=False), help=text)(command)


_META = "theodolite.permission."

_CODE = "Allow the current code that the study names; stored in the workspace."

_KEYS = "Send the keys that the study names to the hosts that it names; stored in the workspace."

_PATH = "Let the study read a file or folder outside its own folder; stored in the workspace."


def path_option(command: Command) -> Command:
    """Add `--allow-path` for files outside the study's folder; `permit_paths` reads it."""
    return click.option(
        "--allow-path",
        multiple=True,
        type=click.Path(),
        metavar="PATH",
        help=_PATH,
        expose_value=False,
        callback=_remember,
    )(command)


def permission_options(command: Command) -> Command:
    """Add `--allow-path`, `--allow-code` and `--allow-keys`; `permit_paths` and `permit_run` read them."""
    code = click.option("--allow-code", is_flag=True, help=_CODE, expose_value=False, callback=_remember)
    keys = click.option("--allow-keys", is_flag=True, help=_KEYS, expose_value=False, callback=_remember)
    return path_option(code(keys(command)))


def _remember(context: click.Context, option: click.Parameter, value: object) -> None:
    context.meta[_META + str(option.name)] = value


def log_option(command: Command) -> Command:
    """Add `--log-format`, which takes effect before anything is written."""
    return click.option(
        "--log-format",
        type=click.Choice(["text", "json"]),
        default="text",
        envvar="THEODOLITE_LOG_FORMAT",
        is_eager=True,
        help="Form of standard error: text, or one JSON object per line.",
        expose_value=False,
        callback=_start_logs,
    )(command)


def observer_options(command: Command) -> Command:
    """Add `--log-format` and `--metrics`; `observed` reads the latter."""
    metrics = click.option(
        "--metrics",
        default="",
        metavar="HOST:PORT",
        envvar="THEODOLITE_METRICS",
        help="Serve metrics of this process for Prometheus at /metrics.",
        expose_value=False,
        callback=_remember,
    )
    return log_option(metrics(command))


def _start_logs(_context: click.Context, _option: click.Parameter, value: str) -> None:
    if value == "json":
        start_json_logs()


@contextmanager
def observed(
    contexts: Sequence[StudyContext], databases: Sequence[Callable[[], Iterable[Sample]]] = ()
) -> Iterator[None]:
    """Serve metrics and send traces of a command's work as options and environment request.

    Args:
        contexts: Studies; their keys stay out of logs and traces.
        databases: Functions that return a database's metrics besides those of the studies.

    Raises:
        InputError: If metrics cannot be served or traces cannot be sent.
    """
    listen = str(click.get_current_context().meta.get(f"{_META}metrics") or "")
    if not (listen or os.environ.get("THEODOLITE_TRACES") or logs_json()):
        yield
        return
    start_traces(os.environ)
    for context in contexts:
        hide_keys(context)
    everything = [*(context.store.statistics for context in contexts), *databases]
    with metrics_server(listen, everything, os.environ) if listen else nullcontext() as address:
        if address:
            click.echo(f"Metrics at {address}", err=True)
        yield


def hide_keys(context: StudyContext) -> None:
    """Keep the keys that a study names out of logs and traces."""
    hide_secrets(context.environ.get(use.variable, "") for use in named_keys(context.loaded.study))


def permit_paths(study: str) -> None:
    """Store the permission for the paths of `--allow-path` before the study is read."""
    if allowed := click.get_current_context().meta.get(f"{_META}allow_path"):
        allow_paths(study, allowed)


def permit_run(loaded: LoadedStudy) -> None:
    """Ask once before code of a study runs and before its keys are sent, unless options grant permission.

    Raises:
        InputError: If the operator declines, or there is no terminal to ask.
    """
    _permit_code(loaded)
    _permit_keys(loaded)


def _permit_code(loaded: LoadedStudy) -> None:
    request = code_request(loaded)
    if request is None:
        return
    if click.get_current_context().meta.get(f"{_META}allow_code"):
        request.remember()
        return
    if not sits_at_terminal():
        raise InputError(refusal_text(request))
    answer = _prompted(request)
    if answer == "n":
        message = f"The code of study `{request.study}` was not allowed. Nothing was run."
        raise InputError(message)
    request.remember(always=answer == "a")


def _permit_keys(loaded: LoadedStudy) -> None:
    request = key_request(loaded, os.environ)
    if request is None:
        return
    if not click.get_current_context().meta.get(f"{_META}allow_keys"):
        if not sits_at_terminal():
            raise InputError(key_refusal_text(request))
        if not _may_send(request):
            message = f"The keys of study `{request.study}` were not allowed. Nothing was sent."
            raise InputError(message)
    request.remember()


def _may_send(request: KeyRequest) -> bool:
    click.echo(f"Study `{printable_line(request.study)}` sends keys of your environment:", err=True)
    width = max(len(use.variable) for use in request.uses) + 2
    for use in request.uses:
        click.echo(f"  {use.variable:<{width}}to {use.receiver} ({printable_line(', '.join(use.users))})", err=True)
    click.echo("Send them only if these hosts may have these keys.", err=True)
    answer: str = click.prompt("Send them?", type=click.Choice(["y", "n"]), default="n", err=True)
    return answer == "y"


def confirm_settings(file: Path, text: str) -> bool:
    """Show the server settings next to a study and ask whether they may be used."""
    if not sits_at_terminal():
        return False
    click.echo(f"`{file}` sets up the server and has not been allowed on this machine:", err=True)
    click.echo("\n".join(f"  {printable(line)}" for line in text.splitlines()), err=True)
    answer: str = click.prompt("Use it?", type=click.Choice(["y", "n"]), default="n", err=True)
    return answer == "y"


def sits_at_terminal() -> bool:
    """Return whether there is a terminal that can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _prompted(request: CodeRequest) -> str:
    click.echo(f"Study `{printable_line(request.study)}` runs code with your rights:", err=True)
    width = max(len(code.shown) for code in request.code) + 2
    for code in request.code:
        click.echo(f"  {printable_line(code.shown):<{width}}{printable_line(', '.join(code.users))}", err=True)
    click.echo(
        f"It lies in {printable_line(str(request.folder.resolve()))}. Run it only if you trust its author.", err=True
    )
    click.echo("  y  yes, until the code changes      a  always for this folder      n  no", err=True)
    answer: str = click.prompt("Run it?", type=click.Choice(["y", "a", "n"]), default="n", err=True)
    return answer
