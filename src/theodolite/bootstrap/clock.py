"""The system's clock."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class SystemClock:
    """Tells the machine's time."""

    def now(self) -> datetime:
        """Return the present moment; UTC, aware."""
        return datetime.now(UTC)  # noqa: TID251 - this is the clock that everybody else asks

    def monotonic_s(self) -> float:
        """Return seconds since some fixed moment; never goes back."""
        return time.monotonic()

    async def sleep(self, duration_s: float) -> None:
        """Wait for some seconds."""
        await asyncio.sleep(duration_s)
