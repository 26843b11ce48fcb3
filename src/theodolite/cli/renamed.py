"""Former names of commands and options; a call with one ends with the new name."""

from __future__ import annotations

import click

from theodolite.domain.errors import did_you_mean

COMMANDS = {
    "assess": "`run --stage score`, `label --file`, `import labels` or `judge plan`",
    "bring": "`import dialogues`",
    "certify": "`judge validate`",
    "check-application": "`probe`",
    "measure": "`run --stage measure`",
    "rehearse": "`dry-run`",
    "test": "`run --stage test`",
}
"""Former name of a command to its present one."""

OPTIONS = {
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
        """Return the command of the arguments.

        Raises:
            click.UsageError: If there is no such command; names the closest one.
        """
        known = self.list_commands(ctx)
        if args and args[0] not in known:
            ctx.fail(f"there is no command `{args[0]}`{_advice(ctx, args[0], known)}")
        return super().resolve_command(ctx, args)


def explain_option(error: click.NoSuchOption) -> click.UsageError:
    """Return an error with the new name of a renamed option, or the error itself."""
    new = OPTIONS.get(error.option_name)
    if new and error.ctx and any(new in parameter.opts for parameter in error.ctx.command.params):
        return click.UsageError(f"option `{error.option_name}` is now `{new}`.", error.ctx)
    return error


def _advice(ctx: click.Context, name: str, known: list[str]) -> str:
    if name in COMMANDS and name not in known:
        return f"; use {COMMANDS[name]}"
    if ctx.info_name == "import":
        return f". To import labels, write  theodolite import labels {name} FILE"
    return did_you_mean(name, known)
