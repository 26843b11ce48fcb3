"""Shape of connection settings, which models and applications have in common."""

from __future__ import annotations

from pydantic import Field

from theodolite.config.shapes.base import Filled, Shape


class ConnectionShape(Shape):
    """Proxy and certificates of calls."""

    proxy: str = ""
    """Address of the HTTP proxy, e.g. `http://proxy.example:3128`, or `none`; where left out, `HTTPS_PROXY`,
    `HTTP_PROXY` and `NO_PROXY` of the environment decide."""
    no_proxy: list[Filled] = Field(default_factory=list)
    """Hosts that are called directly although `proxy` is set: names with their subdomains, addresses, `10.0.0.0/8`."""
    ca: str = ""
    """PEM file with certificate authorities to trust beside those of the system."""
    client_cert: str = ""
    """PEM file with the certificate that identifies this side (mutual TLS)."""
    client_key: str = ""
    """PEM file with its private key; left out where `client_cert` holds the key too."""
    client_key_password: str = ""
    """Name of the environment variable that holds the passphrase of the private key."""
