"""A private certificate authority and a proxy, for servers and clients of tests."""

from __future__ import annotations

import asyncio
import base64
import ssl
import threading
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

PASSPHRASE = "open sesame"

_FROM, _UNTIL = datetime(2020, 1, 1, tzinfo=UTC), datetime(2120, 1, 1, tzinfo=UTC)

_PEM = serialization.Encoding.PEM


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def _pem_of_key(key: ec.EllipticCurvePrivateKey, passphrase: str = "") -> bytes:
    locked = serialization.BestAvailableEncryption(passphrase.encode()) if passphrase else serialization.NoEncryption()
    return key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, locked)


class PrivateAuthority:
    """Signs certificates that only those trust who have its own."""

    def __init__(self, name: str = "Example Corporation Root") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        built = self._begin(self._name, self._key, 1)
        built = built.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self._certificate = built.sign(self._key, hashes.SHA256())

    def _begin(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, number: int) -> x509.CertificateBuilder:
        built = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(key.public_key())
        built = built.serial_number(number).not_valid_before(_FROM).not_valid_after(_UNTIL)
        own, theirs = x509.SubjectKeyIdentifier.from_public_key, x509.AuthorityKeyIdentifier.from_issuer_public_key
        built = built.add_extension(own(key.public_key()), critical=False)
        return built.add_extension(theirs(self._key.public_key()), critical=False)

    def write(self, file: Path) -> Path:
        """Write its own certificate."""
        file.write_bytes(self._certificate.public_bytes(_PEM))
        return file

    def write_certificate(self, file: Path, name: str, *, key_file: Path | None = None, passphrase: str = "") -> Path:
        """Write a certificate of a name, and its key into the same file or into another one."""
        key = ec.generate_private_key(ec.SECP256R1())
        built = self._begin(_name(name), key, 2)
        built = built.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        pem, pem_of_key = built.sign(self._key, hashes.SHA256()).public_bytes(_PEM), _pem_of_key(key, passphrase)
        file.write_bytes(pem if key_file is not None else pem_of_key + pem)
        if key_file is not None:
            key_file.write_bytes(pem_of_key)
        return file

    def server_context(self, folder: Path, name: str, *, asks_clients: bool = False) -> ssl.SSLContext:
        """Return what a server of a name speaks TLS with; `asks_clients` demands a certificate of this authority."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.write_certificate(folder / f"server-{name}.pem", name))
        if asks_clients:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.write(folder / "clients.pem"))
        return context


@cache
def private_authority() -> PrivateAuthority:
    """Return one authority for all tests of a process."""
    return PrivateAuthority()


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
