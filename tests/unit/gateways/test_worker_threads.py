"""Threads for somebody else's code: who waits there is answered, and what is left ends."""

from __future__ import annotations

import asyncio
import threading

from theodolite.gateways.worker_threads import LoopThread


async def test_a_call_that_stands_behind_a_blocked_one_is_answered_all_the_same() -> None:
    thread, release = LoopThread(), threading.Event()

    async def blocking() -> None:
        release.wait(20)

    async def behind() -> str:
        await asyncio.sleep(0.05)
        return "answered"

    given_up, waiting = (asyncio.create_task(thread.call(make)) for make in (blocking, behind))
    await asyncio.sleep(0.05)
    given_up.cancel()
    thread.leave()
    release.set()
    async with asyncio.timeout(10):
        assert await waiting == "answered"


async def test_a_loop_that_is_left_ends_with_its_last_call() -> None:
    thread, begun, go_on = LoopThread(), threading.Event(), threading.Event()

    async def last() -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
        begun.set()
        go_on.wait(10)
        return asyncio.get_running_loop(), threading.current_thread()

    call = asyncio.create_task(thread.call(last))
    await asyncio.to_thread(begun.wait, 10)
    thread.leave()
    go_on.set()
    loop, runner = await call
    await asyncio.to_thread(runner.join, 10)
    assert loop.is_closed()
