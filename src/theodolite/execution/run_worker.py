"""Run workers: one process's share of a run, from its first lease to its last.

A worker leases units from the store, drives their flows and stores the results. Sessions
and annotations run in parallel: a finished dialogue goes to the annotators of the same
process directly, or waits in the store until a worker has room for it.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import Conflict, RunStopped
from theodolite.domain.flow import Flow, JournalEntry
from theodolite.domain.run import Failure, Lease, Run, Unit, UnitKind, UnitState
from theodolite.execution.clients import BlockingExecutor, Clients, drive
from theodolite.execution.gc_tuning import reduced_gc
from theodolite.execution.stop_conditions import StopConditions
from theodolite.ports.progress import Progress
from theodolite.ports.store import Store

Result = TypeVar("Result")

SESSION_SURPLUS = 0.5
"""Active sessions above the limit of concurrent calls; fraction of the limit.

A session that waits for its reply to be stored makes no call. With half as many sessions
again, all call slots stay in use and more replies share one write.
"""

PROGRESS_INTERVAL_S = 1.0
"""Interval between two progress reports of the cost; seconds."""

LEASE_S = 15.0
"""Duration of a lease; seconds. The units of a killed worker wait so long; a third of it is the heartbeat."""

STATUS_INTERVAL_S = 20.0
"""Interval at which the status of other processes is read; seconds. It counts all units of the run."""

SHARES_INTERVAL_S = 2.0
"""Interval at which shares of limits are adapted to the number of workers; seconds."""

POLL_INTERVAL_S = 0.05
"""Pause between two polls for annotation units, so that one poll returns many; seconds."""

EMPTY_POLL_INTERVAL_S = 1.0
"""Delay before polling again after a poll that returned no unit; seconds."""

DIALOGUES_IN_MEMORY = 1_000
"""Finished dialogues kept in memory for annotators; older ones are read from the store in batches; count."""


@dataclass(slots=True)
class DialogueQueue:
    """Finished dialogues of this process that wait for annotation, and the wake-up of idle annotation tasks.

    Attributes:
        over: Whether this process produces no further dialogue.
        is_idle: Whether this process annotates nothing.
    """

    over: bool = False
    is_idle: bool = False
    _dialogues: dict[str, Dialogue] = field(default_factory=dict)
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _due: bool = True

    def put(self, unit: str, dialogue: Dialogue) -> None:
        """Add a dialogue and wake waiting tasks; the oldest dialogue is dropped when the queue is full."""
        if len(self._dialogues) >= DIALOGUES_IN_MEMORY:
            del self._dialogues[next(iter(self._dialogues))]
        self._dialogues[unit] = dialogue
        self.wake(due=True)

    def wake(self, *, due: bool) -> None:
        """Wake waiting tasks; `due` marks that the store may have new units."""
        self._due = self._due or due
        self._arrived.set()

    def close(self) -> None:
        """Mark that this process produces no further dialogue."""
        self.over = True
        self._arrived.set()

    def of(self, units: Iterable[str]) -> dict[str, Dialogue]:
        """Return the dialogues of these units that are still in memory, by unit."""
        return {unit: self._dialogues[unit] for unit in units if unit in self._dialogues}

    def reset_wakeups(self) -> None:
        """Clear earlier wake-ups before a poll; after `close` no task may sleep again."""
        if not self.over:
            self._arrived.clear()

    async def wait(self) -> None:
        """Sleep until a dialogue arrives or the queue closes."""
        await self._arrived.wait()

    def may_have_work(self) -> bool:
        """Return whether a poll can find new units; true once per arrival."""
        if self.over:
            return True
        due, self._due = self._due, False
        return due


@dataclass(slots=True, kw_only=True)
class UnitQueue:
    """Leases units from the store in batches and returns them one at a time.

    Attributes:
        run: The run of the units.
        owner: Name under which this process leases.
        store: Ledger of units, and dialogues that are no longer in memory.
        stop_conditions: Checked before each unit.
        parallel: Concurrent calls per kind of unit; a batch leases twice as many units. Count.
        within: Lease only units at these positions of the plan; None for all.
        executor: Runs the blocking calls of the store.
        dialogue_queue: Finished dialogues that wait for annotation.
    """

    run: Run
    owner: str
    store: Store
    stop_conditions: StopConditions
    parallel: int
    within: Sequence[int] | None
    executor: BlockingExecutor
    dialogue_queue: DialogueQueue
    _waiting: dict[UnitKind, deque[Unit]] = field(default_factory=lambda: {kind: deque() for kind in UnitKind})
    _locks: dict[UnitKind, asyncio.Lock] = field(default_factory=lambda: {kind: asyncio.Lock() for kind in UnitKind})
    _dialogues: dict[str, Dialogue] = field(default_factory=dict)
    _empty_until_s: dict[UnitKind, float] = field(default_factory=lambda: dict.fromkeys(UnitKind, 0.0))
    _next_poll_s: float = 0.0
    _leases_valid_until_s: float = math.inf

    async def next(self, kind: UnitKind) -> Unit | None:
        """Return a leased unit; None if there is none at present.

        Raises:
            RunStopped: If a stop condition holds.
        """
        async with self._locks[kind]:
            self.stop_conditions.check()
            if (
                asyncio.get_running_loop().time() > self._leases_valid_until_s
            ):  # the process was suspended: its leases may have expired
                await self.renew()
            if not self._waiting[kind] and (kind is UnitKind.SESSION or self.dialogue_queue.may_have_work()):
                await self._poll(kind)
            waiting = self._waiting[kind]
            return waiting.popleft() if waiting else None

    async def renew(self) -> None:
        """Renew all leases, and drop waiting units that another process has taken over."""
        waited = {unit.key for waiting in self._waiting.values() for unit in waiting}
        # Measured before the statement: the database's moment is later, so the leases end later than this.
        valid_until_s = asyncio.get_running_loop().time() + LEASE_S
        lost = waited - await self.executor.call(self.store.renew, self.owner, LEASE_S)
        for kind, waiting in self._waiting.items():
            self._waiting[kind] = deque(unit for unit in waiting if unit.key not in lost)
        self._leases_valid_until_s = valid_until_s

    async def _poll(self, kind: UnitKind) -> None:
        """Poll the store at a limited rate: not for each dialogue, and not immediately after an empty poll."""
        loop = asyncio.get_running_loop()
        none_to_come = kind is UnitKind.SESSION or self.dialogue_queue.over
        if none_to_come and loop.time() < self._empty_until_s[kind]:
            return
        await asyncio.sleep(self._next_poll_s - loop.time() if kind is UnitKind.ANNOTATION else 0)
        await self._claim(kind)
        if not none_to_come:
            self._next_poll_s = loop.time() + POLL_INTERVAL_S
        elif not self._waiting[kind]:
            self._empty_until_s[kind] = loop.time() + EMPTY_POLL_INTERVAL_S

    async def _claim(self, kind: UnitKind) -> None:
        limit = 2 * self.parallel
        self._leases_valid_until_s = min(self._leases_valid_until_s, asyncio.get_running_loop().time() + LEASE_S)
        claimed = await self.executor.call(
            self.store.claim,
            self.run,
            kind,
            owner=self.owner,
            limit=limit,
            lease_s=LEASE_S,
            within=self.within,
        )
        if kind is UnitKind.ANNOTATION and claimed:
            # Read together now: a dialogue may have left the memory before its unit is processed.
            subjects = dict.fromkeys(unit.subject for unit in claimed)
            in_memory = self.dialogue_queue.of(subjects)
            missing = [subject for subject in subjects if subject not in in_memory]
            dialogues = in_memory | (await self.executor.call(self.store.dialogues_of, missing) if missing else {})
            self._dialogues |= {unit.key: dialogues[unit.subject] for unit in claimed}
            # The store may have more units, and one dialogue makes work for several sleeping tasks.
            self.dialogue_queue.wake(due=len(claimed) == limit)
        self._waiting[kind].extend(claimed)

    def dialogue_of(self, unit: Unit) -> Dialogue:
        """Return the dialogue of an annotation unit and release it; call once per unit."""
        return self._dialogues.pop(unit.key)

    def lease(self, seconds: float) -> Lease | None:
        """Return a lease for annotating a dialogue right after its session; None if enough units wait."""
        is_enough = len(self._waiting[UnitKind.ANNOTATION]) > 2 * self.parallel
        return None if self.dialogue_queue.is_idle or is_enough else Lease(owner=self.owner, seconds=seconds)

    def add(self, units: Sequence[Unit], dialogue: Dialogue) -> None:
        """Add annotation units of a dialogue for idle tasks."""
        if units:
            self._dialogues |= {unit.key: dialogue for unit in units}
            self._waiting[UnitKind.ANNOTATION].extend(units)
            self.dialogue_queue.wake(due=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """Creates the flows of units.

    Attributes:
        session: Returns the flow of a session unit.
        annotation: Returns the flow of an annotation unit and its dialogue.
    """

    session: Callable[[Unit], Flow[Dialogue]]
    annotation: Callable[[Unit, Dialogue], Flow[Annotation]]


@dataclass(slots=True, kw_only=True)
class RunWorker:
    """Leases units of one run and processes them concurrently.

    Attributes:
        run: The run.
        owner: Name under which this process leases.
        store: Ledger, journal and results.
        clients: Models and applications, with the stop conditions.
        flows: Creates the flow of a unit.
        progress: Receives progress reports.
        parallel: Concurrent calls per kind of unit; count.
        within: Process only units at these positions of the plan; None for all.
        executor: Runs the blocking calls of the store.
    """

    run: Run
    owner: str
    store: Store
    clients: Clients
    flows: Flows
    progress: Progress
    parallel: int
    executor: BlockingExecutor
    within: Sequence[int] | None = None
    _dialogue_queue: DialogueQueue = field(default_factory=DialogueQueue)
    _unit_queue: UnitQueue = field(init=False)
    _clients: dict[UnitKind, Clients] = field(init=False)

    def __post_init__(self) -> None:
        """Create the queues; nothing is leased yet."""
        self._clients = {kind: self.clients.within(self.parallel) for kind in UnitKind}
        self._unit_queue = UnitQueue(
            run=self.run,
            owner=self.owner,
            store=self.store,
            stop_conditions=self.clients.stop_conditions,
            parallel=self.parallel,
            within=self.within,
            executor=self.executor,
            dialogue_queue=self._dialogue_queue,
        )

    async def work(self, kinds: frozenset[UnitKind]) -> None:
        """Process units of the given kinds until the run has none left or a stop condition holds.

        The worker waits for units that others have leased: a dead worker leaves
        them to this one when its lease expires.

        Raises:
            StoreError: If the database fails; acknowledged writes are kept.
        """
        self._dialogue_queue.is_idle = UnitKind.ANNOTATION not in kinds
        with reduced_gc():
            while True:
                self._dialogue_queue.over = UnitKind.SESSION not in kinds
                await self._work(kinds)
                await self.clients.give_back_shares()  # a worker that waits needs none
                if not await self._may_continue(kinds):
                    return
                await asyncio.sleep(EMPTY_POLL_INTERVAL_S)

    async def _may_continue(self, kinds: frozenset[UnitKind]) -> bool:
        """Return whether units of these kinds are open and no stop condition holds; updates progress and cost."""
        await self._read_other_processes()
        with suppress(RunStopped):
            self.clients.stop_conditions.check()
            open_units = [
                await self.executor.call(self.store.count_open, self.run, kind, owner=self.owner, within=self.within)
                for kind in kinds
            ]
            return any(open_units)
        return False

    async def _read_other_processes(self) -> None:
        """Read the results and costs of other processes of the same run."""
        counts = {kind: await self.executor.call(self.store.count_units, self.run, kind) for kind in UnitKind}
        self.progress.over(
            sessions=n_finished(counts[UnitKind.SESSION]), annotations=n_finished(counts[UnitKind.ANNOTATION])
        )
        if self.clients.stop_conditions.budget.is_limited:
            self.clients.stop_conditions.learn(await self.executor.call(self.store.spending, self.run))

    async def _work(self, kinds: frozenset[UnitKind]) -> None:
        async with asyncio.TaskGroup() as tasks:
            background = [
                tasks.create_task(self._renew_leases()),
                tasks.create_task(self._read_status()),
                tasks.create_task(self._renew_shares()),
                tasks.create_task(self._report_progress()),
            ]
            pools = []
            if UnitKind.SESSION in kinds:
                pools.append(tasks.create_task(self._run_sessions()))
            if UnitKind.ANNOTATION in kinds:
                pools.append(tasks.create_task(_pool(self._annotate_next, self.parallel)))
            await asyncio.gather(*pools)
            for task in background:
                task.cancel()

    async def _run_sessions(self) -> None:
        await _pool(self._run_next_session, self.parallel + int(SESSION_SURPLUS * self.parallel))
        self._dialogue_queue.close()

    async def _renew_leases(self) -> None:
        """Renew leases: the heartbeat by which other workers know that this one is alive."""
        while True:
            await asyncio.sleep(LEASE_S / 3)
            await self._unit_queue.renew()

    async def _read_status(self) -> None:
        while True:
            await asyncio.sleep(STATUS_INTERVAL_S)
            await self._read_other_processes()

    async def _renew_shares(self) -> None:
        """Adapt the shares of limits and of the budget to the workers that joined and left."""
        while True:
            await asyncio.sleep(SHARES_INTERVAL_S)
            await self.clients.renew_shares()

    async def _report_progress(self) -> None:
        """Report progress while no session ends."""
        while True:
            await asyncio.sleep(PROGRESS_INTERVAL_S)
            self.progress.spent(self.clients.stop_conditions.spent)

    async def _run_next_session(self) -> bool:
        unit = await self._unit_queue.next(UnitKind.SESSION)
        if unit is None:
            return False
        with suppress(Conflict):  # the lease expired and another process finished the unit
            await self._run_session(unit)
        return True

    async def _run_session(self, unit: Unit) -> None:
        """Run a session, store its result and annotate the dialogue.

        Raises:
            Conflict: If another process has stored more of the same session.
        """
        stored = await self.executor.call(self.store.entries, unit.key) if unit.tries > 1 else []
        try:
            await self.clients.begin_session(unit.application, unit.key)
            clients = self._clients[UnitKind.SESSION]
            result = await self._drive(self.flows.session(unit), unit, stored, clients)
        finally:
            await self.clients.end_session(unit.application, unit.key)
        if isinstance(result, Failure):
            await self.store.keep_failure(unit, result)
            self._report_session(result)
            return
        lease = self._unit_queue.lease(LEASE_S)
        leased = await self.store.keep_dialogue(unit, result, lease=lease)
        self._report_session(result)
        if lease is None and not self._dialogue_queue.is_idle:
            self._dialogue_queue.put(unit.key, result)
        if leased:
            self._unit_queue.add(leased[1:], result)
            await self._annotate(leased[0], result)

    async def _drive(
        self, flow: Flow[Result], unit: Unit, stored: Sequence[JournalEntry], clients: Clients
    ) -> Result | Failure:
        """Run a flow to its end and report the unit to the observer; see `drive`."""
        if clients.observer is None:
            return await drive(flow, unit, stored, clients=clients, journal=self.store)
        with clients.observer.unit(self.run, unit, owner=self.owner) as end:
            result = await drive(flow, unit, stored, clients=clients, journal=self.store)
            end(result)
        return result

    def _report_session(self, result: Dialogue | Failure) -> None:
        self.progress.session(result)
        self.progress.spent(self.clients.stop_conditions.spent)

    async def _annotate_next(self) -> bool:
        over = self._dialogue_queue.over
        self._dialogue_queue.reset_wakeups()
        unit = await self._unit_queue.next(UnitKind.ANNOTATION)
        if unit is None:
            if over:
                return False
            await self._dialogue_queue.wait()
            return True
        with suppress(Conflict):  # as above
            await self._annotate(unit, self._unit_queue.dialogue_of(unit))
        return True

    async def _annotate(self, unit: Unit, dialogue: Dialogue) -> None:
        stored = await self.executor.call(self.store.entries, unit.key) if unit.tries > 1 else []
        flow = self.flows.annotation(unit, dialogue)
        result = await self._drive(flow, unit, stored, self._clients[UnitKind.ANNOTATION])
        if isinstance(result, Failure):
            await self.store.keep_failure(unit, result)
        else:
            await self.store.keep_annotation(unit, result)
        self.progress.annotation(result)
        self.progress.spent(self.clients.stop_conditions.spent)


def n_finished(counts: Mapping[str, int]) -> int:
    """Return the number of units that are done or failed, from counts by state."""
    return counts.get(UnitState.DONE, 0) + counts.get(UnitState.FAILED, 0)


async def _pool(do_next: Callable[[], Coroutine[None, None, bool]], parallel: int) -> None:
    """Run `do_next` repeatedly in `parallel` tasks until nothing remains or a stop condition holds."""
    async with asyncio.TaskGroup() as tasks:
        for _ in range(parallel):
            tasks.create_task(_until_done(do_next))


async def _until_done(do_next: Callable[[], Coroutine[None, None, bool]]) -> None:
    try:
        while await do_next():
            pass
    except RunStopped:
        return
