"""A sitting at the terminal: knock, work, and mind Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import nullcontext, redirect_stdout

import click

from theodolite.bootstrap.sitting import Sat, sit
from theodolite.bootstrap.workbench import Workbench
from theodolite.cli.endings import BY_USER
from theodolite.cli.knocking import knock_first
from theodolite.cli.progress import PlainProgress
from theodolite.cli.terminal import is_terminal
from theodolite.execution.lines import Lines
from theodolite.ports.progress import Progress
from theodolite.usecases.running import RunOptions

_TO_STOP = (signal.SIGINT, signal.SIGTERM)
"""What asks a run to stop: Ctrl-C, and the `kill` of a shell, a container or a scheduler."""


def sit_at_terminal(bench: Workbench, options: RunOptions, *, progress: Progress, quiet: bool = False) -> Sat:
    """Run a study as far as it goes this time, Ctrl-C minded.

    Raises:
        RunStopped: If an endpoint cannot be used; the text says which and what to try.
    """

    async def knock(bench: Workbench, lines: Lines, options: RunOptions) -> None:
        await knock_first(bench, lines, options.kinds, quiet=quiet)

    sitting = sit(bench, options, progress=progress, before_asking=knock, with_lines=_mind_interrupts, tell=_tell)
    # What an application prints must not get into the one object that a script reads.
    with redirect_stdout(sys.stderr) if quiet else nullcontext():
        return asyncio.run(sitting)


def _tell(words: str) -> None:
    click.echo(f"Note: {words}.", err=True)


def progress_for(bench: Workbench, *, quiet: bool) -> Progress:
    """Return bars where somebody watches, else lines for a log."""
    if quiet or not is_terminal():
        return PlainProgress(bench.clock, quiet=quiet)
    from theodolite.cli.bars import BarProgress  # rich: only who draws waits for it

    return BarProgress(bench.clock)


def _mind_interrupts(lines: Lines) -> None:
    """Let the first Ctrl-C, or a polite kill, stop cleanly; the second one leaves at once."""
    loop = asyncio.get_running_loop()

    def brake() -> None:
        lines.brakes.stop(BY_USER)
        for asked in _TO_STOP:
            loop.remove_signal_handler(asked)
        click.echo("Stopping once the calls in flight are answered; Ctrl-C again leaves at once.", err=True)

    for asked in _TO_STOP:
        loop.add_signal_handler(asked, brake)
