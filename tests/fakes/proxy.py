"""An HTTP proxy: passes calls to any host on to this machine, by CONNECT or in absolute form."""

from __future__ import annotations

import asyncio
import base64
import threading
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit


class LoopbackProxy:
    """The proxy in a thread of this process; every name leads to 127.0.0.1.

    Attributes:
        requests: The request lines that it got.
        headers: Their headers, by name in small letters.
    """

    def __init__(self, *, password: str = "", status: int = 0) -> None:
        """Serve nobody yet.

        Args:
            password: `user:password` that it demands; empty for none.
            status: HTTP status by which it refuses every call; 0 to pass them on.
        """
        self._password, self._status = password, status
        self.requests: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.port = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10), "the proxy did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._meet, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")
            named = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            self.requests.append(first)
            self.headers.append(named)
            await self._pass_on(first, lines, named, reader, writer)
        writer.transport.abort()

    async def _pass_on(
        self,
        first: str,
        lines: list[str],
        named: dict[str, str],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        status = self._status or self._refusal(named.get("proxy-authorization", ""))
        if status:
            writer.write(f"HTTP/1.1 {status} Refused\r\nContent-Length: 0\r\n\r\n".encode())
            await writer.drain()
            return
        method, target, version = first.split(" ")
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", parts.port or 80)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            own = [line for line in lines if not line.lower().startswith("proxy-")]
            path = f"{parts.path}?{parts.query}" if parts.query else parts.path
            there_writer.write("\r\n".join([f"{method} {path} {version}", *own]).encode("latin-1"))
        try:
            await asyncio.gather(_pump(reader, there_writer), _pump(there_reader, writer))
        finally:
            there_writer.transport.abort()

    def _refusal(self, authorization: str) -> int:
        demanded = "Basic " + base64.b64encode(self._password.encode()).decode()
        return 407 if self._password and authorization != demanded else 0


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(2**16):
        sink.write(data)
        await sink.drain()
    sink.write_eof() if sink.can_write_eof() else None
