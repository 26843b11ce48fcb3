"""Servers that send invalid data, delay or disconnect get limited time and trust."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import asynccontextmanager

import pytest
from aiohttp.abc import AbstractResolver

from tests.integration.gateways.test_http_transport import ANSWER, ask, certified
from theodolite.gateways.errors import BrokenOff, CutShort, NoConnection, translate
from theodolite.gateways.http_transport import HttpTransport
from theodolite.gateways.proxies import CallRoute

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"


class Liar:
    """A server that plays one scene a connection: bytes are written, numbers waited for, None hangs up at once."""

    def __init__(self, *scenes):
        self.scenes, self.asked = list(scenes), []

    async def meet(self, reader, writer):
        scene = self.scenes.pop(0) if len(self.scenes) > 1 else self.scenes[0]
        try:
            self.asked.append(await reader.readuntil(b"\r\n\r\n"))
            await self._play(scene, writer)
            await reader.read()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # whoever asked has gone, or the scene is over
        finally:
            writer.transport.abort()

    async def _play(self, scene, writer):
        for act in scene:
            if isinstance(act, bytes):
                writer.write(act)
                await writer.drain()
            elif act is None:
                writer.transport.abort()
            else:
                await asyncio.sleep(act)


@asynccontextmanager
async def lying(*scenes, host="127.0.0.1", **secure):
    liar = Liar(*scenes)
    server = await asyncio.start_server(liar.meet, host, 0, **secure)
    async with server:
        yield liar, server.sockets[0].getsockname()[1]


async def asked_of(*scenes, **changes):
    async with lying(*scenes) as (_, port):
        transport = HttpTransport({})
        try:
            return await ask(transport, f"http://127.0.0.1:{port}/", **changes)
        finally:
            await transport.close()


@pytest.mark.parametrize(
    "drip",
    [
        [b"HTTP/1.1 200 OK\r\nX: ", *[b"h", 0.05] * 40],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", *[b"h", 0.05] * 40],
        [b"HTTP/1.1 103 Wait\r\n\r\n", 0.05] * 40,
    ],
    ids=["its head", "its body", "promises"],
)
async def test_a_slow_response_ends_at_its_timeout(drip):
    with pytest.raises(TimeoutError):
        await asked_of(drip, timeout_s=0.3)


@pytest.mark.parametrize(
    ("scene", "error"),
    [([None], BrokenOff), ([b"HTTP/1.1 200", None], CutShort), ([HEAD, b"hel", None], CutShort)],
    ids=["before anything", "in mid-head", "in mid-body"],
)
async def test_an_error_states_at_which_point_the_server_closed_the_connection(scene, error):
    with pytest.raises(error):
        await asked_of(scene)


async def test_a_connection_closed_between_two_calls_costs_no_call():
    async with lying([ANSWER, None], [ANSWER]) as (liar, port):
        transport = HttpTransport({})
        for _ in range(2):
            assert (await ask(transport, f"http://127.0.0.1:{port}/")).body == b"{}"
            await asyncio.sleep(0.05)
        await transport.close()

    assert len(liar.asked) == 2


async def test_an_extra_response_is_not_used_for_the_next_request():
    async with lying([ANSWER + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"], [ANSWER]) as (_, port):
        transport = HttpTransport({})
        bodies = [(await ask(transport, f"http://127.0.0.1:{port}/")).body for _ in range(2)]
        await transport.close()

    assert bodies == [b"{}", b"{}"]


async def test_a_redirect_is_a_response_and_is_not_followed():
    async with lying([ANSWER]) as (other, elsewhere):
        moved = f"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:{elsewhere}/\r\nContent-Length: 0\r\n\r\n".encode()
        assert (await asked_of([moved], headers={"Authorization": "Bearer k"})).status == 307

    assert other.asked == []


async def test_proxies_of_the_environment_are_not_used(monkeypatch):
    async with lying([ANSWER]) as (proxy, port):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        await asked_of([ANSWER])

    assert proxy.asked == []


class Resolver(AbstractResolver):
    """Resolves every name to loopback and records the names."""

    def __init__(self):
        self.sought = []

    async def resolve(self, host, port=0, family=socket.AF_INET):
        self.sought.append(host)
        found = {"hostname": host, "host": "127.0.0.1", "port": port, "family": socket.AF_INET, "proto": 0, "flags": 0}
        return [found]

    async def close(self):
        pass


async def test_an_international_domain_name_is_resolved_in_its_ascii_form():
    resolver = Resolver()
    async with lying([ANSWER]) as (liar, port):
        transport = HttpTransport({}, resolver=resolver)
        await ask(transport, f"http://b\u00fccher.example:{port}/")
        await transport.close()

    assert resolver.sought == ["xn--bcher-kva.example"]
    assert f"Host: xn--bcher-kva.example:{port}\r\n".encode() in liar.asked[0]


@pytest.mark.parametrize("host", ["team.example", "127.0.0.1"])
async def test_an_address_is_checked_where_the_connection_is_made(host):
    async with lying([ANSWER]) as (liar, port):
        transport = HttpTransport({}, resolver=Resolver(), route=CallRoute(public_only=True))
        with pytest.raises(NoConnection) as caught:
            await ask(transport, f"http://{host}:{port}/")
        await transport.close()

    assert translate(caught.value).words == "no public address"
    assert liar.asked == []


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
async def test_an_ipv6_address_is_reached():
    async with lying([ANSWER], host="::1") as (liar, port):
        transport = HttpTransport({})
        assert (await ask(transport, f"http://[::1]:{port}/")).body == b"{}"
        await transport.close()

    assert f"Host: [::1]:{port}\r\n".encode() in liar.asked[0]


async def test_a_certificate_of_another_name_is_refused_with_a_reason(tmp_path):
    path = certified(tmp_path)
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(path)
    async with lying([ANSWER], ssl=own) as (_, port):
        transport = HttpTransport({}, route=CallRoute(tls=ssl.create_default_context(cafile=str(path))))
        with pytest.raises(NoConnection) as caught:
            await ask(transport, f"https://127.0.0.1:{port}/")
        await transport.close()

    assert "not valid for '127.0.0.1'" in translate(caught.value).words
