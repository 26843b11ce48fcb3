"""What the server calls, and what lives as long as the server does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

from django.core.asgi import get_asgi_application

from theodolite.web.abandoned import sweeping
from theodolite.web.live_room import room
from theodolite.web.organiser.measuring import measuring_bench
from theodolite.web.teams.conformance import conformance_bench

_Message = dict[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[Mapping[str, Any]], Awaitable[None]]

COMPANIONS: list[Callable[[], AbstractAsyncContextManager[object]]] = [
    lambda: room().open(),
    conformance_bench,
    measuring_bench,
    sweeping,
]
"""What is entered before the first request and left after the last one, in the server's event loop."""

_django = get_asgi_application()


async def application(scope: _Message, receive: _Receive, send: _Send) -> None:
    """Answer a request, or go through the life of the server: Django itself knows requests only."""
    if scope["type"] == "lifespan":
        await _live(receive, send)
    else:
        await _django(scope, receive, send)


async def _live(receive: _Receive, send: _Send) -> None:
    await receive()  # startup
    async with AsyncExitStack() as stack:
        for companion in COMPANIONS:
            await stack.enter_async_context(companion())
        await send({"type": "lifespan.startup.complete"})
        await receive()  # shutdown
    await send({"type": "lifespan.shutdown.complete"})
