"""Workers of a run on an existing Ray cluster: Ray places and replaces them, and the database stores the state."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from theodolite.bootstrap.database import DATABASE_NAME, DATABASE_VARIABLE
from theodolite.bootstrap.reports import REPORT, RESULTS
from theodolite.bootstrap.running import RunResult, run_study, slots_for
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.bootstrap.workers import Drain, has_open_units, join_runs
from theodolite.config.permissions import ALLOW_CODE, ALLOW_KEYS, WORKSPACE, WORKSPACE_NAME, workspace_for
from theodolite.config.required_access import named_keys
from theodolite.domain.errors import InputError, RunStopped
from theodolite.domain.run import UnitKind
from theodolite.execution.clients import Clients
from theodolite.execution.run_worker import n_finished
from theodolite.ports.progress import Progress
from theodolite.usecases.running import RunOptions, check_endpoints

EXTRA = "pip install 'theodolite[ray]'"
"""The command that installs Ray."""

NAMESPACE = "theodolite"
"""Namespace of the actors."""

POLL_S = 1.0
"""Pause between two checks of workers and database; seconds."""

CONNECT_S = 10.0
"""Time to wait for the address of a cluster; seconds."""

DRAIN_S = 60.0
"""Time that workers have to finish their calls in flight before they are killed; seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Placement of the workers.

    Attributes:
        address: Address of the cluster; empty for `RAY_ADDRESS`, else the cluster of this machine.
        workers: Workers; count, 0 for one per node.
    """

    address: str = ""
    workers: int = 0


class RayWorker:
    """The async actor: joins the run of a study until it is done.

    Ray restarts it on another node if its node is lost, and calls `work` again; leases of the
    lost worker expire in the database.
    """

    def __init__(self, name: str, environ: Mapping[str, str], release: str) -> None:
        """Prepare a worker.

        Args:
            name: Name in logs, e.g. `support worker 1`.
            environ: Environment variables of the study; passed as an argument, since runtime environments are shown.
            release: Version of theodolite that started the run.
        """
        self._name = name
        self._release = release
        self._drain = Drain()
        os.environ.update(environ)

    def __repr__(self) -> str:
        """Return the prefix of this actor's lines in the logs of Ray."""
        return self._name

    async def work(self, concurrency: int | None, study: str) -> str:
        """Work on the open run until it has no units, and return why it stopped; empty if it did not.

        Args:
            concurrency: Concurrent calls; None for the limit of the endpoints.
            study: Path of the study file within the working directory.
        """
        if version("theodolite") != self._release:
            return f"a node has theodolite {version('theodolite')}; the run was started with {self._release}"
        context = await asyncio.to_thread(open_study, study)
        stopped = ""
        try:
            joined = join_runs(
                lambda: [context],
                drain=self._drain,
                until_done=True,
                options=lambda study_context: RunOptions(concurrency=concurrency or slots_for(study_context)),
                progress=lambda _: _Silent(),
                before_asking=_require_endpoints,
                tell=self._tell,
            )
            async for left in joined:
                stopped = left.result.status.stopped
                self._tell(f"{left.result.status.dialogues:,} of {left.result.status.planned:,} dialogues are complete")
        except RunStopped as error:
            stopped = str(error)
        finally:
            await asyncio.to_thread(context.close)
        return "" if self._drain.is_requested() else stopped

    async def drain(self) -> None:
        """Let the worker finish its calls in flight and end."""
        self._drain.request()

    def _tell(self, text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


class _Silent:
    """Receives the progress reports of a worker; the driver reads them from the database."""

    def begin(self, **_: int) -> None:
        """Do nothing."""

    def session(self, _: object) -> None:
        """Do nothing."""

    def annotation(self, _: object) -> None:
        """Do nothing."""

    def over(self, **_: int) -> None:
        """Do nothing."""

    def spent(self, _: object) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


async def _require_endpoints(context: StudyContext, clients: Clients, options: RunOptions) -> None:
    checks = await check_endpoints(context.endpoints(clients, options.kinds))
    dead = [f"{context.users_of(check.name)} cannot be used: {check.answer}" for check in checks if not check.alive]
    if dead:
        raise RunStopped("; ".join(dead))


def run_on_ray(
    context: StudyContext,
    options: RunOptions,
    placement: Placement,
    *,
    progress: Progress,
    tell: Callable[[str], None],
) -> RunResult:
    """Run a study by workers on a Ray cluster until its plan is complete or a stop condition holds.

    Args:
        context: The study.
        options: Scope of the run; `new_run` and `retry_failed` apply before workers are placed.
        placement: Placement of workers.
        progress: Receives progress reports.
        tell: Receives notes of one sentence.

    Raises:
        InputError: If Ray is not installed, or the nodes share no database.
        RunStopped: If the cluster cannot be reached or all workers are lost.
    """
    with _cluster(placement.address, context.loaded.folder.resolve()) as ray:
        _require_shared_database(ray, context)
        nodes = [node for node in ray.nodes() if node["Alive"]]
        n_workers = placement.workers or len(nodes)
        started_s = context.clock.monotonic_s()
        asyncio.run(_ledger_only(context, options))  # opens the run and adds its units
        stopped = ""
        if has_open_units(context):
            actors = _place(ray, context, n_workers)
            tell(
                f"placed {n_workers} workers on {len(nodes)} nodes of Ray; names: {NAMESPACE}/{_name(context, 1)}, ..."
            )
            pending = {actor.work.remote(options.concurrency, context.loaded.file): actor for actor in actors}
            stopped = _Watch(ray=ray, context=context, progress=progress, pending=pending).until_over()
        result = asyncio.run(_ledger_only(context, replace(options, new_run=False, retry_failed=False)))
    status = result.status if result.status.is_complete else replace(result.status, stopped=stopped)
    return replace(result, status=status, took_s=context.clock.monotonic_s() - started_s)


async def _ledger_only(context: StudyContext, options: RunOptions) -> RunResult:
    """Open or close the run in the ledger, without a call."""

    async def ask_nobody(_: StudyContext, __: Clients, ___: RunOptions) -> None:
        return

    return await run_study(context, replace(options, kinds=frozenset()), progress=_Silent(), before_asking=ask_nobody)


@contextmanager
def _cluster(address: str, folder: Path) -> Iterator[Any]:
    """Connect to a cluster, which is never started or stopped here, and send it the study's folder.

    Raises:
        InputError: If Ray is not installed.
        RunStopped: If no cluster answers.
    """
    if find_spec("ray") is None:
        message = f"`--on ray` needs Ray, which is not installed; try  {EXTRA}"
        raise InputError(message)
    import ray
    from ray.exceptions import RayError

    cluster = address or os.environ.get("RAY_ADDRESS") or "auto"
    excluded = [WORKSPACE_NAME, f"/{RESULTS}", f"/{REPORT}", "__pycache__", ".git", ".venv"]
    _require_reachable(cluster)
    files = {"working_dir": str(folder), "excludes": excluded}
    try:
        ray.init(
            address=cluster, namespace=NAMESPACE, logging_level=logging.ERROR, log_to_driver=True, runtime_env=files
        )
    except (ConnectionError, RuntimeError, ValueError, RayError) as error:
        message = f"no Ray cluster answers at `{cluster}`: {error}. Start one with `ray start --head`, or set --address"
        raise RunStopped(" ".join(message.split())) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _require_reachable(address: str) -> None:
    """Connect to `HOST:PORT` once, because Ray ends the whole process if there is no answer.

    Raises:
        RunStopped: If there is no answer.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "://" in address:
        return  # `auto` and `local` name no host, and the client of `ray://` reports its errors
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_S).close()
    except OSError as error:
        message = f"no Ray cluster answers at `{address}`: {error}. Start one with `ray start --head`, or set --address"
        raise RunStopped(message) from error


def _require_shared_database(ray: Any, context: StudyContext) -> None:
    """Refuse nodes on several machines without a common database.

    Raises:
        InputError: If the workspace is a file of this machine and the cluster has several.
    """
    machines = {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
    if not context.environ.get(DATABASE_VARIABLE) and len(machines) > 1:
        message = (
            f"the cluster has {len(machines)} machines, and the workspace's `{DATABASE_NAME}` is a file of this one; "
            f"set {DATABASE_VARIABLE} to a PostgreSQL database that all machines reach"
        )
        raise InputError(message)


def _name(context: StudyContext, number: int) -> str:
    run = context.store.run_of(context.plan)
    return f"{run.study}-run-{run.number}-worker-{number}-{context.owner[:6]}"


def _place(ray: Any, context: StudyContext, n_workers: int) -> list[Any]:
    """Start workers on the nodes; Ray replaces those that are lost."""
    folder = context.loaded.folder.resolve()
    actor = ray.remote(
        num_cpus=1,
        max_restarts=-1,
        max_task_retries=-1,
        scheduling_strategy="SPREAD",
    )(RayWorker)
    names = {use.variable for use in named_keys(context.loaded.study)} | {DATABASE_VARIABLE}
    environ = {name: context.environ[name] for name in names if context.environ.get(name)}
    environ |= {ALLOW_CODE: "1", ALLOW_KEYS: "1"}
    if DATABASE_VARIABLE not in environ:
        environ[WORKSPACE] = str(workspace_for(folder))
    release = version("theodolite")
    return [
        actor.options(name=_name(context, number)).remote(
            f"{context.loaded.study.name} worker {number}", environ, release
        )
        for number in range(1, n_workers + 1)
    ]


@dataclass(slots=True, kw_only=True)
class _Watch:
    """The driver's view of the workers of a run.

    Attributes:
        ray: Ray, connected.
        context: The study.
        progress: Receives progress reports.
        pending: Workers that have not ended, by the reference of their result.
        reasons: Why workers stopped.
        lost: The error of the last worker that Ray did not restart.
    """

    ray: Any
    context: StudyContext
    progress: Progress
    pending: dict[Any, Any]
    reasons: dict[str, None] = field(default_factory=dict)
    lost: str = ""
    _deadline_s: float = math.inf

    def until_over(self) -> str:
        """Report progress until the run is over, and return why it stopped; empty if it did not.

        Workers that Ray cannot place for lack of nodes do not delay a run that the others complete.

        Raises:
            RunStopped: If all workers are lost permanently.
        """
        actors, clock = [*self.pending.values()], self.context.clock
        with _interrupts() as interrupted:
            self._report(is_first=True)
            while self.pending and clock.monotonic_s() < self._deadline_s and has_open_units(self.context):
                self._collect()
                self._report()
                if self._deadline_s == math.inf and (interrupted or self.reasons):
                    self._deadline_s = clock.monotonic_s() + DRAIN_S
                    for actor in self.pending.values():
                        actor.drain.remote()
            self.progress.end()
        self._end(actors)
        if interrupted:
            return "stopped by you"
        if self.lost and not self.reasons and has_open_units(self.context):
            message = f"the workers on Ray were lost: {self.lost}. Resume:  theodolite run {self.context.path} --on ray"
            raise RunStopped(message)
        return "; ".join(self.reasons)

    def _collect(self) -> None:
        """Wait a moment for workers that end."""
        from ray.exceptions import RayError

        ready, _ = self.ray.wait([*self.pending], num_returns=len(self.pending), timeout=POLL_S)
        for reference in ready:
            del self.pending[reference]
            try:
                self.reasons |= dict.fromkeys(filter(None, [self.ray.get(reference)]))
            except RayError as error:
                self.lost = " ".join(str(error).split())[:_LONGEST]

    def _report(self, *, is_first: bool = False) -> None:
        store = self.context.store
        run = store.run_of(self.context.plan)
        sessions, annotations = (store.count_units(run, kind) for kind in (UnitKind.SESSION, UnitKind.ANNOTATION))
        done, annotated = n_finished(sessions), n_finished(annotations)
        if is_first:
            total, labels = sum(sessions.values()), sum(annotations.values())
            self.progress.begin(sessions=total, annotations=labels, done=done, annotated=annotated)
        self.progress.over(sessions=done, annotations=annotated)
        self.progress.spent(store.spending(run))

    def _end(self, actors: Sequence[Any]) -> None:
        """End the workers: first those that finish by themselves, then the rest, which may never have been placed."""
        if self.pending:
            self.ray.wait([*self.pending], num_returns=len(self.pending), timeout=5 * POLL_S)
        for actor in actors:
            with suppress(Exception):  # it no longer exists
                self.ray.kill(actor)


_LONGEST = 400


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM in a list; the second one ends the program as usual."""
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def receive(number: int, _: object) -> None:
        received.append(number)
        for one, handler in before.items():
            signal.signal(one, handler)

    for number in before:
        signal.signal(number, receive)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
