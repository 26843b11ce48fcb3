"""Requests: middleware, view and template in one pass through a thread pool; delayed responses in the event loop.

Django's own handler changes threads for each piece of middleware, and these changes took most of the
time with fifty simultaneous users. A few threads are enough, since Python runs one of them at a time, and
fewer threads leave more time for the event loop, which streams replies. Threads stay alive, so that a
request does not open its own database connection.

Removal condition (ADR-0116): use Django's own handler for threads once the pool saves less than a tenth of
the CPU time of `benchmarks/bench_requests.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, closing, suppress
from contextvars import Context
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.signals import request_started
from django.db import DatabaseError
from django.http import HttpResponse, HttpResponseBase
from django.urls import set_script_prefix

from theodolite.web.events import bind_request_thread

_LOG = logging.getLogger(__name__)

Message = Mapping[str, Any]

Receive = Callable[[], Awaitable[Message]]

Send = Callable[[Message], Awaitable[None]]


Response = TypeVar("Response", bound=HttpResponseBase)


LARGEST_BODY = 32_000_000
"""Maximum size of a request: the largest upload of any page and its form; bytes."""


class BodyTooLarge(Exception):
    """A request beyond the size limit."""


def once(response: Response, awaited: Callable[[], Awaitable[object]]) -> Response:
    """Return a response that is sent after an action in the server's event loop.

    The thread that made the response does not wait for the action. If the client disconnects
    meanwhile, the action continues. Middleware has processed the response by then.

    Args:
        response: The response.
        awaited: The action; called once, in the event loop. It may fill the response, see `fill`.
    """
    response.awaited = awaited  # type: ignore[attr-defined] # read by the handler alone
    return response


def fill(response: HttpResponse, page: HttpResponse) -> None:
    """Replace the content and the status of a delayed response."""
    response.status_code, response.content = page.status_code, page.content
    response.headers["Content-Length"] = str(len(page.content))


class SingleThreadHandler(ASGIHandler):
    """Django's request handler with one thread hand-over per request."""

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - Django's own signature
        """Chain the middleware for threads."""
        super().load_middleware(is_async=False)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        except BodyTooLarge:
            await self.send_response(_too_large(), send)
            return
        with closing(body):
            response = await run_in_pool(self._answered, scope, body)
            if hasattr(response, "awaited"):
                await response.awaited()
            if response.streaming:
                await self._stream(response, receive, send)
            else:
                await self.send_response(response, send)

    async def read_body(self, receive: Receive) -> Any:
        """Read the request body up to the size limit, which protects the server's disk."""
        n_bytes = 0

        async def bounded() -> Message:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            return message if n_bytes <= LARGEST_BODY else {"type": "http.disconnect"}

        try:
            return await super().read_body(bounded)
        except RequestAborted:
            if n_bytes > LARGEST_BODY:
                raise BodyTooLarge from None
            raise

    def _answered(self, scope: dict[str, Any], body: Any) -> Any:
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, body)
        response: Any = refusal if request is None else self.get_response(request)
        response._handler_class = self.__class__  # noqa: SLF001 - Django uses it to identify the handler
        if not response.streaming:
            response.close()
        return response

    async def _stream(self, response: Any, receive: Receive, send: Send) -> None:
        """Send the response until it ends or the client disconnects."""
        sending = asyncio.create_task(self.send_response(response, send))
        leaving = asyncio.create_task(self.listen_for_disconnect(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sending.cancel()
            leaving.cancel()
            sent, _ = await asyncio.gather(sending, leaving, return_exceptions=True)
            await run_in_pool(response.close)
        if isinstance(sent, Exception):
            raise sent


Companion = Callable[[], AbstractAsyncContextManager[object]]
"""Makes a context manager that is open from the first request to the last, in the server's event loop."""


def asgi_application(companions: Sequence[Companion]) -> Callable[[dict[str, Any], Receive, Send], Awaitable[None]]:
    """Return the ASGI application of the configured addresses; Django itself handles only requests.

    Args:
        companions: Context managers opened in this order when the server starts.
    """
    pages = SingleThreadHandler()

    async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(companions, receive, send)
        else:
            await pages(scope, receive, send)

    return application


async def _live(companions: Sequence[Companion], receive: Receive, send: Send) -> None:
    await receive()  # startup
    async with AsyncExitStack() as stack:
        for companion in companions:
            await stack.enter_async_context(companion())
        await send({"type": "lifespan.startup.complete"})
        await receive()  # shutdown
    await send({"type": "lifespan.shutdown.complete"})


def _too_large() -> HttpResponse:
    """Return the message for the client; the connection then ends, since the rest of the request is discarded."""
    most = f"{LARGEST_BODY // 1_000_000} MB"
    message = f"413: the request is larger than the limit of {most}. Send the file in parts.\n"
    headers = {"Connection": "close", "X-Content-Type-Options": "nosniff"}
    return HttpResponse(message, status=413, content_type="text/plain; charset=utf-8", headers=headers)


Arguments = ParamSpec("Arguments")


Result = TypeVar("Result")


AT_ONCE = 8
"""Maximum number of concurrent requests; count. Streaming a reply takes no thread."""


async def run_in_pool(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Return the result of a function that queries the database or renders a page."""
    return await sync_to_async(function, thread_sensitive=False, executor=_pool())(*args, **kwargs)


@asynccontextmanager
async def open_pool() -> AsyncIterator[None]:
    """Shut the pool down when the server ends."""
    try:
        yield
    finally:
        close_pool()


def close_pool() -> None:
    """Shut the pool down; the next request opens a new one, whose threads use the database of that time."""
    if _pool.cache_info().currsize:
        _pool().shutdown(wait=False)
        _pool.cache_clear()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="page", initializer=bind_request_thread)


@asynccontextmanager
async def repeating(work: Callable[[], Awaitable[object]], every_s: float) -> AsyncIterator[None]:
    """Repeat a task while the server runs.

    A failure of the database is logged and does not end the repetition.

    Args:
        work: The task; called in the server's event loop.
        every_s: Pause before each call; seconds.
    """
    task = asyncio.create_task(_repeat(work, every_s))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _repeat(work: Callable[[], Awaitable[object]], every_s: float) -> None:
    while True:
        await asyncio.sleep(every_s)
        try:
            await work()
        except DatabaseError as error:
            _LOG.warning("repeated work of the server failed: %s", error)


@dataclass(slots=True)
class Background:
    """Tasks that run as long as the server does; shutdown cancels them.

    Attributes:
        tasks: The task group; None while no server runs.
        running: Tasks in progress.
    """

    tasks: asyncio.TaskGroup | None = None
    running: set[asyncio.Task[None]] = field(default_factory=set)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Accept tasks while the context is open."""
        async with asyncio.TaskGroup() as tasks:
            self.tasks = tasks
            try:
                yield
            finally:
                self.tasks = None
                for task in self.running:
                    task.cancel()

    async def do(self, work: Coroutine[object, object, None]) -> None:
        """Start a task; without a running server, run it to the end."""
        if self.tasks is None:
            await work
            return
        task = self.tasks.create_task(work, context=Context())  # it runs outside the request's thread
        self.running.add(task)
        task.add_done_callback(self.running.discard)
