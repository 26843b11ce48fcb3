"""A pool of HTTP connections: requests go out over whichever is free, and answers come back within their time."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import cast

from aiohappyeyeballs import AddrInfoType, start_connection

from theodolite.gateways.http.connection import Hear, HttpAnswer, HttpConnection
from theodolite.gateways.trouble import NoConnection
from theodolite.gateways.web_address import WebAddress, web_address

KEPT_IDLE_S = 15.0
"""How long a connection that nobody uses is used again; seconds."""

NAMES_KEPT_S = 10.0
"""How long the addresses of a name are remembered; seconds."""

_STAGGER_S = 0.25
"""After which time without an answer the next address of a name is tried as well; seconds."""

_HEADS_KEPT = 64
_AGENT = "theodolite"
_LINE_ENDS = re.compile(r"[\r\n\0]")

Found = list[AddrInfoType]
"""What the machine's resolver says of a name."""

LookUp = Callable[[str, int], Awaitable[Found]]
"""Finds the addresses of a host."""

Site = tuple[str, str, int]
"""Scheme, host and port."""


class HttpPool:
    """Connections to a few sites, for one event loop."""

    def __init__(self, headers: Mapping[str, str], *, look_up: LookUp | None = None) -> None:
        """Open nothing yet.

        Args:
            headers: Headers of every request.
            look_up: Finds the addresses of a host; the machine's own resolver unless given.
        """
        self.loop = asyncio.get_running_loop()
        self._headers = {"Accept": "*/*", "Accept-Encoding": "gzip, deflate", "User-Agent": _AGENT, **headers}
        self._look_up = look_up or look_up_host
        self._idle: dict[Site, deque[HttpConnection]] = {}
        self._open: set[HttpConnection] = set()
        self._names: dict[Site, tuple[float, asyncio.Task[Found]]] = {}
        self._heads: dict[tuple[str, str, tuple[tuple[str, str], ...]], bytes] = {}

    async def request(
        self,
        method: str,
        url: str,
        *,
        body: bytes | None,
        headers: Mapping[str, str],
        timeout_s: float,
        connect_s: float,
        hear: Hear | None = None,
    ) -> HttpAnswer:
        """Send one request and return its answer.

        Args:
            method: HTTP method.
            url: Address.
            body: Bytes; None for no body.
            headers: Headers of this request; they take the place of the pool's own.
            timeout_s: For everything, connecting included; seconds.
            connect_s: For connecting; seconds.
            hear: Receives the bytes of a good answer as they come.

        Raises:
            NoConnection: If no connection could be made.
            TimeoutError: If the answer did not come in time.
            OSError: If the connection broke.
            ValueError: If the address or the answer is not HTTP.
        """
        address = web_address(url)
        message = self._message(method, address, body, headers)
        due_s = self.loop.time() + timeout_s
        connection = self._free(address.site) or await self._connect(address, min(connect_s, timeout_s))
        answer = connection.ask(message, hear)
        alarm = self.loop.call_at(due_s, connection.give_up, TimeoutError())
        try:
            found = await answer
        except BaseException:
            connection.give_up()
            raise
        finally:
            alarm.cancel()
        if connection.is_open:
            connection.idle_since_s = self.loop.time()
            self._idle.setdefault(address.site, deque()).append(connection)
        return found

    async def close(self) -> None:
        """Close all connections."""
        for connection in tuple(self._open):
            connection.give_up()
        for _, task in self._names.values():
            task.cancel()
        self._names.clear()
        await asyncio.sleep(0)  # what was closed is told so

    def _free(self, site: Site) -> HttpConnection | None:
        """Return an open connection: the one that was used last, so that those which nobody needs may end."""
        idle = self._idle.get(site)
        while idle:
            connection = idle.pop()
            if connection.is_open:
                if self.loop.time() - connection.idle_since_s <= KEPT_IDLE_S:
                    return connection
                connection.give_up()
        return None

    async def _connect(self, address: WebAddress, within_s: float) -> HttpConnection:
        try:
            async with asyncio.timeout(within_s):
                found = await self._addresses(address)
                plain = await start_connection(found, happy_eyeballs_delay=_STAGGER_S, interleave=1)
                return await self._greet(address, plain)
        except OSError as error:  # TLS errors and timeouts are such, too
            raise NoConnection(error) from None

    async def _greet(self, address: WebAddress, plain: socket.socket) -> HttpConnection:
        connection = HttpConnection(self.loop, lost=self._open.discard)
        trust, name = (_trusting(), address.host) if address.is_secure else (None, None)
        try:
            await self.loop.create_connection(lambda: connection, sock=plain, ssl=trust, server_hostname=name)
        except BaseException:
            plain.close()
            raise
        self._open.add(connection)
        return connection

    async def _addresses(self, address: WebAddress) -> Found:
        """Look a name up, once for all who ask at the same time."""
        known = self._names.get(address.site)
        if known is None or self.loop.time() > known[0] or (known[1].done() and _failed(known[1])):
            task = self.loop.create_task(self._find(address.host, address.port))
            known = self._names[address.site] = self.loop.time() + NAMES_KEPT_S, task
        return await asyncio.shield(known[1])

    async def _find(self, host: str, port: int) -> Found:
        return await self._look_up(host, port)

    def _message(self, method: str, address: WebAddress, body: bytes | None, headers: Mapping[str, str]) -> bytes:
        kind = method, address.url, tuple(headers.items())
        head = self._heads.get(kind)
        if head is None:
            if len(self._heads) >= _HEADS_KEPT:
                self._heads.clear()
            head = self._heads[kind] = _head(method, address, {**self._headers, **headers})
        if body is None:
            return head + (b"\r\n" if method in _BODILESS else b"Content-Length: 0\r\n\r\n")
        return b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body)


_OURS = frozenset({"host", "content-length", "transfer-encoding"})
"""Headers that follow from the request itself, whatever a study says."""

_BODILESS = frozenset({"GET", "HEAD", "DELETE", "OPTIONS", "TRACE"})


def _head(method: str, address: WebAddress, headers: Mapping[str, str]) -> bytes:
    """Return a request up to where its length is told.

    Raises:
        ValueError: If a header holds what would end it.
    """
    named = {name.lower(): (name, value) for name, value in headers.items()}
    lines = [f"{method} {address.target} HTTP/1.1", f"Host: {address.authority}"]
    lines += [f"{name}: {value}" for key, (name, value) in named.items() if key not in _OURS]
    if any(_LINE_ENDS.search(line) for line in lines):
        message = "a header holds a line break"
        raise ValueError(message)
    return "".join(f"{line}\r\n" for line in lines).encode("utf-8", "surrogateescape")


async def look_up_host(host: str, port: int) -> Found:
    """Return what the machine's resolver says of a name; numbers are addresses by themselves.

    Raises:
        OSError: If it knows no such name.
    """
    return cast("Found", await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM))


@cache
def _trusting() -> ssl.SSLContext:
    """Return what certificates are checked by: read once, since that takes longer than many calls."""
    return ssl.create_default_context()


def _failed(task: asyncio.Task[Found]) -> bool:
    return task.cancelled() or task.exception() is not None
