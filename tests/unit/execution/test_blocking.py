from __future__ import annotations

import threading

import pytest

from theodolite.execution.blocking import BlockingExecutor


@pytest.fixture
def executor():
    room = BlockingExecutor()
    yield room
    room.close()


async def test_calls_run_in_one_thread_of_their_own(executor):
    first = await executor.call(threading.get_ident)
    second = await executor.call(threading.get_ident)

    assert first == second != threading.get_ident()


async def test_arguments_and_results_come_through(executor):
    assert await executor.call(divmod, 7, 2) == (3, 1)
    assert await executor.call(int, "11", base=2) == 3


async def test_an_error_comes_through(executor):
    with pytest.raises(ZeroDivisionError):
        await executor.call(divmod, 1, 0)
