"""HTTP transport: one request, one response, over aiohttp, within bounds of size and time.

aiohttp implements connections, HTTP, TLS and proxies. This module sets the bounds
that it leaves open (size of a response, its encodings, connections on which the
server has sent unrequested data) and translates its exceptions; see ADR-0073.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from http.client import PROXY_AUTHENTICATION_REQUIRED
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from theodolite.domain.network import HEADER_NAME
from theodolite.gateways.errors import (
    LARGEST_ANSWER,
    BrokenOff,
    CutShort,
    NoConnection,
    NotHttp,
    PackedOtherwise,
    PrivateAddress,
    ProxyRefused,
    TooLarge,
)
from theodolite.gateways.proxies import CallRoute, HttpProxy, NoAddress, WebAddress, is_public, web_address

IDLE_S = 15.0
"""Time that an idle connection stays open for the next call; seconds."""

DNS_CACHE_S = 10
"""Time that resolved addresses are cached; seconds."""

_MAX_HEADER = 64 * 2**10
"""Maximum size of one header; bytes."""

_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_UNPACKED = frozenset({"", "identity"})
_SKIPPED = frozenset({"host", "content-length", "transfer-encoding"})
"""Headers that follow from the request itself and that a study cannot set."""

_REPEATED_BY_AIOHTTP = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
"""Methods that aiohttp itself resends when a connection breaks."""

_PROBE_BYTES = 2**10
_ANY_ZLIB = 47
"""Window size that makes zlib detect which of its two formats it reads."""

OnPiece = Callable[[bytes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RawResponse:
    """An HTTP response of any status, read to its end.

    Attributes:
        status: HTTP status.
        headers: Name in small letters to value, the last of each.
        body: Its bytes, unpacked.
    """

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class _Unasked(aiohttp.ClientError):
    """The server sent data before the request, which cannot be separated from the answer."""


class _BrokenConnection(aiohttp.ClientError):
    """A connection broke; a class for which aiohttp makes no retry of its own."""


class _Response(aiohttp.ClientResponse):
    """A response that is only read from a connection without data before the request."""

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        """Read status and headers."""
        protocol = connection.protocol
        if protocol is not None and protocol.exception() is None and protocol.should_close:
            raise _Unasked
        return await super().start(connection)


async def _once(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Prevent aiohttp from resending a request: retries are decided where attempts are counted."""
    try:
        return await send(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise _BrokenConnection from error


class HttpTransport:
    """Connections to a few hosts; belongs to one event loop."""

    def __init__(
        self, headers: Mapping[str, str], *, route: CallRoute | None = None, resolver: AbstractResolver | None = None
    ) -> None:
        """Open nothing yet.

        Args:
            headers: Headers of every request.
            route: Network route of calls; default: direct, with the system's authorities.
            resolver: Resolves host names; default: the machine's own resolver.
        """
        self._route = route or CallRoute()
        self._headers = {"Accept": "*/*", "Accept-Encoding": "gzip, deflate", "User-Agent": "theodolite", **headers}
        self._prepared: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                keepalive_timeout=IDLE_S,
                ttl_dns_cache=DNS_CACHE_S,
                resolver=resolver,
                ssl=self._route.tls or _system_tls(),
                socket_factory=_public_socket if self._route.public_only else None,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            response_class=_Response,
            auto_decompress=False,
            max_line_size=_MAX_HEADER,
            max_field_size=_MAX_HEADER,
        )

    async def send(
        self,
        method: str,
        url: str,
        *,
        body: bytes | None,
        headers: Mapping[str, str],
        timeout_s: float,
        connect_s: float,
        on_piece: OnPiece | None = None,
    ) -> RawResponse:
        """Send one request and return its response with any status; redirects are not followed.

        Args:
            method: HTTP method.
            url: Address.
            body: Bytes; None for no body.
            headers: Headers of this request; they replace those of the transport.
            timeout_s: For everything, connecting included; seconds.
            connect_s: For connecting; seconds.
            on_piece: Receives the unpacked bytes of a response with a status of 2xx as they arrive.

        Raises:
            NoConnection: If no connection could be established.
            TimeoutError: If the response was too slow.
            OSError: If the connection broke.
            ValueError: If the address or the response is not HTTP.
        """
        address = web_address(url)
        proxy = self._route.proxy_for(address)
        options = self._options(address, headers, proxy)
        if method in _REPEATED_BY_AIOHTTP:
            options["middlewares"] = (_once,)
        try:
            async with asyncio.timeout(timeout_s):
                response = await self._session.request(
                    method,
                    _target(address.url),
                    data=body,
                    allow_redirects=False,
                    timeout=_timeout(min(connect_s, timeout_s)),
                    **options,
                )
                try:
                    if proxy is not None and response.status == PROXY_AUTHENTICATION_REQUIRED:
                        raise ProxyRefused(response.status, proxy=proxy.host)
                    return await _read(response, on_piece)
                finally:
                    response.close()  # has no effect on a completely read response
        except aiohttp.ClientError as error:
            raise _translated(error, proxy) from None

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    def _options(self, address: WebAddress, headers: Mapping[str, str], proxy: HttpProxy | None) -> dict[str, Any]:
        """Return the options of a request besides its body: headers, and the proxy if there is one."""
        if proxy is None:
            return {"headers": self._complete(headers)}
        if address.is_secure:
            return {"headers": self._complete(headers), "proxy": proxy.url, "proxy_headers": dict(proxy.headers)}
        return {"headers": self._complete({**headers, **proxy.headers}), "proxy": proxy.url}

    def _complete(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return all headers of a request; most requests of an endpoint have the same."""
        key = tuple(headers.items())
        result = self._prepared.get(key)
        if result is None:
            if len(self._prepared) >= _PREPARED:
                self._prepared.clear()
            named = {name.lower(): (name, value) for name, value in {**self._headers, **headers}.items()}
            stored = ((name, value) for lower, (name, value) in named.items() if lower not in _SKIPPED)
            result = self._prepared[key] = dict(stored)
            bad = next((name for name in result if not HEADER_NAME.fullmatch(name)), None)
            if bad is not None:
                del self._prepared[key]
                message = f"expected the name of a header, e.g. `X-Api-Key`; got {bad!r}"
                raise ValueError(message)
            if any(_LINE_ENDS.search(text) for text in result.values()):
                del self._prepared[key]
                message = "a header holds a line break"
                raise ValueError(message)
        return result


_PREPARED = 64
_LINE_ENDS = re.compile(r"[\r\n\0]")


async def _read(response: aiohttp.ClientResponse, on_piece: OnPiece | None) -> RawResponse:
    """Read a response to its end, unless it exceeds the size limit."""
    status, headers = response.status, {name.lower(): value for name, value in response.headers.items()}
    unpacking = _unpacking_of(status, headers)
    if status >= 300:
        on_piece = None
    pieces: list[bytes] = []
    n_raw = n_body = 0
    async for data in response.content.iter_any():
        piece = data if unpacking is None else unpacking.feed(data)
        n_raw, n_body = n_raw + len(data), n_body + len(piece)
        if n_body > LARGEST_ANSWER or n_raw > LARGEST_ANSWER:
            raise TooLarge
        pieces.append(piece)
        if piece and on_piece is not None:
            on_piece(piece)
    if unpacking is not None:
        unpacking.end()
    return RawResponse(status=status, headers=headers, body=pieces[0] if len(pieces) == 1 else b"".join(pieces))


def _unpacking_of(status: int, headers: Mapping[str, str]) -> _Unpacking | None:
    """Return the decompressor of a body; None if it is not compressed. Refuses bodies that headers rule out."""
    if status < 200:  # an unrequested upgrade
        raise NotHttp
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > LARGEST_ANSWER:
        raise TooLarge
    packing = headers.get("content-encoding", "").strip().lower()
    if packing in _UNPACKED:
        return None
    if packing not in _PACKED:
        raise PackedOtherwise
    return _Unpacking()


class _Unpacking:
    """Unpacks a body piece by piece, within the size limit of a response.

    aiohttp's own unpacking accepts a truncated gzip as complete.
    """

    def __init__(self) -> None:
        self._unpacker = zlib.decompressobj(_ANY_ZLIB)
        self._before: bytes | None = b""

    def feed(self, data: bytes) -> bytes:
        """Return the events in some more bytes.

        Raises:
            CutShort: If they are not compressed, or data follow after the end.
        """
        if self._before is not None:
            self._before += data
        try:
            plain = self._unpacker.decompress(data, LARGEST_ANSWER + 1)
        except zlib.error:
            plain = self._without_wrapping()
        if self._unpacker.unused_data:
            raise CutShort
        if plain or (self._before and len(self._before) > _PROBE_BYTES):
            self._before = None
        return plain

    def _without_wrapping(self) -> bytes:
        """Start again without the zlib header, which some servers omit from `deflate`."""
        before, self._before = self._before, None
        self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            return self._unpacker.decompress(before or b"", LARGEST_ANSWER + 1)
        except zlib.error:
            raise CutShort from None

    def end(self) -> None:
        """Check that the body was complete, or empty.

        Raises:
            CutShort: If bytes are missing.
        """
        if self._before != b"" and not self._unpacker.eof:
            raise CutShort


@lru_cache(maxsize=256)
def _target(url: str) -> URL:
    address = web_address(url)
    return URL(f"{address.scheme}://{address.authority}{address.target}", encoded=True)


@lru_cache(maxsize=64)
def _timeout(connect_s: float) -> aiohttp.ClientTimeout:
    """Return aiohttp's bounds; the time for everything is ours."""
    return aiohttp.ClientTimeout(total=None, connect=connect_s, ceil_threshold=float("inf"))


@lru_cache(maxsize=1)
def _system_tls() -> ssl.SSLContext:
    """Return the trusted certificates: read once, since that takes longer than many calls."""
    return ssl.create_default_context()


def _public_socket(found: Any) -> socket.socket:
    """Return a socket for one address of a host, checked at the connection because names may change.

    Raises:
        PrivateAddress: If the address does not belong to the public Internet.
    """
    family, kind, protocol, _, address = found
    if not is_public(str(address[0])):
        raise PrivateAddress
    return socket.socket(family, kind, protocol)


def _translated(error: aiohttp.ClientError, proxy: HttpProxy | None) -> Exception:
    """Return our error for an exception of aiohttp; it is not chained, since it may contain the key."""
    match error:
        case aiohttp.ClientHttpProxyError():
            return ProxyRefused(error.status, proxy=proxy.host if proxy is not None else "")
        case aiohttp.ClientConnectorCertificateError():
            reason: OSError = error.certificate_error  # type: ignore[assignment]
        case aiohttp.ClientConnectorError():
            reason = error.os_error
        case aiohttp.ConnectionTimeoutError():
            reason = TimeoutError()
        case _:
            return _translated_later(error)
    through = proxy.host if proxy is not None and isinstance(error, aiohttp.ClientProxyConnectionError) else ""
    return NoConnection(reason, proxy=through)


def _translated_later(error: aiohttp.ClientError) -> Exception:
    """Return the meaning of an exception after the connection was made."""
    match error.__cause__ if isinstance(error, _BrokenConnection) else error:
        case aiohttp.ServerDisconnectedError(message=message):
            return BrokenOff() if isinstance(message, str) else CutShort()
        case aiohttp.ServerTimeoutError():
            return TimeoutError()
        case aiohttp.ClientConnectionError() | _Unasked():
            return BrokenOff()
        case aiohttp.ClientPayloadError():
            return CutShort()
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return NoAddress()
        case _:
            return NotHttp()
