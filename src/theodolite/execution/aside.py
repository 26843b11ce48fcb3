"""A side room for blocking calls: one thread that keeps the event loop free."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Aside:
    """Runs blocking calls one after the other in a thread of its own."""

    def __init__(self, prepare: Callable[[], None] | None = None) -> None:
        """Open the room.

        Args:
            prepare: Called in the thread before anything else; nothing where left out.
        """
        self._room = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aside", initializer=prepare)

    async def call(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Return what a blocking function returns."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._room, lambda: function(*args, **kwargs))

    def close(self) -> None:
        """Wait for what runs, then end the thread."""
        self._room.shutdown(wait=True)
