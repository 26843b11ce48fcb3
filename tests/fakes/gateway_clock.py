"""A clock that waits for nobody and remembers how long it was asked to wait."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta


class HastyClock:
    """Time stands still but for the waits, which take no time."""

    def __init__(self, start: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)) -> None:
        self.start = start
        self.waits: list[float] = []

    def now(self) -> datetime:
        return self.start + timedelta(seconds=sum(self.waits))

    def monotonic_s(self) -> float:
        return sum(self.waits)

    async def sleep(self, duration_s: float) -> None:
        self.waits.append(duration_s)
        await asyncio.sleep(0)


class RealClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - this is the clock that others ask

    def monotonic_s(self) -> float:
        return time.monotonic()

    async def sleep(self, duration_s: float) -> None:
        await asyncio.sleep(duration_s)
