"""Twelve simultaneous sends of a person are one turn."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.tester import HttpTester
from tests.integration.web.conftest import demo_server

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

TIMES = 12
TURN = '<article class="turn"'


@pytest.fixture
def tester(tmp_path, seeded_copy):
    with demo_server(seeded_copy(tmp_path)) as address:
        tester = HttpTester(address)
        tester.enter("field tester")
        tester.agree()
        yield tester


def twin_of(tester):
    """Return the same person in another window: the same cookies and the same page."""
    twin = HttpTester(tester.base)
    for cookie in tester.jar:
        twin.jar.set_cookie(cookie)
    twin.page = tester.page
    return twin


def test_concurrent_identical_prompts_are_one_turn(tester):
    chat, start = tester.page.url, threading.Barrier(TIMES)

    def press(twin):
        start.wait()
        return twin.send("/say/", text="Where does it play?").status

    with ThreadPoolExecutor(TIMES) as room:
        statuses = list(room.map(press, [twin_of(tester) for _ in range(TIMES)]))

    page = tester.get(chat).text
    assert page.count("Where does it play?") == 1
    assert page.count(TURN) == 1
    assert 200 in statuses
    assert set(statuses) <= {200, 422}


def test_concurrent_different_prompts_are_one_turn(tester):
    """The application processes one prompt at a time; the others are returned to be sent again."""
    chat, start = tester.page.url, threading.Barrier(TIMES)

    def press(number):
        twin = twin_of(tester)
        start.wait()
        return twin.send("/say/", text=f"Question {number}?").status

    with ThreadPoolExecutor(TIMES) as room:
        statuses = list(room.map(press, range(TIMES)))

    assert tester.get(chat).text.count(TURN) == statuses.count(200) == 1
    assert set(statuses) <= {200, 422}
