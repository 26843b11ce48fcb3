"""Work that outlives the request which asked for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from contextvars import Context
from dataclasses import dataclass, field


@dataclass(slots=True)
class Background:
    """Tasks that run as long as the server does; its end cuts them off.

    Attributes:
        tasks: The group that they run in; None while no server runs.
        running: Those that are under way.
    """

    tasks: asyncio.TaskGroup | None = None
    running: set[asyncio.Task[None]] = field(default_factory=set)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Take tasks for as long as this is open."""
        async with asyncio.TaskGroup() as tasks:
            self.tasks = tasks
            try:
                yield
            finally:
                self.tasks = None
                for task in self.running:
                    task.cancel()

    async def do(self, work: Coroutine[object, object, None]) -> None:
        """Begin some work; without a running server it ends before this does."""
        if self.tasks is None:
            await work
            return
        task = self.tasks.create_task(work, context=Context())  # it knows nothing of the request's thread
        self.running.add(task)
        task.add_done_callback(self.running.discard)
