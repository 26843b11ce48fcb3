"""A private certificate authority, for servers and clients of tests."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

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
