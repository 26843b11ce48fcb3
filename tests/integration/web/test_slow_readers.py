"""A slow client occupies neither the server's memory nor a connection for long."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time

import pytest
import uvicorn

from theodolite.bootstrap import http_limits
from theodolite.bootstrap.http_limits import BoundedProtocol

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

SIZE = 30_000_000
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


async def large_page(scope, receive, send):
    """Respond with more data than all buffers of client and server."""
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % SIZE)]})
    await send({"type": "http.response.body", "body": bytes(SIZE)})


@pytest.fixture
def server():
    """Serve large pages on a port that the system chooses."""
    config = uvicorn.Config(large_page, port=0, http=BoundedProtocol, lifespan="off", log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server
    server.should_exit = True
    thread.join(20)


def connected(server):
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(60)
    client.connect(server.servers[0].sockets[0].getsockname())
    client.sendall(REQUEST)
    return client


def test_a_client_that_does_not_read_is_disconnected_and_its_memory_released(server, monkeypatch):
    monkeypatch.setattr(http_limits, "READING_S", 0.5)
    with connected(server) as client:
        assert client.recv(1)

        while server.server_state.connections:  # the test's own time limit ends this where nobody is dropped
            client.setblocking(False)
            with contextlib.suppress(OSError):
                client.recv(1)
            time.sleep(0.05)


def test_a_client_that_reads_gets_the_complete_response(server):
    with connected(server) as client:
        received = 0
        while received < SIZE:
            part = client.recv(1_000_000)
            assert part
            received += len(part)
