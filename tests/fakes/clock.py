"""A clock that stands still until somebody sleeps on it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

_START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class FakeClock:
    """Implements `ports.clock.Clock`; sleeping takes no time and moves the clock."""

    passed_s: float = 0.0
    slept: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return _START + timedelta(seconds=self.passed_s)

    def monotonic_s(self) -> float:
        return self.passed_s

    async def sleep(self, duration_s: float) -> None:
        self.slept.append(duration_s)
        self.passed_s += duration_s
        await asyncio.sleep(0)
