"""The port to time."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> datetime:
        """Return the present moment; UTC, aware."""
        ...

    def monotonic_s(self) -> float:
        """Return seconds since some fixed moment; never goes back."""
        ...

    async def sleep(self, duration_s: float) -> None:
        """Wait for some seconds."""
        ...
