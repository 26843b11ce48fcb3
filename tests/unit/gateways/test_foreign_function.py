"""Somebody else's function may do what it likes, and nobody else waits for it."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from theodolite.domain.errors import ServerFault, TimedOut
from theodolite.gateways.foreign_function import ForeignFunction, raised_words


@pytest.fixture
async def called() -> AsyncIterator[Any]:
    functions: list[ForeignFunction] = []

    def function_of(function: Any, patience_s: float = 5.0) -> ForeignFunction:
        functions.append(ForeignFunction(function, owner="app", patience_s=patience_s))
        return functions[-1]

    yield function_of
    for function in functions:
        function.leave()


async def test_a_coroutine_that_blocks_its_loop_is_given_up_and_told_so(called: Any) -> None:
    release = threading.Event()

    async def blocking(word: str) -> str:
        if word == "stuck":
            release.wait(20)
        return word

    function = called(blocking, 0.3)
    waiting = asyncio.create_task(function.call("stuck", {}))
    await asyncio.sleep(0.05)  # this loop goes round while that one is blocked

    with pytest.raises(TimedOut, match=r"no answer within 0\.3 s; it blocks its event loop"):
        await waiting
    assert await function.call("next", {}) == "next"
    release.set()


async def test_a_coroutine_that_only_waits_is_not_said_to_block(called: Any) -> None:
    with pytest.raises(TimedOut) as caught:
        await called(lambda _: asyncio.sleep(20), 0.1).call("x", {})

    assert "blocks" not in str(caught.value)


async def test_all_coroutines_of_a_function_share_one_loop_that_is_not_ours(called: Any) -> None:
    async def loop_of(_: str) -> int:
        return id(asyncio.get_running_loop())

    function = called(loop_of)
    loops = {await function.call("a", {}), await function.call("b", {})}

    assert len(loops) == 1
    assert id(asyncio.get_running_loop()) not in loops


async def leaving(_: str) -> str:
    sys.exit(3)


async def giving_up(_: str) -> str:
    raise asyncio.CancelledError


@pytest.mark.parametrize(("function", "words"), [(leaving, "SystemExit: 3"), (giving_up, "CancelledError")])
async def test_what_would_end_a_program_ends_one_call(called: Any, function: Any, words: str) -> None:
    with pytest.raises(ServerFault, match=words):
        await called(function).call("x", {})


async def test_a_file_that_is_not_where_it_was_started_is_explained() -> None:
    try:
        open("menu-of-nobody.csv").close()  # noqa: ASYNC230, PTH123 - as somebody else's code does
    except FileNotFoundError as error:
        words = raised_words(error)

    assert "'menu-of-nobody.csv'; such paths begin in the folder in which theodolite was started" in words
    assert words.endswith("(test_foreign_function.py, line 82)")
