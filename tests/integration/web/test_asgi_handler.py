"""Requests in the server: one call in a thread, coroutines before the response, lost connections."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextvars import copy_context

import pytest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from theodolite.web import asgi_handler
from theodolite.web.asgi_handler import Background, SingleThreadHandler, close_pool, once, run_in_pool

SCOPE = {"type": "http", "method": "GET", "path": "/x/", "query_string": b"", "headers": [(b"host", b"localhost")]}


class Line:
    """One connection: a request without a body, then silence until the caller hangs up."""

    def __init__(self) -> None:
        self.messages: list[dict[str, object]] = []
        self.hung_up = asyncio.Event()
        self._asked = False

    async def receive(self) -> dict[str, object]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.hung_up.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, object]) -> None:
        self.messages.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(bytes(message.get("body", b"")) for message in self.messages)


@pytest.fixture
def answer(event, monkeypatch) -> Callable[..., object]:
    """Return a function that answers one request by a view, whatever the address."""

    async def answered(line: Line, view: Callable[[HttpRequest], HttpResponseBase]) -> None:
        handler = SingleThreadHandler()
        monkeypatch.setattr(handler, "get_response", view)
        await handler(dict(SCOPE), line.receive, line.send)

    return answered


async def test_a_view_runs_in_a_thread_and_its_coroutine_in_the_loop_before_the_response(answer) -> None:
    line, seen = Line(), []

    async def awaited() -> None:
        seen.append((threading.current_thread() is threading.main_thread(), list(line.messages)))

    def view(_: HttpRequest) -> HttpResponse:
        seen.append((threading.current_thread() is threading.main_thread(), []))
        return once(HttpResponse("so"), awaited)

    await answer(line, view)

    assert seen == [(False, []), (True, [])]
    assert line.body == b"so"


async def test_an_endless_request_is_not_read_completely(answer, monkeypatch) -> None:
    monkeypatch.setattr(asgi_handler, "LARGEST_BODY", 2_000)
    line, n_read = Line(), 0

    async def receive() -> dict[str, object]:
        nonlocal n_read
        n_read += 1
        return {"type": "http.request", "body": b"x" * 999, "more_body": True}

    monkeypatch.setattr(line, "receive", receive)

    await answer(line, lambda _: HttpResponse("seen"))

    assert n_read == 3
    assert line.messages[0]["status"] == 413
    assert b"in parts" in line.body


async def test_a_stream_without_a_listener_is_ended(answer) -> None:
    line, left = Line(), asyncio.Event()

    async def words() -> AsyncIterator[str]:
        try:
            yield "one "
            line.hung_up.set()
            await asyncio.sleep(60)
            yield "two"
        finally:
            left.set()

    await answer(line, lambda _: StreamingHttpResponse(words()))

    assert left.is_set()
    assert line.body == b"one "


async def test_a_stream_is_sent_completely(answer) -> None:
    line = Line()

    async def words() -> AsyncIterator[str]:
        for word in ("one ", "two"):
            yield word

    await answer(line, lambda _: StreamingHttpResponse(words()))

    assert line.body == b"one two"
    assert line.messages[-1] == {"type": "http.response.body"}


async def test_background_work_does_not_inherit_the_context_of_its_request(answer) -> None:
    line, background, known = Line(), Background(), []

    async def work() -> None:
        known.append(len(copy_context()))

    async with background.open():
        await answer(line, lambda _: once(HttpResponse("so"), lambda: background.do(work())))
        await asyncio.sleep(0)

    assert known == [0]


@pytest.mark.usefixtures("event")
async def test_the_threads_of_a_closed_pool_end() -> None:
    thread = await run_in_pool(threading.current_thread)
    close_pool()
    await asyncio.to_thread(thread.join, 60)

    assert not thread.is_alive()
