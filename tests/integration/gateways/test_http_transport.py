"""Connections are reused, limited in time, and trusted only with a certificate."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from theodolite.gateways import http_transport
from theodolite.gateways.errors import BrokenOff, NoConnection
from theodolite.gateways.http_transport import HttpTransport
from theodolite.gateways.proxies import CallRoute

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class Site:
    """A server that counts connections and records requests."""

    def __init__(self, *, is_silent=False, hangs_up=False):
        self.is_silent, self.hangs_up, self.heads, self.lines = is_silent, hangs_up, [], []

    @property
    def connections(self):
        return len(self.lines)


class Line(asyncio.Protocol):
    """One connection of a site."""

    def __init__(self, site):
        self.site, self.transport = site, None

    def connection_made(self, transport):
        self.transport = transport
        self.site.lines.append(transport)

    def data_received(self, data):
        self.site.heads.append(data)
        if self.site.hangs_up:
            self.transport.close()
        elif not self.site.is_silent:
            self.transport.write(ANSWER)


@asynccontextmanager
async def standing(site, **secure):
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Line(site), "127.0.0.1", 0, **secure)
    async with server:
        yield server.sockets[0].getsockname()[1]
        for transport in site.lines:
            transport.abort()
        await asyncio.sleep(0)


async def ask(transport, url, **changes):
    given = {"body": None, "headers": {}, "timeout_s": 5.0, "connect_s": 5.0, **changes}
    return await transport.send("GET", url, **given)


async def test_sequential_calls_share_a_connection_and_parallel_calls_use_two():
    site = Site()
    async with standing(site) as port:
        transport, url = HttpTransport({"Authorization": "Bearer k"}), f"http://localhost:{port}/x"
        for _ in range(3):
            await ask(transport, url)
        alone = site.connections
        await asyncio.gather(ask(transport, url), ask(transport, url))
        await transport.close()

    assert (alone, site.connections) == (1, 2)
    assert b"Authorization: Bearer k\r\n" in site.heads[0]
    assert site.heads[0].startswith(f"GET /x HTTP/1.1\r\nHost: localhost:{port}\r\n".encode())


async def test_a_connection_that_was_idle_for_long_is_not_reused(monkeypatch):
    monkeypatch.setattr(http_transport, "IDLE_S", 0.001)
    site = Site()
    async with standing(site) as port:
        transport = HttpTransport({})
        for _ in range(2):
            await ask(transport, f"http://127.0.0.1:{port}/")
            await asyncio.sleep(0.05)
        await transport.close()

    assert site.connections == 2


async def test_a_timed_out_call_closes_its_connection():
    site = Site(is_silent=True)
    async with standing(site) as port:
        transport = HttpTransport({})
        with pytest.raises(TimeoutError):
            await ask(transport, f"http://127.0.0.1:{port}/", timeout_s=0.05)
        with pytest.raises(TimeoutError):
            await ask(transport, f"http://127.0.0.1:{port}/", timeout_s=0.05)
        await transport.close()

    assert site.connections == 2


async def test_a_cancelled_call_closes_its_connection():
    site = Site(is_silent=True)
    async with standing(site) as port:
        transport = HttpTransport({})
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await ask(transport, f"http://127.0.0.1:{port}/")
        site.is_silent = False
        assert (await ask(transport, f"http://127.0.0.1:{port}/")).body == b"{}"
        await transport.close()

    assert site.connections == 2


async def test_a_closed_connection_and_an_unreachable_server_have_different_errors():
    async with standing(Site(hangs_up=True)) as port:
        transport = HttpTransport({})
        with pytest.raises(BrokenOff):
            await ask(transport, f"http://127.0.0.1:{port}/")
    with pytest.raises(NoConnection):
        await ask(transport, f"http://127.0.0.1:{port}/")
    await transport.close()


async def test_headers_cannot_contradict_the_request():
    site = Site()
    async with standing(site) as port:
        transport = HttpTransport({})
        given = {"host": "elsewhere", "Content-Length": "9", "Transfer-Encoding": "chunked", "X-Own": "1"}
        await ask(transport, f"http://127.0.0.1:{port}/", headers=given)
        await transport.close()

    (head,) = site.heads
    assert b"X-Own: 1\r\n" in head
    assert not any(word in head for word in (b"elsewhere", b"ength", b"chunked"))


async def test_a_header_value_cannot_contain_a_line_break():
    transport = HttpTransport({})
    with pytest.raises(ValueError, match="line break"):
        await ask(transport, "http://127.0.0.1:9/", headers={"X": "a\r\nY: b"})
    await transport.close()


@pytest.mark.parametrize("name", ["Content-Length ", "Transfer-Encoding\t", "X: 1", "", "X\u00e4"])
async def test_a_header_name_must_be_a_token(name):
    transport = HttpTransport({})
    with pytest.raises(ValueError, match="name of a header"):
        await ask(transport, "http://127.0.0.1:9/", headers={name: "9"})
    await transport.close()


def certified(folder):
    """Return the path of a certificate of `localhost` with its key, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    built = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    built = built.serial_number(1).not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
    built = built.not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
    built = built.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = folder / "site.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, *form)
        + built.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    )
    return path


async def test_an_untrusted_certificate_is_refused_and_a_trusted_one_accepted(tmp_path):
    path = certified(tmp_path)
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(path)
    async with standing(Site(), ssl=own) as port:
        url = f"https://localhost:{port}/"
        stranger = HttpTransport({})
        with pytest.raises(NoConnection) as caught:
            await ask(stranger, url)
        await stranger.close()
        assert isinstance(caught.value.reason, ssl.SSLCertVerificationError)

        transport = HttpTransport({}, route=CallRoute(tls=ssl.create_default_context(cafile=str(path))))
        assert (await ask(transport, url)).body == b"{}"
        await transport.close()
