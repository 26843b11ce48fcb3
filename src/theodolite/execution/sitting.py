"""A sitting: one process's share of a run, from the first lease to the last."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field

from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import RunStopped
from theodolite.domain.failure import Failure
from theodolite.domain.flow import Flow
from theodolite.domain.run import Run, Unit, UnitKind
from theodolite.execution.aside import Aside
from theodolite.execution.collecting import seldom_collected
from theodolite.execution.drive import drive
from theodolite.execution.handover import Handover
from theodolite.execution.lines import Lines
from theodolite.ports.progress import Progress
from theodolite.ports.store import Store

LEASE_S = 60.0
"""How long a unit is leased unless the lease is renewed; seconds."""

GATHER_S = 0.05
"""Pause between two looks for dialogues to annotate, so that one look finds many; seconds."""

FRUITLESS_S = 1.0
"""How long a ledger that had nothing left is not asked again; seconds."""


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
        parallel: Units of each kind in work at most; count.
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
    _waiting: dict[UnitKind, deque[Unit]] = field(default_factory=lambda: {kind: deque() for kind in UnitKind})
    _locks: dict[UnitKind, asyncio.Lock] = field(default_factory=lambda: {kind: asyncio.Lock() for kind in UnitKind})
    _subjects: dict[str, Dialogue] = field(default_factory=dict)
    _handover: Handover = field(default_factory=Handover)
    _fruitless_until_s: dict[UnitKind, float] = field(default_factory=lambda: dict.fromkeys(UnitKind, 0.0))
    _gather_until_s: float = 0.0

    async def work(self, kinds: frozenset[UnitKind]) -> None:
        """Do all units of some kinds that are to be had, until none is left or the brakes hold.

        Raises:
            StoreError: If the database fails; everything acknowledged is kept.
        """
        self._handover.over = UnitKind.SESSION not in kinds
        with seldom_collected():
            await self._work(kinds)

    async def _work(self, kinds: frozenset[UnitKind]) -> None:
        async with asyncio.TaskGroup() as tasks:
            pulse = tasks.create_task(self._renew_leases())
            pools = []
            if UnitKind.SESSION in kinds:
                pools.append(tasks.create_task(self._hold_sessions()))
            if UnitKind.ANNOTATION in kinds:
                pools.append(tasks.create_task(_pool(self._annotate_next, self.parallel)))
            await asyncio.gather(*pools)
            pulse.cancel()

    async def _hold_sessions(self) -> None:
        await _pool(self._hold_next, self.parallel)
        self._handover.close()

    async def _renew_leases(self) -> None:
        while True:
            await asyncio.sleep(LEASE_S / 3)
            await self.aside.call(self.store.renew, self.owner, LEASE_S)

    async def _next(self, kind: UnitKind) -> Unit | None:
        async with self._locks[kind]:
            self.lines.brakes.check()
            waiting = self._waiting[kind]
            if not waiting and (kind is UnitKind.SESSION or self._handover.may_find()):
                await self._claim_in_turn(kind)
            return waiting.popleft() if waiting else None

    async def _claim_in_turn(self, kind: UnitKind) -> None:
        """Ask the ledger, but not for every single dialogue, and not again where nothing can have come."""
        loop = asyncio.get_running_loop()
        none_to_come = kind is UnitKind.SESSION or self._handover.over
        if none_to_come and loop.time() < self._fruitless_until_s[kind]:
            return
        await asyncio.sleep(self._gather_until_s - loop.time() if kind is UnitKind.ANNOTATION else 0)
        await self._claim(kind)
        if not none_to_come:
            self._gather_until_s = loop.time() + GATHER_S
        elif not self._waiting[kind]:
            self._fruitless_until_s[kind] = loop.time() + FRUITLESS_S

    async def _claim(self, kind: UnitKind) -> None:
        limit = 2 * self.parallel
        claimed = await self.aside.call(
            self.store.claim,
            self.run,
            kind,
            owner=self.owner,
            limit=limit,
            lease_s=LEASE_S,
            before=self.before,
        )
        if kind is UnitKind.ANNOTATION and claimed:
            # Taken together here: by the time that a unit's turn comes, a dialogue may no longer be at hand.
            subjects = dict.fromkeys(unit.subject for unit in claimed)
            here = self._handover.here(subjects)
            away = [subject for subject in subjects if subject not in here]
            self._subjects = here | (await self.aside.call(self.store.dialogues_of, away) if away else {})
            # The ledger may hold more, and one dialogue brings work for several who sleep.
            self._handover.wake(due=len(claimed) == limit)
        self._waiting[kind].extend(claimed)

    async def _hold_next(self) -> bool:
        unit = await self._next(UnitKind.SESSION)
        if unit is None:
            return False
        stored = await self.aside.call(self.store.entries, unit.key) if unit.tries > 1 else []
        try:
            result = await drive(self.flows.session(unit), unit, stored, lines=self.lines, journal=self.store)
        finally:
            await self.lines.end_session(unit.application, unit.key)
        if isinstance(result, Failure):
            await self.store.keep_failure(unit, result)
        else:
            await self.store.keep_dialogue(unit, result)
            self._handover.put(unit.key, result)
        self.progress.session(result)
        self.progress.spent(self.lines.brakes.spent)
        return True

    async def _annotate_next(self) -> bool:
        over = self._handover.over
        self._handover.rest()
        unit = await self._next(UnitKind.ANNOTATION)
        if unit is None:
            if over:
                return False
            await self._handover.wait()
            return True
        await self._annotate(unit, self._subjects[unit.subject])
        return True

    async def _annotate(self, unit: Unit, dialogue: Dialogue) -> None:
        stored = await self.aside.call(self.store.entries, unit.key) if unit.tries > 1 else []
        flow = self.flows.annotation(unit, dialogue)
        result = await drive(flow, unit, stored, lines=self.lines, journal=self.store)
        if isinstance(result, Failure):
            await self.store.keep_failure(unit, result)
        else:
            await self.store.keep_annotation(unit, result)
        self.progress.annotation(result)
        self.progress.spent(self.lines.brakes.spent)


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
