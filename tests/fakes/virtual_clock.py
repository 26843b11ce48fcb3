"""A clock whose time passes only when everybody waits, and then at once."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

_START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_ROUNDS = 25
"""Rounds of the event loop that are left to tasks before time passes; count."""


class VirtualClock:
    """Sleeps of several tasks overlap as they do in the world, but nobody waits for them."""

    def __init__(self) -> None:
        self.passed_s = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now(self) -> datetime:
        return _START + timedelta(seconds=self.passed_s)

    def monotonic_s(self) -> float:
        return self.passed_s

    async def sleep(self, duration_s: float) -> None:
        awake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.passed_s + duration_s, next(self._order), awake))
        await awake

    @contextlib.asynccontextmanager
    async def passing(self) -> AsyncIterator[None]:
        """Let time pass whenever all tasks wait."""
        passing = asyncio.create_task(self._pass())
        try:
            yield
        finally:
            passing.cancel()

    async def _pass(self) -> None:
        while True:
            for _ in range(_ROUNDS):
                await asyncio.sleep(0)
            while self._sleepers:
                self.passed_s, _, awake = heapq.heappop(self._sleepers)
                if not awake.done():
                    awake.set_result(None)
                    break
