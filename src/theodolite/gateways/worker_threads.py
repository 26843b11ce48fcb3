"""Worker threads: somebody else's blocking code, kept away from the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Raised:
    """What a call raised; handed over as a value, since a future cannot hold every exception."""

    error: BaseException


async def in_thread(call: Callable[[], Any]) -> Any:
    """Return what a call returns that runs in a daemon thread of its own, or `Raised`."""
    worker = WorkerThread()
    try:
        return await worker.call(call)
    finally:
        worker.leave()


class WorkerThread:
    """One daemon thread that makes calls one after the other.

    Some code may only be used from the thread that made it, e.g. a database
    connection. The thread cannot keep the program from ending, however long a
    call takes; whoever is tired of waiting leaves it alone.
    """

    def __init__(self) -> None:
        """Take no thread yet: the first call does."""
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def call(self, call: Callable[[], Any]) -> Any:
        """Return what a call returns, or `Raised`."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()

        def deliver(outcome: Any) -> None:
            if not done.done():
                done.set_result(outcome)

        def work() -> None:
            try:
                outcome = context.run(call)
            except BaseException as error:  # noqa: BLE001 - even `SystemExit` of the call is its fault alone
                outcome = Raised(error)
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(deliver, outcome)

        self._calls.put(work)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="application", daemon=True)
            self._thread.start()
        return await done

    def leave(self) -> None:
        """Let the thread end after the calls that it was given."""
        self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
