"""Answers are read however they are cut, packed and ended."""

from __future__ import annotations

import asyncio
import gzip
import zlib

import pytest

from theodolite.gateways.http.connection import MOST_READ, HttpConnection
from theodolite.gateways.trouble import LARGEST_ANSWER, BrokenOff, CutShort, NotHttp, PackedOtherwise, TooLarge

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
RAW = zlib.compressobj(wbits=-15)
PLAIN_DEFLATE = RAW.compress(b"hello") + RAW.flush()


class Wire(asyncio.Transport):
    """A transport that remembers."""

    def __init__(self, protocol):
        super().__init__()
        self.protocol, self.sent, self.is_over = protocol, b"", False

    def write(self, data):
        self.sent += data

    def is_closing(self):
        return self.is_over

    def close(self):
        self.is_over = True

    abort = close


@pytest.fixture
async def opened():
    lost = []
    connection = HttpConnection(asyncio.get_running_loop(), lost=lost.append)
    wire = Wire(connection)
    connection.connection_made(wire)
    return connection, wire, lost


def packed(kind: bytes, body: bytes) -> bytes:
    return OK + b"Content-Encoding: %b\r\nContent-Length: %d\r\n\r\n%b" % (kind, len(body), body)


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"Content-Length: 5\r\n\r\nhello",
        OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nhello",
        packed(b"gzip", gzip.compress(b"hello", mtime=0)),
        packed(b"deflate", zlib.compress(b"hello")),
        packed(b"deflate", PLAIN_DEFLATE),
        packed(b"identity", b"hello"),
        OK + b"X-Nothing:\r\nContent-Length: 5\r\n\r\nhello",
        OK + CHUNKED + b'5;sign="a;b"\r\nhello\r\n0;last\r\n\r\n',
        OK + CHUNKED + b"5\r\nhello\r\n0\r\nContent-Encoding: br\r\nX-Sum: 1\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nhello",
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
async def test_an_answer_is_read_in_any_pieces_and_the_next_one_after_it(opened, answer, step):
    connection, wire, _ = opened
    for _ in range(2):
        asked = connection.ask(b"GET", None)
        for start in range(0, len(answer), step):
            connection.data_received(answer[start : start + step])

        assert ((await asked).status, (await asked).body) == (200, b"hello")
        assert connection.is_open
    assert wire.sent == b"GETGET"


async def test_headers_are_found_by_small_letters(opened):
    connection, _, _ = opened
    asked = connection.ask(b"GET", None)
    connection.data_received(b"HTTP/1.1 429 Slow\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n")

    assert ((await asked).status, (await asked).headers["retry-after"]) == (429, "3")


@pytest.mark.parametrize("head", [OK + b"Connection: close\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.0 204 No\r\n\r\n"])
async def test_a_connection_that_is_to_end_is_not_used_again(opened, head):
    connection, _, _ = opened
    asked = connection.ask(b"GET", None)
    connection.data_received(head)
    connection.connection_lost(None)

    assert (await asked).body == b""
    assert not connection.is_open


async def test_a_body_without_a_length_goes_to_the_end_of_the_connection(opened):
    connection, _, lost = opened
    asked = connection.ask(b"GET", None)
    connection.data_received(OK + b"\r\nhel")
    connection.data_received(b"lo")
    connection.connection_lost(None)

    assert (await asked).body == b"hello"
    assert lost == [connection]


@pytest.mark.parametrize(
    ("came", "error"),
    [
        (b"", BrokenOff),
        (b"HTTP/1.1 2", CutShort),
        (OK + b"Content-Length: 5\r\n\r\nhel", CutShort),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n", CutShort),
        (packed(b"gzip", gzip.compress(b"hello", mtime=0)[:-9]), CutShort),
        (packed(b"gzip", b"plain"), CutShort),
        (b"SSH-2.0-OpenSSH\r\n", NotHttp),
        (OK + b"X: " + b"x" * 70_000, NotHttp),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", NotHttp),
        (OK + b"Content-Length: 99999999999\r\n\r\n", TooLarge),
        (packed(b"gzip", gzip.compress(bytes(LARGEST_ANSWER + 1), mtime=0)), TooLarge),
        (packed(b"gzip", gzip.compress(b"hello", mtime=0) + gzip.compress(b"hello", mtime=0)), CutShort),
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
        "no gzip",
        "another protocol",
        "long head",
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
async def test_what_breaks_off_or_is_no_answer_is_said(opened, came, error):
    connection, _, _ = opened
    asked = connection.ask(b"GET", None)
    connection.data_received(came) if came else None
    connection.connection_lost(None)

    with pytest.raises(error):
        await asked


@pytest.mark.parametrize(
    ("came", "lost_by"),
    [
        (b"\r\nhel", ConnectionResetError()),
        (b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"hello", mtime=0)[:-9], None),
    ],
    ids=["torn", "half a gzip"],
)
async def test_a_body_to_the_end_of_the_connection_is_whole_or_none(opened, came, lost_by):
    connection, _, lost = opened
    asked = connection.ask(b"GET", None)
    connection.data_received(OK + came)
    connection.connection_lost(lost_by)

    with pytest.raises(CutShort):
        await asked
    assert lost == [connection]


async def test_bytes_that_nobody_asked_for_end_the_connection(opened):
    connection, _, _ = opened
    connection.data_received(b"HTTP/1.1 408 Late\r\n\r\n")

    assert not connection.is_open


@pytest.mark.parametrize(("status", "heard"), [(b"200", [b"he", b"llo"]), (b"500", [])])
async def test_the_bytes_of_a_good_answer_are_heard_as_they_come(opened, status, heard):
    connection, _, _ = opened
    pieces: list[bytes] = []
    asked = connection.ask(b"GET", pieces.append)
    connection.data_received(b"HTTP/1.1 " + status + b" X\r\nContent-Length: 5\r\n\r\nhe")
    connection.data_received(b"llo")

    assert (await asked).body == b"hello"
    assert pieces == heard


@pytest.mark.parametrize("rest", [b"{}", b"HTTP/1.1 200 OK\r\nContent-Le", OK + b"Content-Length: 2\r\n\r\nno"])
async def test_what_follows_an_answer_is_never_taken_for_the_next_one(opened, rest):
    connection, _, _ = opened
    asked = connection.ask(b"GET", None)
    connection.data_received(OK + b"Content-Length: 5\r\n\r\nhello" + rest)

    assert (await asked).body == b"hello"
    assert not connection.is_open


@pytest.mark.parametrize("head", [b"HTTP/1.1 204 No\r\n", b"HTTP/1.1 304 Old\r\n"])
async def test_an_answer_that_has_no_body_is_whole_with_its_head_whatever_it_says(opened, head):
    connection, _, _ = opened
    asked = connection.ask(b"GET", None)
    connection.data_received(head + b"Content-Length: 5\r\n\r\nhello")

    assert (await asked).body == b""
    assert not connection.is_open


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
async def test_what_surrounds_an_answer_has_an_end(opened, head, more):
    connection, _, _ = opened
    asked = connection.ask(b"GET", None)
    connection.data_received(head)
    for _ in range(MOST_READ // 2**20 + 1):
        connection.data_received(more * (2**20 // len(more)))
        if not connection.is_open:
            break

    with pytest.raises(TooLarge):
        await asked


async def test_a_fault_of_who_listens_is_not_taken_for_one_of_the_answer(opened):
    connection, _, _ = opened

    def deaf(piece):
        raise KeyError(piece)

    asked = connection.ask(b"GET", deaf)
    connection.data_received(OK + b"Content-Length: 5\r\n\r\nhello")

    with pytest.raises(KeyError):
        await asked
