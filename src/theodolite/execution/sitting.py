"""A sitting: one process's share of a run, from the first lease to the last."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import Conflict, RunStopped
from theodolite.domain.failure import Failure
from theodolite.domain.flow import Flow
from theodolite.domain.run import Run, Unit, UnitKind, UnitState
from theodolite.execution.aside import Aside
from theodolite.execution.collecting import seldom_collected
from theodolite.execution.drive import drive
from theodolite.execution.handover import Handover
from theodolite.execution.lines import Lines
from theodolite.execution.supply import LEASE_S, Supply
from theodolite.ports.progress import Progress
from theodolite.ports.store import Store

AHEAD = 0.5
"""Sessions that are under way beyond those for which there are places; fraction of these.

A reply that is being stored takes no place: with as many sessions as places, some would
always be empty. With half as many again all are full, and a batch of replies holds more.
"""

TOLD_S = 1.0
"""Longest time between two looks at what was spent, for whoever watches; seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """How units of work begin.

    Attributes:
        session: From a session unit to the flow that holds it.
        annotation: From an annotation unit and its dialogue to the flow that gives it.
    """

    session: Callable[[Unit], Flow[Dialogue]]
    annotation: Callable[[Unit, Dialogue], Flow[Annotation]]


@dataclass(slots=True, kw_only=True)
class Sitting:
    """Leases units of one run and does them, many at a time.

    Attributes:
        run: The run that it works for.
        owner: Name under which it leases.
        store: Ledger, journal and results.
        lines: Connections, and the brakes that may stop it.
        flows: How units begin.
        progress: Who watches.
        parallel: Calls of each kind of unit in flight at most; count.
        before: Only units before this position of the plan are done; None for all.
        aside: Where blocking calls of the store run.
    """

    run: Run
    owner: str
    store: Store
    lines: Lines
    flows: Flows
    progress: Progress
    parallel: int
    aside: Aside
    before: int | None = None
    _handover: Handover = field(default_factory=Handover)
    _supply: Supply = field(init=False)
    _lines: dict[UnitKind, Lines] = field(init=False)

    def __post_init__(self) -> None:
        """Ask the ledger for nothing yet."""
        self._lines = {kind: self.lines.within(self.parallel) for kind in UnitKind}
        self._supply = Supply(
            run=self.run,
            owner=self.owner,
            store=self.store,
            brakes=self.lines.brakes,
            parallel=self.parallel,
            before=self.before,
            aside=self.aside,
            handover=self._handover,
        )

    async def work(self, kinds: frozenset[UnitKind]) -> None:
        """Do all units of some kinds that are to be had, until none is left or the brakes hold.

        Raises:
            StoreError: If the database fails; everything acknowledged is kept.
        """
        self._handover.over = UnitKind.SESSION not in kinds
        self._handover.is_idle = UnitKind.ANNOTATION not in kinds
        with seldom_collected():
            await self._work(kinds)

    async def _work(self, kinds: frozenset[UnitKind]) -> None:
        async with asyncio.TaskGroup() as tasks:
            beside = [tasks.create_task(self._keep_up()), tasks.create_task(self._tell_regularly())]
            pools = []
            if UnitKind.SESSION in kinds:
                pools.append(tasks.create_task(self._hold_sessions()))
            if UnitKind.ANNOTATION in kinds:
                pools.append(tasks.create_task(_pool(self._annotate_next, self.parallel)))
            await asyncio.gather(*pools)
            for task in beside:
                task.cancel()

    async def _hold_sessions(self) -> None:
        await _pool(self._hold_next, self.parallel + int(AHEAD * self.parallel))
        self._handover.close()

    async def _keep_up(self) -> None:
        """Keep the leases, and learn what other processes did of the same run."""
        while True:
            await asyncio.sleep(LEASE_S / 3)
            await self._supply.renew()
            counts = {kind: await self.aside.call(self.store.count_units, self.run, kind) for kind in UnitKind}
            self.progress.over(
                sessions=n_over(counts[UnitKind.SESSION]), annotations=n_over(counts[UnitKind.ANNOTATION])
            )
            if self.lines.brakes.budget.is_limited:
                self.lines.brakes.learn(await self.aside.call(self.store.spending, self.run))

    async def _tell_regularly(self) -> None:
        """Let it be seen that sessions go on of which none has ended yet."""
        while True:
            await asyncio.sleep(TOLD_S)
            self.progress.spent(self.lines.brakes.spent)

    async def _hold_next(self) -> bool:
        unit = await self._supply.next(UnitKind.SESSION)
        if unit is None:
            return False
        with suppress(Conflict):  # its lease ran out, and whoever took it over was faster: it is theirs
            await self._hold(unit)
        return True

    async def _hold(self, unit: Unit) -> None:
        """Hold a session and begin what it asks for next.

        Raises:
            Conflict: If somebody else holds it too and has stored more of it.
        """
        stored = await self.aside.call(self.store.entries, unit.key) if unit.tries > 1 else []
        try:
            lines = self._lines[UnitKind.SESSION]
            result = await drive(self.flows.session(unit), unit, stored, lines=lines, journal=self.store)
        finally:
            await self.lines.end_session(unit.application, unit.key)
        if isinstance(result, Failure):
            await self.store.keep_failure(unit, result)
            self._tell_session(result)
            return
        lease = self._supply.lease(LEASE_S)
        leased = await self.store.keep_dialogue(unit, result, lease=lease)
        self._tell_session(result)
        if lease is None and not self._handover.is_idle:
            self._handover.put(unit.key, result)
        if leased:
            self._supply.share_out(leased[1:], result)
            await self._annotate(leased[0], result)

    def _tell_session(self, result: Dialogue | Failure) -> None:
        self.progress.session(result)
        self.progress.spent(self.lines.brakes.spent)

    async def _annotate_next(self) -> bool:
        over = self._handover.over
        self._handover.rest()
        unit = await self._supply.next(UnitKind.ANNOTATION)
        if unit is None:
            if over:
                return False
            await self._handover.wait()
            return True
        with suppress(Conflict):  # as above
            await self._annotate(unit, self._supply.dialogue_of(unit))
        return True

    async def _annotate(self, unit: Unit, dialogue: Dialogue) -> None:
        stored = await self.aside.call(self.store.entries, unit.key) if unit.tries > 1 else []
        flow = self.flows.annotation(unit, dialogue)
        result = await drive(flow, unit, stored, lines=self._lines[UnitKind.ANNOTATION], journal=self.store)
        if isinstance(result, Failure):
            await self.store.keep_failure(unit, result)
        else:
            await self.store.keep_annotation(unit, result)
        self.progress.annotation(result)
        self.progress.spent(self.lines.brakes.spent)


def n_over(counts: Mapping[str, int]) -> int:
    """Return the units that are done or failed, of units by state; counts."""
    return counts.get(UnitState.DONE, 0) + counts.get(UnitState.FAILED, 0)


async def _pool(do_next: Callable[[], Coroutine[None, None, bool]], parallel: int) -> None:
    """Do one thing after the other, many at a time, until there is none left or the brakes hold."""
    async with asyncio.TaskGroup() as tasks:
        for _ in range(parallel):
            tasks.create_task(_until_done(do_next))


async def _until_done(do_next: Callable[[], Coroutine[None, None, bool]]) -> None:
    try:
        while await do_next():
            pass
    except RunStopped:
        return
