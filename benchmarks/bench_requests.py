"""CPU time of a page by our request handler and by Django's own; see ADR 0116.

python benchmarks/bench_requests.py [ROUNDS]

Both handlers answer the sign-in page in one process, 50 requests at a time, in turns. The first round is not counted.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from theodolite.bootstrap.serving import Serving, open_server
from theodolite.config.serving import ServingSettings

REQUESTS, AT_ONCE = 200, 50
"""Requests of a round, and of these at the same time; counts."""

Handler = Callable[..., Any]


def main(rounds: int) -> None:
    """Print the CPU time of one request by each handler."""
    with tempfile.TemporaryDirectory() as name:
        open_server(Serving(workspace=Path(name) / ".theodolite", settings=ServingSettings()))
        for handler, times in asyncio.run(_measured(rounds)).items():
            least, median = 1000 * min(times), 1000 * statistics.median(times)
            print(f"{handler:<20} least {least:.2f} ms, median {median:.2f} ms")


async def _measured(rounds: int) -> Mapping[str, list[float]]:
    from django.core.handlers.asgi import ASGIHandler
    from django.db import connections

    from theodolite.web.asgi_handler import SingleThreadHandler

    handlers: dict[str, Handler] = {"one thread": SingleThreadHandler(), "Django's own": ASGIHandler()}
    times: dict[str, list[float]] = {name: [] for name in handlers}
    for number in range(rounds + 1):
        for name, handler in handlers.items():
            # Django's own handler takes a new thread for each request, and so must close its connection.
            connections.settings["default"]["CONN_MAX_AGE"] = None if name == "one thread" else 0
            seconds = await _round(handler)
            times[name] += [seconds] if number else []
    return times


async def _round(handler: Handler) -> float:
    """Return the CPU time of one request of a round; seconds."""
    free = asyncio.Semaphore(AT_ONCE)

    async def limited() -> None:
        async with free:
            await _requested(handler)

    started = time.process_time()
    await asyncio.gather(*(limited() for _ in range(REQUESTS)))
    return (time.process_time() - started) / REQUESTS


async def _requested(handler: Handler) -> None:
    messages = iter([{"type": "http.request", "body": b"", "more_body": False}])
    statuses: list[int] = []

    async def receive() -> Mapping[str, object]:
        if message := next(messages, None):
            return message
        return await asyncio.Future()

    async def send(message: Mapping[str, Any]) -> None:
        statuses.extend([message["status"]] if "status" in message else [])

    path = "/account/login/"
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [(b"host", b"localhost")]}
    await handler(scope, receive, send)
    if statuses != [200]:
        message = f"the page answered {statuses}"
        raise RuntimeError(message)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
