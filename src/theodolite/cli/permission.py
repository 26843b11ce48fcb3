"""Options and questions by which an operator allows a study to read files, run code and send keys."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

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
from theodolite.domain.errors import InputError
from theodolite.domain.text import printable, printable_line

Command = TypeVar("Command", bound=Callable[..., Any])

_META = "theodolite.permission."

_CODE = "Allow the code that the study names, as it is now; remembered in the workspace."
_KEYS = "Send the keys that the study names to the hosts that it names; remembered in the workspace."
_PATH = "Let the study read a file or folder outside its own; remembered in the workspace."


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


def permit_paths(study: str) -> None:
    """Remember the paths of `--allow-path`, before the study is read."""
    if allowed := click.get_current_context().meta.get(f"{_META}allow_path"):
        allow_paths(study, allowed)


def permit_run(loaded: LoadedStudy) -> None:
    """Ask once before code of a study runs, and before its keys are sent, unless options have answered.

    Raises:
        InputError: If the operator says no, or nobody can be asked.
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
    answer = _asked(request)
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
    """Ask whether server settings beside a study may be used, and show them."""
    if not sits_at_terminal():
        return False
    click.echo(f"`{file}` sets up the server and has not been allowed on this machine:", err=True)
    click.echo("\n".join(f"  {printable(line)}" for line in text.splitlines()), err=True)
    answer: str = click.prompt("Use it?", type=click.Choice(["y", "n"]), default="n", err=True)
    return answer == "y"


def sits_at_terminal() -> bool:
    """Tell whether somebody can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _asked(request: CodeRequest) -> str:
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
