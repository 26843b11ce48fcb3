"""Runs blocking calls on one dedicated thread, so that the event loop stays free."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class BlockingExecutor:
    """Runs blocking calls one at a time on a dedicated thread."""

    def __init__(self, prepare: Callable[[], None] | None = None) -> None:
        """Create the executor; its thread starts with the first call.

        Args:
            prepare: Called in the thread before its first call; None for nothing.
        """
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="blocking", initializer=prepare)

    async def call(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Return what a blocking function returns."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: function(*args, **kwargs))

    def close(self) -> None:
        """Wait for the running call, then end the thread."""
        self._pool.shutdown(wait=True)
