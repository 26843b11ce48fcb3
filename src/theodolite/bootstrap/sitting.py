"""A sitting: one go at a run, whoever asks for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from theodolite.bootstrap.code_changes import code_changes
from theodolite.bootstrap.workbench import Workbench
from theodolite.domain.run import Spending
from theodolite.execution.lines import Lines
from theodolite.gateways.factory import Caching
from theodolite.ports.progress import Progress
from theodolite.usecases.running import RunOptions, Standing

AT_A_TIME = 32
"""Calls in flight at a time, where no endpoint takes more."""

_MOST_AT_A_TIME = 1024

BeforeAsking = Callable[[Workbench, Lines, RunOptions], Awaitable[None]]
"""Called before the first paid call, unless nothing is left to be asked; may refuse to go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sat:
    """A sitting that is over.

    Attributes:
        standing: Where the run stands.
        spent: What the run has cost so far.
        took_s: How long the sitting was; seconds.
    """

    standing: Standing
    spent: Spending
    took_s: float


async def sit(
    bench: Workbench,
    options: RunOptions,
    *,
    progress: Progress,
    before_asking: BeforeAsking,
    with_lines: Callable[[Lines], None] = lambda _: None,
    tell: Callable[[str], None] = lambda _: None,
) -> Sat:
    """Run a study as far as it goes this time.

    Args:
        bench: The study.
        options: How far it is to go.
        progress: Who watches.
        before_asking: Knocks at the endpoints.
        with_lines: Receives the connections, e.g. to let Ctrl-C reach their brakes.
        tell: Told in one sentence what went wrong with the response cache, and what an application was let pass with.

    Raises:
        RunStopped: If an endpoint cannot be used.
        StoreError: If the database fails; what was acknowledged is kept.
    """
    started_s = bench.clock.monotonic_s()
    cache = bench.open_cache(tell) if options.cache or bench.wants_cache() else None
    lines = bench.connect(Caching(cache=cache, always=options.cache, anew=options.anew) if cache else None)
    await bench.store.start()
    try:
        if options.anew or options.retry_failed or not bench.is_finished():
            await before_asking(bench, lines, options)
        with_lines(lines)
        standing = await bench.runner(lines, progress).run(options)
    finally:
        await bench.store.stop()
        await lines.close()
        if cache:
            cache.close()
    for name, remarks in lines.let_pass().items():
        tell(f"application `{name}` was accepted although it deviates from what is expected: {'; '.join(remarks)}")
    for change in code_changes(bench):
        tell(f"application {change}; it was asked again")
    for use in lines.network_uses():
        tell(f"network of `{use.application}`: {use.text}")
    took_s = bench.clock.monotonic_s() - started_s
    return Sat(standing=standing, spent=lines.brakes.spent, took_s=took_s)


def slots_for(bench: Workbench) -> int:
    """Return how many calls to make at a time: enough to keep every endpoint busy; count."""
    return min(_MOST_AT_A_TIME, max([AT_A_TIME, *(endpoint.parallel for endpoint in bench.loaded.study.models)]))
