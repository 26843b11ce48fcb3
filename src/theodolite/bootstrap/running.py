"""Runs a study until its plan is complete or a stop condition holds, and names changes of its code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from theodolite.bootstrap.database import DATABASE_VARIABLE
from theodolite.bootstrap.study_context import StudyContext
from theodolite.domain.application import code_differences
from theodolite.domain.errors import StoreError
from theodolite.domain.run import Spending
from theodolite.execution.clients import Clients
from theodolite.gateways.factory import Caching
from theodolite.ports.progress import Progress
from theodolite.usecases.running import RunOptions, RunStatus

AT_A_TIME = 32
"""Default number of concurrent calls; count."""

_MOST_AT_A_TIME = 1024

BeforeAsking = Callable[[StudyContext, Clients, RunOptions], Awaitable[None]]
"""Called before the first paid call, unless no call is left; may raise `RunStopped`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Result of `run_study`.

    Attributes:
        status: Status of the run.
        spent: Cost of the run so far.
        took_s: Duration of this call; seconds.
    """

    status: RunStatus
    spent: Spending
    took_s: float


async def run_study(
    context: StudyContext,
    options: RunOptions,
    *,
    progress: Progress,
    before_asking: BeforeAsking,
    on_connect: Callable[[Clients], None] = lambda _: None,
    tell: Callable[[str], None] = lambda _: None,
    shares_files: bool = True,
) -> RunResult:
    """Run a study until its plan is complete or a stop condition holds.

    Args:
        context: The study.
        options: Scope of the run.
        progress: Receives progress reports.
        before_asking: Checks the endpoints.
        on_connect: Receives the clients, e.g. so that Ctrl-C can stop the run.
        tell: Receives notes of one sentence: cache problems, tolerated deviations, changed code, network use.
        shares_files: Whether to store the study's files in a shared database for workers on other machines.

    Raises:
        RunStopped: If an endpoint cannot be used.
        StoreError: If the database fails; acknowledged writes are kept.
    """
    started_s = context.clock.monotonic_s()
    if shares_files and context.environ.get(DATABASE_VARIABLE):
        from theodolite.bootstrap.study_files import store_study_files  # runs on this machine alone do not need it

        store_study_files(context, tell)
    cache = context.open_cache(tell) if options.cache or context.wants_cache() else None
    clients = context.connect(Caching(cache=cache, always=options.cache, refresh=options.new_run) if cache else None)
    if options.budget is not None:
        clients.stop_conditions.budget = options.budget
    await context.store.start()
    try:
        if options.new_run or options.retry_failed or not context.is_finished():
            await before_asking(context, clients, options)
        on_connect(clients)
        status = await context.runner(clients, progress).run(options)
    finally:
        await context.store.stop()
        await clients.close()
        if cache:
            cache.close()
    for name, remarks in clients.tolerated_deviations().items():
        tell(f"application `{name}` was accepted although it deviates from the interface: {'; '.join(remarks)}")
    for change in code_changes(context):
        tell(f"application {change}; it was asked again")
    for use in clients.network_uses():
        tell(f"network of `{use.application}`: {use.text}")
    took_s = context.clock.monotonic_s() - started_s
    return RunResult(status=status, spent=clients.stop_conditions.spent, took_s=took_s)


def slots_for(context: StudyContext) -> int:
    """Return the number of concurrent calls that keeps every endpoint busy; count."""
    return min(_MOST_AT_A_TIME, max([AT_A_TIME, *(endpoint.parallel for endpoint in context.loaded.study.models)]))


def code_changes(context: StudyContext) -> tuple[str, ...]:
    """Return the code changes of each application since the previous run, in words.

    Args:
        context: The study, with the selected run or the latest.
    """
    try:
        runs = context.store.runs(context.loaded.study.name)
        number = context.chosen.number if context.chosen is not None else max((run.number for run in runs), default=1)
        before = next((run for run in runs if run.number == number - 1), None)
        if before is None:
            return ()
        earlier = context.store.study(before.study_version)
    except StoreError:  # the earlier study can no longer be read
        return ()
    differences = code_differences(earlier.applications, context.loaded.study.applications)
    return tuple(
        f"`{name}` differs from run {before.number} in {', '.join(files)}" for name, files in differences.items()
    )
