"""Addresses: no user and no password may stand in one, since records are stored and shown; names of headers."""

from __future__ import annotations

import re

from theodolite.domain.errors import InputError

WORDS = (
    "an address may hold no user and no password;"
    " keep the key in an environment variable and give `key:` the variable's name"
)
"""What people are told about an address that holds a user or a password; never the address itself."""

HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""Names of HTTP headers (RFC 9110, section 5.6.2): servers and proxies may read any other name differently."""

_PLAIN = re.compile(r"https?://(?:[^/?#@:\s\[\]]+|\[[0-9A-Fa-f:.]+\])(?::\d*)?(?:[/?#]|\Z)")
_BEFORE_AT = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?/{0,2}(?P<who>.*)@", re.DOTALL)


def userinfo_of(address: str) -> str:
    """Return what may be a user and a password in an address, well written or not; empty where nothing is.

    Example:
        >>> userinfo_of("https://ana:pa/ss@models.example/v1")
        'ana:pa/ss'
        >>> userinfo_of("https://models.example:8000/@ana")
        ''
    """
    if _PLAIN.match(address):
        return ""
    found = _BEFORE_AT.match(address)
    return found["who"] if found else ""


def without_userinfo(address: str) -> str:
    """Return an address without its user and password."""
    who = userinfo_of(address)
    return address.replace(f"{who}@", "", 1) if who else address


def refuse_userinfo(record: str, address: str) -> None:
    """Refuse an address that holds a user or a password, without repeating it.

    Raises:
        InputError: If it does.
    """
    if userinfo_of(address):
        message = f"{record}: {WORDS}"
        raise InputError(message)
