"""Limits of the server's connections: size and duration of requests, slow readers, and number of connections.

uvicorn keeps a request's head in memory, however long it grows, and waits forever for the rest of a
request and for a client that does not read its answer. A proxy in front bounds all of this; a server
on a local network has no proxy.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from enum import Enum
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

LONGEST_HEAD = 64 * 1024
"""Maximum size of a request's line and headers, and of the framing of its body; bytes."""

HEAD_S = 10.0
"""Maximum time for a whole head, from the first byte or the start of the connection; seconds."""

SILENCE_S = 60.0
"""Maximum time between two parts of a body; seconds."""

BODY_S = 600.0
"""Maximum time for a whole body; seconds. 32 MB take 320 s at 100 KB/s."""

READING_S = 60.0
"""Time in which a client must take `SLOWEST_READING` bytes of an answer, or the rest of it; seconds."""

SLOWEST_READING = 64 * 1024
"""Bytes of an answer that a client must take in `READING_S`: about 1 KB a second."""

STALLED_S = 5.0
"""Time after which a client that reads nothing may be replaced by a new one on a full server; seconds."""

MOST_CONNECTIONS = 2_000
"""Maximum number of open connections, if the system offers enough file descriptors; count."""

_DESCRIPTORS_KEPT = 200
_FEWEST_CONNECTIONS = 100
_UNSENT_IN_SYSTEM = 128 * 1024
_NOTSENT_LOWAT = getattr(socket, "TCP_NOTSENT_LOWAT", {"linux": 25, "darwin": 0x201}.get(sys.platform))
"""Socket option that limits the buffered part of a response to what can soon be sent; named in Python 3.12."""


class _Phase(Enum):
    """Event that a connection waits for."""

    HEAD = "the head of a request"
    BODY = "the rest of a body"
    IDLE = "nothing from the client"


def most_connections() -> int:
    """Return the maximum number of connections that leaves file descriptors for other work."""
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
        """Start with an empty head."""
        super().__init__(*args, **keywords)
        self._phase = _Phase.HEAD
        self._unparsed = 0  # bytes since the parser last handed over a part of a body, or the head started
        self._fields = 0  # bytes of the head that the parser has handed over
        self._refused = False
        self._body_began = self._received_at = 0.0
        self._alarm: asyncio.TimerHandle | None = None
        self._reading_alarm: asyncio.TimerHandle | None = None
        self._blocked_since = float("inf")

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection if there is room, or in place of the one that has waited longest for its head."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so `pause_writing` means that data are still unsent
        _keep_little_in_system(transport)
        self._alarm = self.loop.call_later(HEAD_S, self._too_late)
        if len(self.connections) <= most_connections():
            return
        if (other := self._least_useful()) is None:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            other.drop()

    def _least_useful(self) -> BoundedProtocol | None:
        """Return the connection with the longest wait for its head, else the one with the longest stall."""
        others = [other for other in self.connections if isinstance(other, BoundedProtocol) and other is not self]
        if waiting := [other for other in others if other.waits_for_head]:
            return min(waiting, key=lambda other: other.alarm_at)
        longest = min(others, key=lambda other: other.blocked_since, default=None)
        if longest is None or self.loop.time() - longest.blocked_since < STALLED_S:
            return None
        return longest

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._calm()
        self._forget_reading()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Watch a client that has not read everything that was sent."""
        super().pause_writing()
        self._blocked_since = self.loop.time()
        self._watch_reading()

    def resume_writing(self) -> None:
        """Stop watching a client that has read everything."""
        self._forget_reading()
        super().resume_writing()

    @property
    def waits_for_head(self) -> bool:
        """Whether the head is incomplete and no answer is in progress."""
        return self._phase is _Phase.HEAD and not self._is_answering()

    @property
    def alarm_at(self) -> float:
        """Time at which the connection is closed; seconds of the loop's clock."""
        return self._alarm.when() if self._alarm is not None else float("inf")

    @property
    def blocked_since(self) -> float:
        """Time since which the client has not read everything; seconds of the loop's clock."""
        return self._blocked_since

    def drop(self) -> None:
        """Close at once, without sending the rest."""
        self._calm()
        self._forget_reading()
        self.connections.discard(self)
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request, and reject parts that are too large."""
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
        self._received_at = self.loop.time()

    def on_message_begin(self) -> None:
        """Wait for a head, also for one that starts in the part in which a body has ended."""
        if self._phase is _Phase.IDLE:
            self._enter(_Phase.HEAD)
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Count the size of a part of the address."""
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
        """Wait for nothing until the next request starts."""
        if not self._refused:
            self._enter(_Phase.IDLE)
            super().on_message_complete()

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request, despite uvicorn's types
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

    def _watch_reading(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        self._reading_alarm = self.loop.call_later(READING_S, self._look_at_reading, unsent)

    def _forget_reading(self) -> None:
        self._blocked_since = float("inf")
        if self._reading_alarm is not None:
            self._reading_alarm.cancel()
            self._reading_alarm = None

    def _look_at_reading(self, unsent_before: int) -> None:
        """Disconnect a client that reads a response too slowly; nothing is added while a part is unread."""
        if unsent_before - self.transport.get_write_buffer_size() < SLOWEST_READING:
            self.drop()
        else:
            self._watch_reading()

    def _body_is_late(self, received_before: float) -> None:
        """Drop a body that has stalled or takes too long; the server's own pauses do not count."""
        now = self.loop.time()
        is_silent = self._received_at <= received_before and not self.flow.read_paused
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
        """Send why a request is not answered, unless another answer is in progress, and close."""
        self._refused = True
        self._calm()
        if self._is_answering():
            self.drop()
            return
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        self.transport.write(head.encode("ascii"))
        self.transport.close()


def _keep_little_in_system(transport: asyncio.Transport) -> None:
    """Make the system buffer responses in small parts, if supported, so that slow clients show progress."""
    connection = transport.get_extra_info("socket")
    if connection is not None and _NOTSENT_LOWAT is not None:
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, _NOTSENT_LOWAT, _UNSENT_IN_SYSTEM)
