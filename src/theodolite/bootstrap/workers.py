"""Workers: processes that join the open runs of studies and leave them when they are drained."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from theodolite.bootstrap.running import BeforeAsking, RunResult, run_study
from theodolite.bootstrap.study_context import StudyContext
from theodolite.domain.errors import NotFound
from theodolite.domain.run import RunState, UnitKind
from theodolite.execution.clients import Clients
from theodolite.ports.progress import Progress
from theodolite.usecases.running import RunOptions

JOIN_INTERVAL_S = 2.0
"""Pause between two searches for open runs; seconds."""

RETRY_S = 60.0
"""Pause before a worker joins a run again that a stop condition ended; seconds."""

DRAINED = "drained"
"""Reason of a stop by `Drain`."""


@dataclass(slots=True)
class Drain:
    """Lets a worker finish its calls in flight, return its units and end."""

    _requested: asyncio.Event = field(default_factory=asyncio.Event)
    _clients: Clients | None = None

    def is_requested(self) -> bool:
        """Return whether the worker ends."""
        return self._requested.is_set()

    def watch(self, clients: Clients) -> None:
        """Stop these clients when the worker is drained."""
        self._clients = clients
        if self.is_requested():
            clients.stop_conditions.stop(DRAINED)

    def request(self) -> None:
        """Start to drain."""
        self._requested.set()
        if self._clients is not None:
            self._clients.stop_conditions.stop(DRAINED)

    async def pause(self, seconds: float) -> None:
        """Wait for some seconds, or until the worker is drained."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._requested.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedRun:
    """Work of a worker in a run that it joined.

    Attributes:
        context: The study.
        result: Status of the run when the worker left it.
    """

    context: StudyContext
    result: RunResult


async def join_runs(
    contexts: Callable[[], Sequence[StudyContext]],
    *,
    drain: Drain,
    until_done: bool,
    options: Callable[[StudyContext], RunOptions],
    progress: Callable[[StudyContext], Progress],
    before_asking: BeforeAsking,
    tell: Callable[[str], None] = lambda _: None,
) -> AsyncIterator[JoinedRun]:
    """Work on the open runs of some studies until the worker is drained, and yield each run that it leaves.

    Runs are never started here: `run_study` does that. A run that a stop condition ended is
    joined again after a pause, because a budget may be raised or an endpoint may recover.

    Args:
        contexts: Returns the studies in order of priority; called before each search for open runs.
        drain: Ends the worker.
        until_done: End also when no run is open.
        options: Returns the scope of a study's run.
        progress: Returns the receiver of a run's progress reports.
        before_asking: Checks the endpoints.
        tell: Receives notes of one sentence.
    """
    resting_until_s: dict[str, float] = {}
    while not drain.is_requested():
        is_idle = True
        for context in contexts():
            now_s = context.clock.monotonic_s()
            if drain.is_requested() or now_s < resting_until_s.get(context.path, now_s) or not has_open_units(context):
                continue
            is_idle = False
            tell(f"joining the run of `{context.loaded.study.name}`")
            result = await run_study(
                context,
                options(context),
                progress=progress(context),
                before_asking=before_asking,
                on_connect=drain.watch,
                tell=tell,
                shares_files=False,
            )
            if result.status.stopped:
                resting_until_s[context.path] = context.clock.monotonic_s() + RETRY_S
            yield JoinedRun(context=context, result=result)
        if is_idle and until_done:
            return
        if is_idle:
            await drain.pause(JOIN_INTERVAL_S)


def has_open_units(context: StudyContext) -> bool:
    """Return whether the study has an unfinished run with units that can be leased now or later."""
    try:
        run = context.store.run_of(context.plan)
    except NotFound:
        return False
    kinds = (context.store.count_open(run, kind, owner=context.owner) for kind in UnitKind)
    return run.state is not RunState.FINISHED and any(kinds)
