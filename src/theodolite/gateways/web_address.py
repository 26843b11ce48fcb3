"""Web addresses: what a request needs to know of one, and nothing that could end a line of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, urlsplit

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*)|[0-9A-Fa-f:.]+(?:%[\w.-]+)?")
_LONGEST_PART = 63
"""Letters of one part of a name at most."""

_STAYS = "!#$%&'()*+,-./:;=?@[]_~|"


class NoAddress(ValueError):
    """A text is no address of the web."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAddress:
    """An address of the web, taken apart.

    Attributes:
        url: The whole.
        scheme: `http` or `https`.
        host: Name in the letters of the network, or number.
        port: Port.
        named_port: Port as far as the address names one.
        target: Path and query, as they are sent.
    """

    url: str
    scheme: str
    host: str
    port: int
    named_port: int | None
    target: str

    @property
    def site(self) -> tuple[str, str, int]:
        """What connections are shared by."""
        return self.scheme, self.host, self.port

    @property
    def is_secure(self) -> bool:
        """Whether it is met over TLS."""
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """Host and port as a request names them; an IPv6 zone is this machine's own affair."""
        host = f"[{self.host.partition('%')[0]}]" if ":" in self.host else self.host
        return f"{host}:{self.named_port}" if self.named_port not in {None, _PORTS[self.scheme]} else host


@lru_cache(maxsize=256)
def web_address(url: str) -> WebAddress:
    """Take an address apart; most calls go to the same few.

    Raises:
        NoAddress: If it is none.
    """
    try:
        parts = urlsplit(url)
        host = _networked(parts.hostname or "")
        port = parts.port
    except (ValueError, UnicodeError):
        raise NoAddress from None
    if parts.scheme not in _PORTS or not _HOST.fullmatch(host):
        raise NoAddress
    target = quote(parts.path or "/", safe=_STAYS) + (f"?{quote(parts.query, safe=_STAYS)}" if parts.query else "")
    return WebAddress(
        url=url,
        scheme=parts.scheme,
        host=host,
        port=_PORTS[parts.scheme] if port is None else port,
        named_port=port,
        target=target,
    )


def below(url: str, path: str) -> str:
    """Return the address of a path below another address, whose query stays at the end.

    Example:
        >>> below("https://models.example/large?version=1", "/chat")
        'https://models.example/large/chat?version=1'
    """
    base, mark, query = url.partition("?")
    return f"{base.rstrip('/')}{path}{mark}{query}"


def _networked(host: str) -> str:
    """Return a host in the letters of the network.

    Raises:
        UnicodeError: If no name may be spelt so: a part is empty or too long.
    """
    if ":" in host:
        return host.replace("%25", "%")
    if host.isascii() and all(0 < len(part) <= _LONGEST_PART for part in host.removesuffix(".").split(".")):
        return host
    return host.encode("idna").decode("ascii")
