"""Sessions take turns where an application bears few of them, and idle ones let go of what they hold."""

from __future__ import annotations

import asyncio

from theodolite.gateways.applications.connections import OpenSessions


class Suspended:
    """Remembers which sessions were suspended, and lets a test wait for one."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.came = asyncio.Event()

    async def __call__(self, session: str) -> None:
        self.names.append(session)
        self.came.set()


async def say(sessions: OpenSessions, *names: str) -> None:
    for name in names:
        async with sessions.call(name):
            pass


async def test_the_longest_idle_session_is_suspended_for_a_new_one() -> None:
    suspended = Suspended()
    sessions = OpenSessions(suspended, most=2)

    await say(sessions, "a", "b", "a", "c", "b")

    assert suspended.names == ["b", "a"]
    await sessions.close()


async def test_nothing_is_suspended_below_the_limit_or_without_one() -> None:
    suspended = Suspended()

    for most in (3, 0):
        sessions = OpenSessions(suspended, most=most)
        await say(sessions, "a", "b", "c", "a")
        await sessions.close()

    assert suspended.names == []


async def test_a_session_waits_for_a_slot_used_by_a_run() -> None:
    suspended = Suspended()
    sessions = OpenSessions(suspended, most=1)
    await sessions.begin("a")
    await say(sessions, "a")

    waiting = asyncio.create_task(sessions.begin("b"))
    await asyncio.sleep(0)
    was_waiting = not waiting.done()
    sessions.end("a")
    await waiting

    assert (was_waiting, suspended.names) == (True, [])


async def test_a_session_in_a_call_is_never_suspended() -> None:
    suspended = Suspended()
    sessions = OpenSessions(suspended, most=1)
    async with sessions.call("a"):
        waiting = asyncio.create_task(say(sessions, "b"))
        await asyncio.sleep(0)
        assert not waiting.done()

    await waiting

    assert suspended.names == ["a"]
    await sessions.close()


async def test_a_session_that_cannot_resume_keeps_its_slot_to_its_end() -> None:
    suspended = Suspended()
    sessions = OpenSessions(suspended, most=1, can_resume=False, idle_s=0)
    await say(sessions, "a")

    waiting = asyncio.create_task(say(sessions, "b"))
    await asyncio.sleep(0)
    was_waiting = not waiting.done()
    sessions.end("a")
    await waiting

    assert (was_waiting, suspended.names) == (True, [])


async def test_an_idle_session_is_suspended_after_a_while() -> None:
    suspended = Suspended()
    sessions = OpenSessions(suspended, idle_s=0)

    await say(sessions, "a")
    await suspended.came.wait()

    assert suspended.names == ["a"]
    await sessions.close()


async def test_a_session_of_a_run_is_not_suspended_for_being_idle() -> None:
    suspended = Suspended()
    sessions = OpenSessions(suspended, idle_s=0)
    await sessions.begin("held")

    await say(sessions, "held", "other")
    await suspended.came.wait()

    assert suspended.names == ["other"]
    await sessions.close()


async def test_a_session_being_suspended_can_be_resumed() -> None:
    let_go, begun = asyncio.Event(), asyncio.Event()

    async def slowly(_: str) -> None:
        begun.set()
        await let_go.wait()

    sessions = OpenSessions(slowly, idle_s=0)
    await say(sessions, "a")
    await begun.wait()
    again = asyncio.create_task(sessions.begin("a"))
    await asyncio.sleep(0)
    was_waiting = not again.done()
    let_go.set()
    await again

    assert was_waiting
    await sessions.close()
