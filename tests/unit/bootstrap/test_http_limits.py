"""Requests that are too large or too slow end, and the others are answered."""

from __future__ import annotations

import asyncio

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from theodolite.bootstrap import http_limits
from theodolite.bootstrap.http_limits import (
    BODY_S,
    HEAD_S,
    LONGEST_HEAD,
    READING_S,
    SILENCE_S,
    SLOWEST_READING,
    STALLED_S,
    BoundedProtocol,
    most_connections,
)

GET = b"GET / HTTP/1.1\r\nHost: a\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


class Clock(asyncio.AbstractEventLoop):
    """A loop whose time a test moves, and which starts tasks and never runs them."""

    def __init__(self):
        self.now, self.timers = 0.0, []

    def time(self):
        return self.now

    def get_debug(self):
        return False

    def call_later(self, delay, callback, *args, context=None):
        timer = asyncio.TimerHandle(self.now + delay, callback, args, self)
        self.timers.append(timer)
        return timer

    def _timer_handle_cancelled(self, handle):
        pass

    def create_task(self, coro, **_):
        coro.close()
        return asyncio.Future(loop=self)

    def call_soon(self, *_, **__):
        pass

    def pass_by(self, seconds):
        self.now += seconds
        due = [timer for timer in self.timers if timer.when() <= self.now and not timer.cancelled()]
        self.timers = [timer for timer in self.timers if timer not in due]
        for timer in due:
            timer._run()


class Wire(asyncio.Transport):
    """A connection that remembers what was written."""

    def __init__(self):
        super().__init__()
        self.written, self.closed, self.paused, self.unsent = b"", False, False, 0

    def get_extra_info(self, name, default=None):
        return None

    def write(self, data):
        self.written += data

    def close(self):
        self.closed = True

    abort = close

    def is_closing(self):
        return self.closed

    def set_write_buffer_limits(self, high=None, low=None):
        self.high = high

    def get_write_buffer_size(self):
        return self.unsent

    def pause_reading(self):
        self.paused = True

    def resume_reading(self):
        self.paused = False


async def page(scope, receive, send):
    """Answer nothing: no task of these tests runs."""


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def connect(clock):
    """Return a function that opens a connection of one server."""
    config, state = Config(page), ServerState()

    def opened():
        protocol, wire = BoundedProtocol(config, state, {}, _loop=clock), Wire()
        protocol.connection_made(wire)
        return protocol, wire

    return opened


def status_of(wire):
    return wire.written.split(b"\r\n")[0]


def test_a_request_of_usual_size_is_answered(connect):
    protocol, wire = connect()

    protocol.data_received(GET + b"Cookie: " + b"a" * 16_000 + b"\r\n\r\n")

    assert not wire.closed
    assert protocol.cycle is not None


@pytest.mark.parametrize(
    "parts",
    [
        [GET + b"X: " + b"a" * 100_000],
        [GET, *[b"X: " + b"a" * 1000 + b"\r\n"] * 80],
        [GET + b"X: " + b"a" * 100_000 + b"\r\n\r\n"],
        [b"GET /" + b"a" * 100_000],
        [GET, *[b"X: y\r\n"] * 20_000],
        [b"\r\n" * 50_000],
    ],
    ids=["one header", "many headers", "whole", "address", "small headers", "empty lines"],
)
def test_a_head_of_more_than_64_kb_is_refused(connect, parts):
    protocol, wire = connect()

    for part in parts:
        protocol.data_received(part)

    assert status_of(wire) == b"HTTP/1.1 431 Request Header Fields Too Large"
    assert wire.closed
    assert protocol.cycle is None


@pytest.mark.parametrize("tail", [b"0\r\nX: ", b"1;ext="], ids=["trailer", "chunk extension"])
def test_the_framing_of_a_body_is_bounded_too(connect, tail):
    protocol, wire = connect()
    protocol.data_received(CHUNKED + b"2\r\nab\r\n" + tail)

    for _ in range(LONGEST_HEAD // 1000 + 2):
        protocol.data_received(b"a" * 1000)

    assert wire.closed


def test_a_large_body_is_read(connect):
    protocol, wire = connect()
    protocol.data_received(POST)

    protocol.data_received(b"a" * 200_000)

    assert not wire.closed


def test_a_head_that_never_arrives_times_out(connect, clock):
    protocol, wire = connect()
    protocol.data_received(GET)

    clock.pass_by(HEAD_S - 1)
    protocol.data_received(b"X: y\r\n")
    assert not wire.closed
    clock.pass_by(1)

    assert status_of(wire) == b"HTTP/1.1 408 Request Timeout"
    assert wire.closed


def test_a_connection_without_a_byte_times_out(connect, clock):
    _, wire = connect()

    clock.pass_by(HEAD_S)

    assert wire.closed
    assert wire.written == b""


def test_the_head_timeout_also_applies_to_later_requests_of_a_connection(connect, clock):
    protocol, wire = connect()
    protocol.data_received(GET + b"\r\n")
    protocol.cycle.response_complete = True
    protocol.data_received(GET)

    clock.pass_by(HEAD_S)

    assert wire.closed


def test_a_head_that_starts_within_a_body_has_a_timeout(connect, clock):
    protocol, wire = connect()
    protocol.data_received(POST.replace(b"1000000", b"2") + b"ab" + GET)

    clock.pass_by(HEAD_S)

    assert wire.closed


def test_a_stalled_body_times_out(connect, clock):
    protocol, wire = connect()
    protocol.data_received(POST + b"a")

    clock.pass_by(SILENCE_S - 1)
    protocol.data_received(b"a")
    clock.pass_by(1)
    assert not wire.closed
    clock.pass_by(SILENCE_S)

    assert wire.closed


def test_a_very_slow_body_times_out(connect, clock):
    protocol, wire = connect()
    protocol.data_received(POST + b"a")

    for _ in range(int(BODY_S / SILENCE_S) + 1):
        if not wire.closed:
            protocol.data_received(b"a")
            clock.pass_by(SILENCE_S)

    assert wire.closed


def test_a_pause_of_the_server_does_not_count_as_client_silence(connect, clock):
    protocol, wire = connect()
    protocol.data_received(POST + b"a" * 100_000)
    assert wire.paused

    clock.pass_by(SILENCE_S)

    assert not wire.closed


def test_a_complete_request_has_no_time_limit_for_its_answer(connect, clock):
    protocol, wire = connect()
    protocol.data_received(GET + b"\r\n")

    clock.pass_by(10 * BODY_S)

    assert not wire.closed


@pytest.fixture
def unread(connect):
    """Return a connection whose client has not taken 10 MB of its answer."""
    protocol, wire = connect()
    protocol.data_received(GET + b"\r\n")
    wire.unsent = 10_000_000
    protocol.pause_writing()
    return protocol, wire


def test_every_unsent_byte_counts(connect):
    _, wire = connect()

    assert wire.high == 0


def test_a_client_that_reads_a_byte_a_second_is_disconnected(unread, clock):
    _, wire = unread
    for _ in range(int(READING_S) - 1):
        clock.pass_by(1)
        wire.unsent -= 1
    assert not wire.closed

    clock.pass_by(1)

    assert wire.closed


def test_a_slow_client_receives_its_whole_answer(unread, clock):
    protocol, wire = unread
    for _ in range(100):
        wire.unsent -= SLOWEST_READING
        clock.pass_by(READING_S)
    assert not wire.closed
    wire.unsent = 0
    protocol.resume_writing()

    clock.pass_by(10 * READING_S)

    assert not wire.closed


def test_a_client_that_never_reads_the_last_bytes_is_disconnected(unread, clock):
    """The answer is complete for the program then, and the connection is only waiting to be closed."""
    _, wire = unread
    wire.unsent = 20

    clock.pass_by(READING_S)
    clock.pass_by(READING_S)

    assert wire.closed


def test_a_full_server_drops_the_client_that_stalled_longest(connect, clock, monkeypatch):
    monkeypatch.setattr(http_limits, "most_connections", lambda: 3)
    (answered, busy), (first, stalled), (second, later) = connect(), connect(), connect()
    for protocol in (answered, first, second):
        protocol.data_received(GET + b"\r\n")
    first.pause_writing()
    clock.pass_by(STALLED_S)
    second.pause_writing()

    _, fresh = connect()

    assert (busy.closed, stalled.closed, later.closed, fresh.closed) == (False, True, False, False)


def test_a_full_server_keeps_a_client_that_just_received_data(connect, monkeypatch):
    monkeypatch.setattr(http_limits, "most_connections", lambda: 1)
    answered, busy = connect()
    answered.data_received(GET + b"\r\n")
    answered.pause_writing()

    _, fresh = connect()

    assert (busy.closed, fresh.closed) == (False, True)


def test_a_full_server_drops_the_connection_waiting_longest_for_its_head(connect, clock, monkeypatch):
    monkeypatch.setattr(http_limits, "most_connections", lambda: 2)
    (answered, busy), (_, slow) = connect(), connect()
    answered.data_received(GET + b"\r\n")
    clock.pass_by(1)

    _, fresh = connect()

    assert (busy.closed, slow.closed, fresh.closed) == (False, True, False)


def test_a_full_and_busy_server_answers_503(connect, monkeypatch):
    monkeypatch.setattr(http_limits, "most_connections", lambda: 1)
    answered, busy = connect()
    answered.data_received(GET + b"\r\n")

    _, fresh = connect()

    assert status_of(fresh) == b"HTTP/1.1 503 Service Unavailable"
    assert (busy.closed, fresh.closed) == (False, True)


def test_file_descriptors_are_reserved_for_other_work(monkeypatch):
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 1024))

    assert most_connections() == 824
