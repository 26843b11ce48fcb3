"""Limits of the server's connections: size and duration of requests, and how many connections are open.

uvicorn keeps a request's head in memory however long it grows, and waits for the rest of a request
for ever. A proxy in front bounds both; a server that listens in a room has none.
"""

from __future__ import annotations

import asyncio
from enum import Enum
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

LONGEST_HEAD = 64 * 1024
"""Bytes of a request's line and headers at most, and of what frames a body beside its content."""

HEAD_S = 10.0
"""Time for a whole head, from the first byte or from the connection on; seconds."""

SILENCE_S = 60.0
"""Time between two parts of a body at most; seconds."""

BODY_S = 600.0
"""Time for a whole body; seconds. 32 MB take 320 of them at 100 KB a second."""

MOST_CONNECTIONS = 2_000
"""Open connections at most, where the system offers as many file descriptors; count."""

_DESCRIPTORS_KEPT = 200
_FEWEST_CONNECTIONS = 100


class _Phase(Enum):
    """What a connection waits for."""

    HEAD = "the head of a request"
    BODY = "the rest of a body"
    IDLE = "nothing from the client"


def most_connections() -> int:
    """Return how many connections may be open, so that file descriptors for other work remain."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST_CONNECTIONS
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors in (resource.RLIM_INFINITY, -1):
        return MOST_CONNECTIONS
    return max(_FEWEST_CONNECTIONS, min(MOST_CONNECTIONS, descriptors - _DESCRIPTORS_KEPT))


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which refuses requests that are too large or too slow."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        """Begin with an empty head."""
        super().__init__(*args, **keywords)
        self._phase = _Phase.HEAD
        self._unparsed = 0  # bytes that came since the parser last handed over a part of a body, or the head began
        self._fields = 0  # bytes of the head that the parser has handed over
        self._refused = False
        self._body_began = self._heard = 0.0
        self._alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection if there is room, or in place of the one that has waited longest for its head."""
        super().connection_made(transport)
        self._alarm = self.loop.call_later(HEAD_S, self._too_late)
        if len(self.connections) <= most_connections():
            return
        waiting = [other for other in self.connections if isinstance(other, BoundedProtocol) and other.waits_for_head]
        oldest = min((other for other in waiting if other is not self), key=lambda other: other.alarm_at, default=None)
        if oldest is None:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            oldest.drop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._calm()
        super().connection_lost(exc)

    @property
    def waits_for_head(self) -> bool:
        """Whether no whole head has come yet and nothing is being answered."""
        return self._phase is _Phase.HEAD and not self._is_answering()

    @property
    def alarm_at(self) -> float:
        """When the connection is given up; seconds of the loop's clock."""
        return self._alarm.when() if self._alarm is not None else float("inf")

    def drop(self) -> None:
        """Close at once, whatever has not been sent yet."""
        self._calm()
        self.connections.discard(self)
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request, and refuse what is too large."""
        if self._refused:
            return
        if self._phase is _Phase.IDLE:
            self._enter(_Phase.HEAD)
        self._unparsed += len(data)
        super().data_received(data)
        if self.transport.is_closing() or self._refused:
            return
        if self._phase is not _Phase.IDLE and self._unparsed > LONGEST_HEAD:
            is_head = self._phase is _Phase.HEAD
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE if is_head else HTTPStatus.BAD_REQUEST)
        elif self._phase is _Phase.BODY and self._alarm is None:
            self._body_began = self.loop.time()
            self._alarm = self.loop.call_later(SILENCE_S, self._body_is_late, self._body_began)
        self._heard = self.loop.time()

    def on_message_begin(self) -> None:
        """Wait for a head, also for one that begins in the part in which a body has ended."""
        if self._phase is _Phase.IDLE:
            self._enter(_Phase.HEAD)
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Count a part of the address."""
        self._fields += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header."""
        self._fields += len(name) + len(value) + len(b": \r\n")
        if self._fields <= LONGEST_HEAD:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Answer the request unless its head is too long."""
        if self._fields > LONGEST_HEAD:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        self._enter(_Phase.BODY)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Hand a part of a body on."""
        if not self._refused:
            self._unparsed = 0
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Wait for nothing until the next request begins."""
        if not self._refused:
            self._enter(_Phase.IDLE)
            super().on_message_complete()

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request, whatever uvicorn's types say
        return cycle is not None and not cycle.response_complete

    def _enter(self, phase: _Phase) -> None:
        self._calm()
        self._phase, self._unparsed = phase, 0
        if phase is _Phase.HEAD:
            self._fields = 0
            self._alarm = self.loop.call_later(HEAD_S, self._too_late)

    def _calm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _body_is_late(self, heard_before: float) -> None:
        """Give a body up that has stopped to come, or that takes too long; the server's own pauses do not count."""
        now = self.loop.time()
        is_silent = self._heard <= heard_before and not self.flow.read_paused
        if is_silent or now - self._body_began >= BODY_S:
            self._too_late()
        else:
            self._alarm = self.loop.call_later(SILENCE_S, self._body_is_late, now)

    def _too_late(self) -> None:
        self._alarm = None
        if self._unparsed and self.waits_for_head:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        else:
            self.drop()

    def _refuse(self, status: HTTPStatus) -> None:
        """Say why a request is not answered, where nothing else is being said, and close."""
        self._refused = True
        self._calm()
        if self._is_answering():
            self.drop()
            return
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        self.transport.write(head.encode("ascii"))
        self.transport.close()
