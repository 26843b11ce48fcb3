"""Specs of connection settings, which models and applications have in common."""

from __future__ import annotations

from pydantic import Field

from theodolite.config.specs.base import Filled, Spec


class ConnectionSpec(Spec):
    """Proxy and certificates of calls."""

    proxy: str = ""
    """Address of the HTTP proxy, e.g. `http://proxy.example:3128`, or `none`; default: `HTTPS_PROXY`, `HTTP_PROXY`
    and `NO_PROXY` of the environment."""
    no_proxy: list[Filled] = Field(default_factory=list)
    """Hosts to call directly without `proxy`: names including subdomains, addresses, `10.0.0.0/8`."""
    ca: str = ""
    """PEM file with further trusted certificate authorities."""
    client_cert: str = ""
    """PEM file with the client certificate (mutual TLS)."""
    client_key: str = ""
    """PEM file with its private key; omit it if `client_cert` contains the key."""
    client_key_password: str = ""
    """Name of the environment variable with the passphrase of the private key."""
