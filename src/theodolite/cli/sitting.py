"""A sitting at the terminal: knock, work, and mind Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass

import click

from theodolite.bootstrap.workbench import Workbench
from theodolite.cli.endings import BY_USER
from theodolite.cli.knocking import knock_first
from theodolite.cli.progress import BarProgress, PlainProgress
from theodolite.cli.terminal import is_terminal
from theodolite.domain.run import Spending
from theodolite.execution.brakes import Brakes
from theodolite.ports.progress import Progress
from theodolite.usecases.running import RunOptions, Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Sat:
    """A sitting that is over.

    Attributes:
        standing: Where the run stands.
        spent: What the run has cost so far.
    """

    standing: Standing
    spent: Spending


async def sit(bench: Workbench, options: RunOptions, *, progress: Progress, quiet: bool = False) -> Sat:
    """Run a study as far as it goes this time.

    Raises:
        RunStopped: If an endpoint cannot be used.
    """
    lines = bench.connect()
    await bench.store.start()
    try:
        if options.anew or options.retry_failed or not bench.is_finished():
            await knock_first(bench, lines, options.kinds, quiet=quiet)
        _mind_interrupts(lines.brakes)
        standing = await bench.runner(lines, progress).run(options)
    finally:
        await bench.store.stop()
        await lines.close()
    return Sat(standing=standing, spent=lines.brakes.spent)


def progress_for(bench: Workbench, *, quiet: bool) -> Progress:
    """Return bars where somebody watches, else lines for a log."""
    return BarProgress(bench.clock) if is_terminal() and not quiet else PlainProgress(bench.clock, quiet=quiet)


def _mind_interrupts(brakes: Brakes) -> None:
    """Let the first Ctrl-C stop cleanly; the second one leaves at once."""
    loop = asyncio.get_running_loop()

    def brake() -> None:
        brakes.stop(BY_USER)
        loop.remove_signal_handler(signal.SIGINT)
        click.echo("Stopping once the calls in flight are answered; Ctrl-C again leaves at once.", err=True)

    loop.add_signal_handler(signal.SIGINT, brake)
