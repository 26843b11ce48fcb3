"""The handover: dialogues on their way from those who hold them to those who annotate them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from theodolite.domain.dialogue import Dialogue

AT_HAND = 1_000
"""Dialogues kept in memory for their annotators; others are read back, many at a time."""


@dataclass(slots=True)
class Handover:
    """Says when there is something to annotate, and keeps fresh dialogues at hand.

    Attributes:
        over: Whether no further dialogue will come from this process.
        is_idle: Whether nobody in this process annotates.
    """

    over: bool = False
    is_idle: bool = False
    _at_hand: dict[str, Dialogue] = field(default_factory=dict)
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _due: bool = True

    def put(self, unit: str, dialogue: Dialogue) -> None:
        """Take a dialogue in and wake those who wait; the oldest one makes room."""
        if len(self._at_hand) >= AT_HAND:
            del self._at_hand[next(iter(self._at_hand))]
        self._at_hand[unit] = dialogue
        self.wake(due=True)

    def wake(self, *, due: bool) -> None:
        """Wake those who wait; with `due`, asking the ledger may bring something."""
        self._due = self._due or due
        self._arrived.set()

    def close(self) -> None:
        """Say that no further dialogue will come."""
        self.over = True
        self._arrived.set()

    def here(self, units: Iterable[str]) -> dict[str, Dialogue]:
        """Return those dialogues that are still at hand, by unit."""
        return {unit: self._at_hand[unit] for unit in units if unit in self._at_hand}

    def rest(self) -> None:
        """Forget earlier wake-ups before looking; once all is over nobody may sleep any more."""
        if not self.over:
            self._arrived.clear()

    async def wait(self) -> None:
        """Sleep until there is something to look for."""
        await self._arrived.wait()

    def may_find(self) -> bool:
        """Tell whether asking the ledger can bring anything new; asked once for each arrival."""
        if self.over:
            return True
        due, self._due = self._due, False
        return due
