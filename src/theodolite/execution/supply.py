"""The supply: units that are leased for this process and wait until somebody takes them."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from theodolite.domain.dialogue import Dialogue
from theodolite.domain.run import Lease, Run, Unit, UnitKind
from theodolite.execution.aside import Aside
from theodolite.execution.brakes import Brakes
from theodolite.execution.handover import Handover
from theodolite.ports.store import Store

LEASE_S = 60.0
"""How long a unit is leased unless the lease is renewed; seconds."""

GATHER_S = 0.05
"""Pause between two looks for dialogues to annotate, so that one look finds many; seconds."""

FRUITLESS_S = 1.0
"""How long a ledger that had nothing left is not asked again; seconds."""


@dataclass(slots=True, kw_only=True)
class Supply:
    """Asks the ledger for units, many at a time and not too often, and hands them out one by one.

    Attributes:
        run: The run that they belong to.
        owner: Name under which they are leased.
        store: The ledger, and dialogues that are no longer at hand.
        brakes: What may stop the run.
        parallel: Calls of each kind of unit in flight at most; twice as many units are leased at once. Count.
        before: Only units before this position of the plan; None for all.
        aside: Where blocking calls of the store run.
        handover: Dialogues on their way to those who annotate them.
    """

    run: Run
    owner: str
    store: Store
    brakes: Brakes
    parallel: int
    before: int | None
    aside: Aside
    handover: Handover
    _waiting: dict[UnitKind, deque[Unit]] = field(default_factory=lambda: {kind: deque() for kind in UnitKind})
    _locks: dict[UnitKind, asyncio.Lock] = field(default_factory=lambda: {kind: asyncio.Lock() for kind in UnitKind})
    _dialogues: dict[str, Dialogue] = field(default_factory=dict)
    _fruitless_until_s: dict[UnitKind, float] = field(default_factory=lambda: dict.fromkeys(UnitKind, 0.0))
    _gather_until_s: float = 0.0
    _sure_until_s: float = math.inf

    async def next(self, kind: UnitKind) -> Unit | None:
        """Return a unit that is leased and not begun; None where there is none for now.

        Raises:
            RunStopped: If no work is to be begun any more.
        """
        async with self._locks[kind]:
            self.brakes.check()
            if asyncio.get_running_loop().time() > self._sure_until_s:  # this process was held up
                await self.renew()
            if not self._waiting[kind] and (kind is UnitKind.SESSION or self.handover.may_find()):
                await self._claim_in_turn(kind)
            waiting = self._waiting[kind]
            return waiting.popleft() if waiting else None

    async def renew(self) -> None:
        """Extend all leases, and let go of units that somebody else has taken over while they waited here."""
        waited = {unit.key for waiting in self._waiting.values() for unit in waiting}
        lost = waited - await self.aside.call(self.store.renew, self.owner, LEASE_S)
        for kind, waiting in self._waiting.items():
            self._waiting[kind] = deque(unit for unit in waiting if unit.key not in lost)
        self._sure_until_s = asyncio.get_running_loop().time() + LEASE_S

    async def _claim_in_turn(self, kind: UnitKind) -> None:
        """Ask the ledger, but not for every single dialogue, and not again where nothing can have come."""
        loop = asyncio.get_running_loop()
        none_to_come = kind is UnitKind.SESSION or self.handover.over
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
        self._sure_until_s = min(self._sure_until_s, asyncio.get_running_loop().time() + LEASE_S)
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
            here = self.handover.here(subjects)
            away = [subject for subject in subjects if subject not in here]
            found = here | (await self.aside.call(self.store.dialogues_of, away) if away else {})
            self._dialogues |= {unit.key: found[unit.subject] for unit in claimed}
            # The ledger may hold more, and one dialogue brings work for several who sleep.
            self.handover.wake(due=len(claimed) == limit)
        self._waiting[kind].extend(claimed)

    def dialogue_of(self, unit: Unit) -> Dialogue:
        """Return what an annotation unit that was handed out is about; asked once for each."""
        return self._dialogues.pop(unit.key)

    def lease(self, seconds: float) -> Lease | None:
        """Return the lease under which whoever held a dialogue goes on with it; None where enough is waiting."""
        is_enough = len(self._waiting[UnitKind.ANNOTATION]) > 2 * self.parallel
        return None if self.handover.is_idle or is_enough else Lease(owner=self.owner, seconds=seconds)

    def share_out(self, units: Sequence[Unit], dialogue: Dialogue) -> None:
        """Leave annotations of a dialogue to those who have nothing to do."""
        if units:
            self._dialogues |= {unit.key: dialogue for unit in units}
            self._waiting[UnitKind.ANNOTATION].extend(units)
            self.handover.wake(due=False)
