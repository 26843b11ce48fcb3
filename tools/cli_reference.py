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
WIDTH = 78
HEAD = """\
# Commands

This page is made by `make docs` from what the commands say about themselves.
The exit codes are listed in [errors and exit codes](errors-and-exit-codes.md).
"""


def root_command() -> click.Command:
    """Return the command that `theodolite` is."""
    found = vars(import_module("theodolite.cli.main"))
    commands = [found.get("main"), *found.values()]
    return next(command for command in commands if isinstance(command, click.Command))


def contexts_of(command: click.Command, word: str, parent: click.Context | None = None) -> Iterator[click.Context]:
    """Yield a command and everything below it, each as it is when it is called."""
    settings = dict(command.context_settings, terminal_width=WIDTH, max_content_width=WIDTH, color=False)
    context = click.Context(command, info_name=word, parent=parent, **settings)
    yield context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from contexts_of(below, name, context)


def section(context: click.Context) -> str:
    """Return the part of the page about one command."""
    help_text = click.unstyle(context.get_help())
    text = "\n".join(line.rstrip() for line in help_text.strip().splitlines())
    return f"## `{context.command_path}`\n\n```text\n{text}\n```\n"


def reference() -> str:
    """Return the whole page."""
    return "\n".join([HEAD, *map(section, contexts_of(root_command(), "theodolite"))])


def main(arguments: list[str]) -> None:
    """Write the page, or compare it."""
    page = reference()
    if "--check" not in arguments:
        PAGE.write_text(page, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page:
        sys.exit(f"{PAGE.name} is out of date; type  make docs")


if __name__ == "__main__":
    main(sys.argv[1:])
