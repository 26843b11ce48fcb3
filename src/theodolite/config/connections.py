"""Connection settings: proxy and certificates, for all calls of a study or for those of one endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from theodolite.config.endpoints import check_key
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.study_paths import RefusedPath
from theodolite.domain.address import userinfo_of, without_userinfo
from theodolite.domain.network_settings import NO_PROXY, NetworkSettings

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
