"""Slots: how many calls to one application may be in flight."""

from __future__ import annotations

import asyncio


class Slots:
    """A semaphore for whichever event loop asks."""

    def __init__(self, n: int) -> None:
        """Say how many there are; count."""
        self._n = n
        self._taken: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    def take(self) -> asyncio.Semaphore:
        """Return what to enter: `async with slots.take()`."""
        loop = asyncio.get_running_loop()
        if self._taken is None or self._taken[0] is not loop:
            self._taken = (loop, asyncio.Semaphore(self._n))
        return self._taken[1]
