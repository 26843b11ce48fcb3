"""Answering requests: middleware, view and template in one trip to a thread; words that come later in the event loop.

Django's own handler goes to a thread and back for each piece of middleware. With fifty
people in the room these trips, not the work, were what everybody waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from typing import Any, TypeVar

from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.signals import request_started
from django.http import HttpResponse, HttpResponseBase
from django.urls import set_script_prefix

from theodolite.web.thread_pool import by_crew

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

Response = TypeVar("Response", bound=HttpResponseBase)

LARGEST_BODY = 32_000_000
"""Size of a request at most: the largest upload of any page and its form; bytes."""


class BodyTooLarge(Exception):
    """A request that goes on past what is read at most."""


def once(response: Response, awaited: Callable[[], Awaitable[object]]) -> Response:
    """Return a response that is sent once something was done in the server's event loop.

    The thread that made the response does not wait for it. Who hangs up meanwhile
    does not keep it from being done. What middleware does to a response is done by then.

    Args:
        response: The response.
        awaited: What is done; called once, in the event loop. It may fill the response, see `fill`.
    """
    response.awaited = awaited  # type: ignore[attr-defined] # read by the handler alone
    return response


def fill(response: HttpResponse, page: HttpResponse) -> None:
    """Replace the content and the status of a delayed response."""
    response.status_code, response.content = page.status_code, page.content
    response.headers["Content-Length"] = str(len(page.content))


class OneTrip(ASGIHandler):
    """Django's handler for requests, with one trip to a thread each."""

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
            response = await by_crew(self._answered, scope, body)
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
        response._handler_class = self.__class__  # noqa: SLF001 - Django tells by it who was asked
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
            await by_crew(response.close)
        if isinstance(sent, Exception):
            raise sent


def _too_large() -> HttpResponse:
    """Return what the sender reads: the connection ends with it, since the rest of the request is not wanted."""
    most = f"{LARGEST_BODY // 1_000_000} MB"
    message = f"413: the request is larger than the limit of {most}. Send the file in parts.\n"
    headers = {"Connection": "close", "X-Content-Type-Options": "nosniff"}
    return HttpResponse(message, status=413, content_type="text/plain; charset=utf-8", headers=headers)
