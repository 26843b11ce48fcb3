"""Options and the question by which an operator allows a study to read files and run code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from theodolite.bootstrap.permission import CodeRequest, allow_paths, code_request, refusal_text
from theodolite.config.loading import LoadedStudy
from theodolite.domain.errors import InputError

Command = TypeVar("Command", bound=Callable[..., Any])

_META = "theodolite.permission."

_CODE = "Allow the code that the study names, as it is now; remembered in the workspace."
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
    """Add `--allow-path` and `--allow-code`; `permit_paths` and `permit_code` read them."""
    code = click.option("--allow-code", is_flag=True, help=_CODE, expose_value=False, callback=_remember)
    return path_option(code(command))


def _remember(context: click.Context, option: click.Parameter, value: object) -> None:
    context.meta[_META + str(option.name)] = value


def permit_paths(study: str) -> None:
    """Remember the paths of `--allow-path`, before the study is read."""
    if allowed := click.get_current_context().meta.get(f"{_META}allow_path"):
        allow_paths(study, allowed)


def permit_code(loaded: LoadedStudy) -> None:
    """Ask once before code of a study runs that was not made here, unless `--allow-code` has answered.

    Raises:
        InputError: If the operator says no, or nobody can be asked.
    """
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


def sits_at_terminal() -> bool:
    """Tell whether somebody can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _asked(request: CodeRequest) -> str:
    click.echo(f"Study `{request.study}` runs code with your rights:", err=True)
    width = max(len(code.shown) for code in request.code) + 2
    for code in request.code:
        click.echo(f"  {code.shown:<{width}}{', '.join(code.users)}", err=True)
    click.echo(f"It lies in {request.folder.resolve()}. Run it only if you trust its author.", err=True)
    click.echo("  y  yes, until the code changes      a  always for this folder      n  no", err=True)
    answer: str = click.prompt("Run it?", type=click.Choice(["y", "a", "n"]), default="n", err=True)
    return answer
