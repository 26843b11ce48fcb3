from __future__ import annotations

import threading

import pytest

from theodolite.execution.aside import Aside


@pytest.fixture
def aside():
    room = Aside()
    yield room
    room.close()


async def test_calls_run_in_one_thread_of_their_own(aside):
    first = await aside.call(threading.get_ident)
    second = await aside.call(threading.get_ident)

    assert first == second != threading.get_ident()


async def test_arguments_and_results_come_through(aside):
    assert await aside.call(divmod, 7, 2) == (3, 1)
    assert await aside.call(int, "11", base=2) == 3


async def test_an_error_comes_through(aside):
    with pytest.raises(ZeroDivisionError):
        await aside.call(divmod, 1, 0)
