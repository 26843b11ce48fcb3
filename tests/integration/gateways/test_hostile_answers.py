"""Responses are read in any segmentation and encoding; invalid ones are refused within limits."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from contextlib import asynccontextmanager, suppress

import pytest

from theodolite.gateways.errors import LARGEST_ANSWER, BrokenOff, CutShort, NotHttp, PackedOtherwise, TooLarge
from theodolite.gateways.http_transport import HttpTransport

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
HELLO = b"Content-Length: 5\r\n\r\nhello"
RAW = zlib.compressobj(wbits=-15)
PLAIN_DEFLATE = RAW.compress(b"hello") + RAW.flush()


def packed(kind: bytes, body: bytes) -> bytes:
    return OK + b"Content-Encoding: %b\r\nContent-Length: %d\r\n\r\n%b" % (kind, len(body), body)


def gzipped(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


class Speaker(asyncio.Protocol):
    """One connection of a server that answers each request with the same bytes."""

    def __init__(self, site):
        self.site, self.transport, self.head = site, None, b""

    def connection_made(self, transport):
        self.transport = transport
        self.site.lines.append(transport)

    def data_received(self, data):
        self.head += data
        if b"\r\n\r\n" in self.head:
            self.head = b""
            asyncio.get_running_loop().create_task(self.answer())

    async def answer(self):
        step, whole = self.site.step, self.site.answer
        for start in range(0, len(whole), step):
            self.transport.write(whole[start : start + step])
            await asyncio.sleep(0)
        if self.site.ends:
            self.transport.close()


class Site:
    """A server that answers with some bytes, a few at a time."""

    def __init__(self, answer, *, step=2**20, ends=False):
        self.answer, self.step, self.ends, self.lines, self.port = answer, step, ends, [], 0


@asynccontextmanager
async def standing(answer, **how):
    site = Site(answer, **how)
    server = await asyncio.get_running_loop().create_server(lambda: Speaker(site), "127.0.0.1", 0)
    async with server:
        site.port = server.sockets[0].getsockname()[1]
        yield site
        for transport in site.lines:
            transport.abort()
        await asyncio.sleep(0)


@asynccontextmanager
async def opened():
    transport = HttpTransport({})
    try:
        yield transport
    finally:
        await transport.close()


async def ask(transport, site, **how):
    options = {"body": b"{}", "headers": {}, "timeout_s": 5.0, "connect_s": 5.0, **how}
    return await transport.send("POST", f"http://127.0.0.1:{site.port}/", **options)


@pytest.mark.parametrize(
    "answer",
    [
        OK + HELLO,
        OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK + HELLO,
        packed(b"gzip", gzipped(b"hello")),
        packed(b"deflate", zlib.compress(b"hello")),
        packed(b"deflate", PLAIN_DEFLATE),
        packed(b"identity", b"hello"),
        OK + b"X-Nothing:\r\n" + HELLO,
        OK + CHUNKED + b'5;sign="a;b"\r\nhello\r\n0;last\r\n\r\n',
        OK + CHUNKED + b"5\r\nhello\r\n0\r\nContent-Encoding: br\r\nX-Sum: 1\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\n\r\n" + OK + HELLO,
    ],
    ids=[
        "length",
        "chunks",
        "line feeds",
        "wide chunks",
        "continue",
        "gzip",
        "deflate",
        "plain deflate",
        "identity",
        "empty header",
        "chunk extensions",
        "trailers",
        "early hints",
    ],
)
@pytest.mark.parametrize("step", [1, 7, 10_000])
async def test_a_response_is_read_in_pieces_of_any_size_followed_by_the_next(answer, step):
    async with standing(answer, step=step) as site, opened() as transport:
        answers = [await ask(transport, site) for _ in range(2)]

    assert [(one.status, one.body) for one in answers] == [(200, b"hello")] * 2
    assert len(site.lines) == 1


async def test_headers_are_read_in_lower_case():
    slow = b"HTTP/1.1 429 Slow\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n"
    async with standing(slow) as site, opened() as transport:
        answer = await ask(transport, site)

    assert (answer.status, answer.headers["retry-after"]) == (429, "3")


@pytest.mark.parametrize("head", [OK + b"Connection: close\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.0 204 No\r\n\r\n"])
async def test_a_connection_with_close_is_not_reused(head):
    async with standing(head) as site, opened() as transport:
        bodies = [(await ask(transport, site)).body for _ in range(2)]

    assert bodies == [b"", b""]
    assert len(site.lines) == 2


async def test_a_body_without_length_ends_with_the_connection():
    async with standing(OK + b"\r\nhello", step=3, ends=True) as site, opened() as transport:
        assert (await ask(transport, site)).body == b"hello"


@pytest.mark.parametrize(
    ("came", "error"),
    [
        (b"", BrokenOff),
        (b"HTTP/1.1 2", CutShort),
        (OK + b"Content-Length: 5\r\n\r\nhel", CutShort),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n", CutShort),
        (packed(b"gzip", gzipped(b"hello")[:-9]), CutShort),
        (packed(b"gzip", gzipped(b"hello" * 1000)[:-9]), CutShort),
        (packed(b"gzip", b"plain"), CutShort),
        (OK + b"Content-Encoding: gzip\r\n\r\n" + gzipped(b"hello")[:-9], CutShort),
        (b"SSH-2.0-OpenSSH\r\n", NotHttp),
        (OK + b"X: " + b"x" * 70_000, NotHttp),
        (OK + b"".join(b"X%d: y\r\n" % number for number in range(2000)) + HELLO, NotHttp),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", NotHttp),
        (OK + b"Content-Length: 99999999999\r\n\r\n", TooLarge),
        (packed(b"gzip", gzipped(bytes(LARGEST_ANSWER + 1))), TooLarge),
        (packed(b"gzip", gzipped(b"hello") + gzipped(b"hello")), CutShort),
        (packed(b"br", b"hello"), PackedOtherwise),
        (packed(b"gzip, gzip", b"hello"), PackedOtherwise),
        (OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", NotHttp),
        (OK + b"Content-Length: 5, 5\r\n\r\nhello", NotHttp),
        (OK + b"Content-Length: -5\r\n\r\nhello", NotHttp),
        (OK + b"Content-Length: 5\r\n" + CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", NotHttp),
        (OK + CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n", NotHttp),
        (OK + CHUNKED + b"FFFFFFFFFFFFFFFFF\r\n", NotHttp),
        (OK + CHUNKED + b"5\r\nhello world\r\n", NotHttp),
    ],
    ids=[
        "nothing",
        "half a head",
        "half a body",
        "half the chunks",
        "half a gzip",
        "most of a gzip",
        "no gzip",
        "half a gzip to the end",
        "another protocol",
        "long head",
        "many headers",
        "upgrade",
        "announced too much",
        "unpacks to too much",
        "packed twice over",
        "an unknown packing",
        "two packings",
        "two lengths",
        "a list of lengths",
        "a negative length",
        "length and chunks",
        "no number of a chunk",
        "a chunk without an end",
        "a chunk longer than it says",
    ],
)
async def test_a_truncated_or_inconsistent_response_is_an_error(came, error):
    async with standing(came, ends=True) as site, opened() as transport:
        with pytest.raises(error):
            await ask(transport, site)


@pytest.mark.parametrize(
    ("step", "error"), [(1, TimeoutError), (100, NotHttp)], ids=["behind its beginning", "in one piece"]
)
async def test_an_invalid_chunk_ends_the_call(step, error):
    # aiohttp tells nobody who already reads the body that the rest cannot be read, so the time has to run out.
    answer = OK + CHUNKED + b"2\r\nhe\r\n0x5\r\nhello\r\n0\r\n\r\n"
    async with standing(answer, step=step, ends=True) as site, opened() as transport:
        with pytest.raises(error):
            await ask(transport, site, timeout_s=1.0)


@pytest.mark.parametrize(("status", "received"), [(b"200", b"hello"), (b"500", b"")])
async def test_a_valid_response_is_received_as_sent(status, received):
    pieces: list[bytes] = []
    async with standing(b"HTTP/1.1 " + status + b" X\r\n" + HELLO, step=3) as site, opened() as transport:
        answer = await ask(transport, site, on_piece=pieces.append)

    assert (answer.body, b"".join(pieces)) == (b"hello", received)


async def test_an_error_of_the_listener_is_not_an_error_of_the_response():
    def deaf(piece):
        raise KeyError(piece)

    async with standing(OK + HELLO) as site, opened() as transport:
        with pytest.raises(KeyError):
            await ask(transport, site, on_piece=deaf)


@pytest.mark.parametrize("rest", [b"{}", b"HTTP/1.1 200 OK\r\nContent-Le", OK + b"Content-Length: 2\r\n\r\nno"])
async def test_bytes_after_a_response_never_become_the_next_response(rest):
    async with standing(OK + HELLO + rest) as site, opened() as transport:
        bodies = []
        for _ in range(2):
            try:
                bodies.append((await ask(transport, site)).body)
            except NotHttp:
                bodies.append(b"")

    assert set(bodies) <= {b"hello", b""}


@pytest.mark.parametrize(
    "late",
    [OK + b"Content-Length: 4\r\n\r\nevil", b"HTTP/1.1 408 Late\r\n\r\n", b"junk", b"HTTP/1.1 200 OK\r\nContent-Le"],
    ids=["an answer", "a timeout", "junk", "half an answer"],
)
async def test_unrequested_bytes_on_an_idle_connection_are_never_a_response(late):
    async with standing(OK + HELLO) as site, opened() as transport:
        await ask(transport, site)
        site.lines[0].write(late)
        await asyncio.sleep(0.05)
        try:
            body = (await ask(transport, site)).body
        except (BrokenOff, NotHttp):
            body = b"refused"
        again = (await ask(transport, site)).body

    assert body in {b"hello", b"refused"}
    assert again == b"hello"


@pytest.mark.parametrize("head", [b"HTTP/1.1 204 No\r\n", b"HTTP/1.1 304 Old\r\n"])
async def test_a_response_without_body_takes_no_bytes_that_follow_it(head):
    async with standing(head + HELLO) as site, opened() as transport:
        for _ in range(2):
            with suppress(NotHttp):  # bytes without a request are as good a reason to stop
                assert (await ask(transport, site)).body == b""

    assert len(site.lines) == 2


@pytest.mark.parametrize(
    ("head", "more"),
    [
        (b"HTTP/1.1 103 Wait\r\n\r\n", b"HTTP/1.1 103 Wait\r\n\r\n"),
        (OK + CHUNKED + b"0\r\n", b"X-More: 1\r\n"),
        (OK + CHUNKED + b"5;", b"more"),
        (OK + b"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x08\0\0\0\0\0\3", b"name"),
    ],
    ids=["promises", "trailers", "chunk extensions", "a gzip's name"],
)
async def test_bytes_around_a_response_are_limited(head, more):
    n_sent = 40 * 2**20
    async with standing(head + more * (n_sent // len(more)), step=2**16, ends=True) as site, opened() as transport:
        with pytest.raises((TooLarge, NotHttp, CutShort, BrokenOff, TimeoutError)):
            await ask(transport, site, timeout_s=20.0)
