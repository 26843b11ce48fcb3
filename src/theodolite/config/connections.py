"""Connections: proxy and certificates, addresses, headers and keys of endpoints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field

from theodolite.config.load_context import Entry, LoadContext
from theodolite.config.permissions import RefusedPath
from theodolite.config.spec import Filled, Spec, without_empty
from theodolite.domain.address import HEADER_NAME, WORDS, userinfo_of, without_userinfo
from theodolite.domain.fault import Severity
from theodolite.domain.network_settings import NO_PROXY, NetworkSettings
from theodolite.domain.secret_shapes import is_variable_name


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


_TEMPLATE = re.compile(r"\{\{.*?\}\}")


def url_problem(url: str) -> str:
    """Return what is wrong with an address; templates in it may stand for anything."""
    if userinfo_of(url):
        return WORDS
    plain = _TEMPLATE.sub("x", url)
    try:
        parts = urlsplit(plain)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return f"`{url}` is no address: the port must be a number up to 65535"
    if parts.scheme not in {"http", "https"}:
        return f"`{url}` is no address; it must begin with http:// or https://"
    if not host or re.search(r"\s", plain):
        return f"`{url}` is no address: {'it names no host' if not host else 'it holds a space'}"
    return ""


def header_problem(name: str, said: str = "`key_header` is") -> str:
    """Return what is wrong with the name of a header; empty where nothing is.

    Args:
        name: The name.
        said: How the message begins, up to the name.
    """
    return "" if HEADER_NAME.fullmatch(name) else f"{said} `{name}`; expected the name of a header: `X-Api-Key`"


def check_key(
    entry: Entry[Any],
    *,
    key: str,
    context: LoadContext,
    environ: Mapping[str, str] | None,
    at: str | tuple[str, ...] = "key",
) -> None:
    """Add a fault where a key was pasted, and a note where its variable is not set; `at` is the entry's key."""
    keys = (at,) if isinstance(at, str) else at
    if not key or getattr(key, "tag", "") == "secret" or set(key) == {"*"}:
        return
    if not is_variable_name(key):
        message = (
            f"`{keys[-1]}` must be the name of an environment variable, e.g. OPENAI_API_KEY; what stands here"
            " may be the key itself and is not repeated"
        )
        context.diagnostics.add(entry.fault(*keys, message=message))
    elif environ is not None and not environ.get(key):
        message = f"variable `{key}` is not set in this environment; it is needed before a run"
        context.diagnostics.add(entry.fault(*keys, message=message, severity=Severity.NOTE))


KEY = "connection"
"""Key of a study, a model or an HTTP application that holds the settings."""

_FILES = ("ca", "client_cert", "client_key")


def network_settings(
    entry: Entry[Any], context: LoadContext, environ: Mapping[str, str] | None, shared: NetworkSettings | None = None
) -> NetworkSettings:
    """Return the settings of an entry; wrong ones become faults.

    Args:
        entry: The study, or an entry of its models or applications.
        context: Takes the faults, and finds the files.
        environ: The environment, to see which variables are there; None where nobody asks.
        shared: The settings of the study, which hold for entries without any of their own.
    """
    spec = entry.spec.connection
    if spec is None:
        return shared or NetworkSettings()
    problem = _proxy_problem(spec.proxy)
    if problem:
        context.diagnostics.add(entry.fault(KEY, "proxy", message=problem))
    if spec.no_proxy and spec.proxy in {"", NO_PROXY}:
        message = "`no_proxy` needs `proxy`; hosts that the proxy of the environment leaves out stand in `NO_PROXY`"
        context.diagnostics.add(entry.fault(KEY, "no_proxy", message=message))
    for key in _FILES:
        _check_file(entry, key, str(getattr(spec, key)), context)
    for key in ("client_key", "client_key_password"):
        if getattr(spec, key) and not spec.client_cert:
            message = f"`{key}` needs `client_cert`: the PEM file with the certificate that the key belongs to"
            context.diagnostics.add(entry.fault(KEY, key, message=message))
    if spec.client_key_password:
        _check_password(entry, spec.client_key_password, context, environ)
    return NetworkSettings(
        proxy="" if problem else without_userinfo(spec.proxy).rstrip("/"),
        no_proxy=tuple(spec.no_proxy),
        ca=spec.ca,
        client_cert=spec.client_cert,
        client_key=spec.client_key,
        client_key_password=spec.client_key_password,
    )


def _check_password(entry: Entry[Any], variable: str, context: LoadContext, environ: Mapping[str, str] | None) -> None:
    check_key(entry, key=variable, context=context, environ=environ, at=(KEY, "client_key_password"))


def _check_file(entry: Entry[Any], key: str, name: str, context: LoadContext) -> None:
    """Add a fault where a file is not there, or must not be read."""
    if not name:
        return
    path = context.find(name)
    if path is None:
        message = f"there is no file `{name}`; expected a PEM file, named relative to the study's folder"
        context.diagnostics.add(entry.fault(KEY, key, message=message))
    elif isinstance(path, RefusedPath):
        context.diagnostics.add(entry.fault(KEY, key, message=path.message))


def _proxy_problem(proxy: str) -> str:
    """Return what is wrong with the address of a proxy; it is not repeated where it holds a password."""
    if proxy in {"", NO_PROXY}:
        return ""
    if userinfo_of(proxy):
        return (
            "`proxy` holds a user or a password; keep them out of the study:"
            " set `HTTPS_PROXY` to the whole address in the environment, and leave `proxy` out"
        )
    expected = "expected `http://HOST:PORT`, or `none` for no proxy"
    try:
        parts = urlsplit(proxy)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return f"`{proxy}` is no address of a proxy; {expected}"
    if parts.scheme.startswith("socks"):
        return f"`{proxy}` is a SOCKS proxy, and only HTTP proxies are supported; {expected}"
    if parts.scheme not in {"http", "https"} or not host or parts.path.strip("/"):
        return f"`{proxy}` is no address of a proxy; {expected}"
    return ""


def connection_from_domain(network: NetworkSettings) -> dict[str, Any]:
    """Return the value of a `connection` key."""
    return without_empty(
        proxy=network.proxy,
        no_proxy=list(network.no_proxy),
        ca=network.ca,
        client_cert=network.client_cert,
        client_key=network.client_key,
        client_key_password=network.client_key_password,
    )
