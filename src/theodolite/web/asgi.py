"""The ASGI application, and the context managers of the server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import django

from theodolite.web.asgi_handler import OneTrip, Receive, Send, crew_at_work
from theodolite.web.organiser.results import measuring_bench
from theodolite.web.senior.home import warming
from theodolite.web.session_end import reply_manager, sweeping
from theodolite.web.teams.admission import conformance_bench

COMPANIONS: list[Callable[[], AbstractAsyncContextManager[object]]] = [
    crew_at_work,
    lambda: reply_manager().open(),
    conformance_bench,
    measuring_bench,
    sweeping,
    warming,
]
"""Context managers that are open from the first request to the last, in the server's event loop."""

django.setup(set_prefix=False)
_pages = OneTrip()


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Answer a request, or go through the life of the server: Django itself knows requests only."""
    if scope["type"] == "lifespan":
        await _live(receive, send)
    else:
        await _pages(scope, receive, send)


async def _live(receive: Receive, send: Send) -> None:
    await receive()  # startup
    async with AsyncExitStack() as stack:
        for companion in COMPANIONS:
            await stack.enter_async_context(companion())
        await send({"type": "lifespan.startup.complete"})
        await receive()  # shutdown
    await send({"type": "lifespan.shutdown.complete"})
