"""Worker threads: somebody else's blocking code, kept away from the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import queue
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

AWAKE_S = 0.2
"""Time within which a loop that nothing blocks takes its turn; seconds."""


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


class LoopThread:
    """One daemon thread with an event loop of its own, for somebody else's coroutines.

    A coroutine that blocks its loop, by `time.sleep` or by a client that is not
    async, would hold up the program's own loop and all deadlines with it. Here it
    holds up its own kind alone, and whoever is tired of waiting leaves it alone.
    """

    def __init__(self) -> None:
        """Take no thread yet: the first call does."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._calls: set[Future[Any]] = set()

    async def call(self, make: Callable[[], Awaitable[Any]]) -> Any:
        """Return what an awaitable brings that is made and awaited there, or `Raised`."""

        async def work() -> Any:
            try:
                return await make()
            except asyncio.CancelledError as error:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                return Raised(error)
            except BaseException as error:  # noqa: BLE001 - even `SystemExit` of the call is its fault alone
                return Raised(error)

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=_run_loop, args=(self._loop,), name="application", daemon=True).start()
        called = asyncio.run_coroutine_threadsafe(work(), self._loop)
        self._calls.add(called)
        called.add_done_callback(self._calls.discard)
        return await asyncio.wrap_future(called)

    async def is_blocked(self) -> bool:
        """Tell whether something keeps the loop from going round."""
        if self._loop is None:
            return False
        here, awake = asyncio.get_running_loop(), asyncio.Event()

        def answer() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                here.call_soon_threadsafe(awake.set)

        self._loop.call_soon_threadsafe(answer)
        try:
            async with asyncio.timeout(AWAKE_S):
                await awake.wait()
        except TimeoutError:
            return True
        return False

    def leave(self) -> None:
        """Let the thread end as soon as nobody waits for a call there; a later call takes another one."""
        loop, self._loop = self._loop, None
        calls, self._calls = tuple(self._calls), set()
        if loop is None:
            return

        def stop_after(_: Future[Any] | None = None) -> None:
            # What stands behind a call that blocked may still be answered; broken off, it would break off its caller.
            if all(call.done() for call in calls):
                with contextlib.suppress(RuntimeError):  # two ended at one moment, and the loop is closed already
                    loop.call_soon_threadsafe(loop.stop)

        stop_after()
        for call in calls:
            call.add_done_callback(stop_after)


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
