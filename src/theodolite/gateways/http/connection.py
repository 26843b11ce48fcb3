"""One HTTP connection: a request goes out, its answer comes in, then the next one.

The parser is llhttp's, the one of Node. What a general client does beside (cookies,
redirects, proxies, sessions) is not done here: nobody who measures wants it, and at
a thousand calls a second it is most of what a call costs.
"""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from theodolite.gateways.trouble import LARGEST_ANSWER, BrokenOff, CutShort, NotHttp, PackedOtherwise, TooLarge

LARGEST_HEAD = 64 * 2**10
"""Bytes of an answer's status and headers that are read at most."""

MOST_READ = 2 * LARGEST_ANSWER
"""Bytes of an answer that are read at most as they come: what wraps them has an end, too."""

_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_UNPACKED = frozenset({"", "identity"})
_DOUBTFUL = 2**10
"""Packed bytes after which the kind of packing is no longer in doubt; count."""

_ANY_ZLIB = 47
"""What makes zlib find out by itself which of its two wrappings it meets."""

Hear = Callable[[bytes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """An HTTP answer, read to its end.

    Attributes:
        status: HTTP status.
        headers: Name in small letters to value, the last of each.
        body: Its bytes, unpacked.
    """

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class HttpConnection(asyncio.Protocol):
    """Asks one thing after the other over one connection; belongs to one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, *, lost: Callable[[HttpConnection], None]) -> None:
        """Have nothing asked yet.

        Args:
            loop: The event loop.
            lost: Told when the connection is gone.
        """
        self._loop = loop
        self._lost = lost
        self._parser = HttpResponseParser(self)
        # Many small servers end lines with a line feed alone; between us and them nobody can be misled by that.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[HttpAnswer] | None = None
        self._hear: Hear | None = None
        self._n_read = 0
        self.idle_since_s = 0.0
        self._forget()

    def _forget(self) -> None:
        self._headers: dict[str, str] = {}
        self._status = 0
        self._pieces: list[bytes] = []
        self._n_head = self._n_body = 0
        self._press: _Unpacking | None = None
        self._has_head = self._ends_with_connection = False

    @property
    def is_open(self) -> bool:
        """Whether another request may go out."""
        return self._transport is not None and not self._transport.is_closing()

    def ask(self, message: bytes, hear: Hear | None) -> asyncio.Future[HttpAnswer]:
        """Send a request and return what will be its answer.

        Args:
            message: The whole request.
            hear: Receives the bytes of a good answer as they come.
        """
        if self._transport is None:
            raise BrokenOff
        self._hear, self._n_read = hear, 0
        self._answer = self._loop.create_future()
        self._transport.write(message)
        return self._answer

    def give_up(self, error: Exception | None = None) -> None:
        """End the connection at once, and what was asked with an error."""
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done() and error is not None:
            answer.set_exception(error)
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what is written to."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Read on in the answer."""
        if self._answer is None:  # nobody asked for anything
            self.give_up()
            return
        self._n_read += len(data)
        if not self._has_head:
            self._n_head += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            cause = error.__context__  # what was raised while the parser told of something
            self.give_up(cause if isinstance(cause, Exception) else NotHttp())
            return
        if self._n_read > MOST_READ:
            self.give_up(TooLarge())
        elif not self._has_head and self._n_head > LARGEST_HEAD:
            self.give_up(NotHttp())

    def eof_received(self) -> None:
        """Let the connection end."""

    def connection_lost(self, exc: Exception | None) -> None:
        """End what was asked: with its answer where that goes to the end of the connection, else with an error."""
        self._transport = None
        is_end = exc is None and self._has_head and self._ends_with_connection
        if self._answer is not None and is_end:
            with contextlib.suppress(CutShort):  # told below
                self._end()
        started = self._has_head or self._n_head > 0
        self.give_up(CutShort() if started else BrokenOff())
        self._lost(self)

    def on_message_begin(self) -> None:
        """Refuse a second answer to one question: it would be taken for the answer to the next."""
        if self._answer is None:
            raise NotHttp

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header in; those that follow a body come too late to say anything about it."""
        if not self._has_head:
            self._headers[name.decode("latin-1").lower()] = value.decode("utf-8", "surrogateescape")

    def on_headers_complete(self) -> None:
        """Look at what the answer says of itself."""
        self._status, self._has_head = self._parser.get_status_code(), True
        length = self._headers.get("content-length", "")
        if length.isdigit() and int(length) > LARGEST_ANSWER:
            raise TooLarge
        packing = self._headers.get("content-encoding", "").strip().lower()
        if packing in _PACKED:
            self._press = _Unpacking()
        elif packing not in _UNPACKED:
            raise PackedOtherwise
        self._ends_with_connection = not length and "transfer-encoding" not in self._headers

    def on_body(self, data: bytes) -> None:
        """Take bytes of the body in, and hand them on where somebody listens."""
        self._take(self._press.feed(data) if self._press is not None else data)

    def on_message_complete(self) -> None:
        """Hand the answer over; what only says that the real one comes later is passed over."""
        if self._status < 200:
            self._forget()
        else:
            self._end()

    def _take(self, data: bytes) -> None:
        self._n_body += len(data)
        if self._n_body > LARGEST_ANSWER:
            raise TooLarge
        self._pieces.append(data)
        if data and self._hear is not None and 200 <= self._status < 300:
            self._hear(data)

    def _end(self) -> None:
        if self._press is not None:
            self._press.end()
        body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        answer, self._answer = self._answer, None
        if not self._parser.should_keep_alive() and self._transport is not None:
            self._transport.close()
        if answer is not None and not answer.done():
            answer.set_result(HttpAnswer(status=self._status, headers=self._headers, body=body))
        self._hear = None
        self._forget()


class _Unpacking:
    """Unpacks a body piece by piece, never more at once than an answer may have."""

    def __init__(self) -> None:
        self._press = zlib.decompressobj(_ANY_ZLIB)
        self._before: bytes | None = b""

    def feed(self, data: bytes) -> bytes:
        """Return what some more bytes hold.

        Raises:
            CutShort: If they are not packed, or more follows where the packing ends.
        """
        if self._before is not None:
            self._before += data
        try:
            plain = self._press.decompress(data, LARGEST_ANSWER + 1)
        except zlib.error:
            plain = self._fed_plainly()
        if self._press.unused_data:
            raise CutShort
        if plain or (self._before and len(self._before) > _DOUBTFUL):
            self._before = None
        return plain

    def _fed_plainly(self) -> bytes:
        """Begin anew without a wrapping, which some servers leave out of what they call `deflate`."""
        before, self._before = self._before, None
        self._press = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            return self._press.decompress(before or b"", LARGEST_ANSWER + 1)
        except zlib.error:
            raise CutShort from None

    def end(self) -> None:
        """See to it that the body was whole, or empty.

        Raises:
            CutShort: If more should have come.
        """
        if self._before != b"" and not self._press.eof:
            raise CutShort
