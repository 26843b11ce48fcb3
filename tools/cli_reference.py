"""Write docs/reference/cli.md from what the commands say about themselves.

python tools/cli_reference.py           writes the page
python tools/cli_reference.py --check   exits with 1 if the page is out of date
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"
WIDTH = 80
HEAD = """\
# Commands

This page is made by `make docs` from what the commands say about themselves.
What the exit codes mean stands in [errors and exit codes](errors-and-exit-codes.md).
"""


def root_command() -> click.Command:
    """Return the command that `theodolite` is."""
    found = vars(import_module("theodolite.cli.main"))
    commands = [found.get("main"), *found.values()]
    return next(command for command in commands if isinstance(command, click.Command))


def commands_of(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and everything below it, with the words that call it."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name)
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            if below is not None and not below.hidden:
                yield from commands_of(below, f"{name} {word}")


def section(name: str, command: click.Command) -> str:
    """Return the part of the page about one command."""
    context = click.Context(command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH, color=False)
    help_text = click.unstyle(command.get_help(context))
    text = "\n".join(line.rstrip() for line in help_text.strip().splitlines())
    return f"## `{name}`\n\n```text\n{text}\n```\n"


def reference() -> str:
    """Return the whole page."""
    return "\n".join([HEAD, *(section(name, command) for name, command in commands_of(root_command(), "theodolite"))])


def main(arguments: list[str]) -> None:
    """Write the page, or compare it."""
    page = reference()
    if "--check" not in arguments:
        PAGE.write_text(page, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page:
        sys.exit(f"{PAGE.name} is out of date; type  make docs")


if __name__ == "__main__":
    main(sys.argv[1:])
