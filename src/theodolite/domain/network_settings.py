"""Network settings: how calls to one endpoint leave this machine, as a study writes it down."""

from __future__ import annotations

from dataclasses import dataclass

NO_PROXY = "none"
"""Value of `proxy` for a direct connection, whatever the environment says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSettings:
    """Proxy and certificates for calls to one endpoint; none of it decides a reply.

    Attributes:
        proxy: Address of the proxy; `none` for a direct connection; empty for the proxy of the environment.
        no_proxy: Hosts that are called directly although `proxy` names a proxy: names with their subdomains,
            IP addresses, or networks such as `10.0.0.0/8`.
        ca: PEM file with certificate authorities to trust beside those of the system, relative to the study's folder.
        client_cert: PEM file with the certificate that this side presents.
        client_key: PEM file with its private key; empty where `client_cert` holds it too.
        client_key_password: Name of the environment variable that holds the key's passphrase; empty for none.
    """

    proxy: str = ""
    no_proxy: tuple[str, ...] = ()
    ca: str = ""
    client_cert: str = ""
    client_key: str = ""
    client_key_password: str = ""

    @property
    def has_validation_reports(self) -> bool:
        """Whether it names any file of certificates."""
        return bool(self.ca or self.client_cert)
