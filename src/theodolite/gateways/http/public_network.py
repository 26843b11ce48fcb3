"""Public addresses only: what a stranger's application may be reached at.

A team that takes part in an event names an address, and our server calls it. It must
not thereby reach what stands behind our own walls; a name that is public today may
point inside tomorrow, so every connection is looked at and not the text alone.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from theodolite.domain.errors import InputError
from theodolite.gateways.http.pool import Found, LookUp, look_up_host
from theodolite.gateways.trouble import PrivateAddress

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Tell whether a numeric address can be met in the public network; other texts are no addresses."""
    try:
        met = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(one.is_global and not one.is_multicast for one in _meanings(met))


def _meanings(address: _Address) -> list[_Address]:
    """Return an address and the older kind of address that it may stand for."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    older = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _TRANSLATED:
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    return [one for one in older if one is not None] or [address]


def require_public_host(url: str, *, what: str) -> None:
    """Refuse an address whose host is written as a number that is not public; names are looked at when they are met.

    Args:
        url: The address.
        what: Whose address it is, for the message.

    Raises:
        InputError: If the host is a number of a private network, of this machine, or of several machines.
    """
    host = urlsplit(url).hostname or ""
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return
    if not is_public(host):
        message = f"{what} stands at `{host}`, which is no public address; name one that the Internet can reach"
        raise InputError(message)


async def look_up_public_host(host: str, port: int, *, look_up: LookUp = look_up_host) -> Found:
    """Return the public addresses of a host, and none of the others.

    Args:
        host: Name or number.
        port: Port.
        look_up: Finds all its addresses.

    Raises:
        PrivateAddress: If it has none.
    """
    public = [one for one in await look_up(host, port) if is_public(str(one[4][0]))]
    if not public:
        raise PrivateAddress
    return public
