"""The request thread pool, and background tasks of the server.

Code that uses the database or renders a page runs in the pool, never in the event loop.
A few threads are enough, since Python runs one of them at a time, and fewer threads leave
more time for the event loop, which streams replies. Threads stay alive, so that a request
does not open a database connection of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import Context
from dataclasses import dataclass, field
from functools import cache
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async

from theodolite.web.events import bind_request_thread

Arguments = ParamSpec("Arguments")

Result = TypeVar("Result")


AT_ONCE = 8
"""Requests that are answered at the same time; count. Watching a reply takes no thread."""


async def by_crew(function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """Return what a function returns that asks the database or makes a page."""
    return await sync_to_async(function, thread_sensitive=False, executor=_crew())(*args, **kwargs)


@asynccontextmanager
async def crew_at_work() -> AsyncIterator[None]:
    """Shut the pool down when the server ends."""
    try:
        yield
    finally:
        _crew().shutdown(wait=False)
        _crew.cache_clear()


@cache
def _crew() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="page", initializer=bind_request_thread)


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
        """Accept tasks while the context is open."""
        async with asyncio.TaskGroup() as tasks:
            self.tasks = tasks
            try:
                yield
            finally:
                self.tasks = None
                for task in self.running:
                    task.cancel()

    async def do(self, work: Coroutine[object, object, None]) -> None:
        """Start a task; without a running server, wait for it."""
        if self.tasks is None:
            await work
            return
        task = self.tasks.create_task(work, context=Context())  # it knows nothing of the request's thread
        self.running.add(task)
        task.add_done_callback(self.running.discard)
