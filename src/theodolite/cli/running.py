"""Runs a study at the terminal: endpoint checks, progress and Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import nullcontext, redirect_stdout

import click

from theodolite.bootstrap.running import RunResult, run_study
from theodolite.bootstrap.study_context import StudyContext
from theodolite.cli.endings import BY_USER
from theodolite.cli.endpoint_check import check_endpoints_first
from theodolite.cli.progress import PlainProgress
from theodolite.cli.terminal import is_terminal
from theodolite.execution.clients import Clients
from theodolite.ports.progress import Progress
from theodolite.usecases.running import RunOptions

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Signals that stop a run: Ctrl-C, and `kill` from a shell, a container or a scheduler."""


def run_interactively(
    context: StudyContext, options: RunOptions, *, progress: Progress, quiet: bool = False
) -> RunResult:
    """Run a study; the first Ctrl-C stops it cleanly.

    Raises:
        RunStopped: If an endpoint cannot be used; the text says which and what to try.
    """

    async def check(context: StudyContext, clients: Clients, options: RunOptions) -> None:
        await check_endpoints_first(context, clients, options.kinds, quiet=quiet)

    running = run_study(
        context, options, progress=progress, before_asking=check, on_connect=_stop_on_signals, tell=_tell
    )
    # Output of application code must not mix with the JSON object on stdout.
    with redirect_stdout(sys.stderr) if quiet else nullcontext():
        return asyncio.run(running)


def _tell(words: str) -> None:
    click.echo(f"Note: {words}.", err=True)


def progress_for(context: StudyContext, *, quiet: bool) -> Progress:
    """Return progress bars on a terminal, else plain log lines."""
    if quiet or not is_terminal():
        return PlainProgress(context.clock, quiet=quiet)
    from theodolite.cli.bars import BarProgress  # rich is slow to import

    return BarProgress(context.clock)


def _stop_on_signals(clients: Clients) -> None:
    """Stop cleanly at the first SIGINT or SIGTERM; the second one ends the process at once."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        clients.stop_conditions.stop(BY_USER)
        for signal_number in _STOP_SIGNALS:
            loop.remove_signal_handler(signal_number)
        click.echo("Stopping after the calls in flight. Press Ctrl-C again to stop at once.", err=True)

    for signal_number in _STOP_SIGNALS:
        loop.add_signal_handler(signal_number, stop)
