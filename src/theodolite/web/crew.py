"""The crew: a few warm threads in which pages are made, each with a database connection of its own.

Whatever asks the database is done here, never in the server's event loop. Few threads
are enough, since Python works in one of them at a time, and the fewer want to, the
sooner the event loop comes to its turn: it lets the words of replies appear. Threads
that stay spare each request a connection of its own to set up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
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
    """Let the crew go when the server ends."""
    try:
        yield
    finally:
        _crew().shutdown(wait=False)
        _crew.cache_clear()


@cache
def _crew() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="page", initializer=bind_request_thread)
