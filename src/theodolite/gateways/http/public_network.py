"""Public addresses only: what a stranger's application may be reached at.

A team that takes part in an event names an address, and our server calls it. It must
not thereby reach what stands behind our own walls; a name that is public today may
point inside tomorrow, so every connection is looked at and not the text alone.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from theodolite.domain.errors import InputError

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""IPv6 addresses by which a network without IPv4 reaches the IPv4 Internet (NAT64, RFC 6052)."""

_UNICAST = ipaddress.ip_network("2000::/3")
"""The IPv6 addresses that IANA has given out for the Internet."""

# Python's own tables differ between its versions, so that everything that matters is named here.
_REFUSED_4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "168.63.129.16/32",  # Azure's platform service
            "192.0.0.0/24",  # protocol assignments, among them Oracle's metadata service
            "192.88.99.0/24",  # relays of 6to4
            "100.64.0.0/10",  # behind a carrier's translation, among them Alibaba's metadata service
        ),
    )
)
_REFUSED_6 = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "2001::/23",  # protocol assignments, among them Teredo, which stands for an IPv4 address
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4, which stands for an IPv4 address
            "3fff::/20",  # documentation
        ),
    )
)


def is_public(address: str) -> bool:
    """Tell whether a numeric address can be met in the public network; other texts are no addresses."""
    try:
        met = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    older = _standing_for(met)
    if older is not None or isinstance(met, ipaddress.IPv4Address):
        return _is_public_4(older or ipaddress.IPv4Address(met.packed))
    return met.is_global and met in _UNICAST and not any(met in network for network in _REFUSED_6)


def _is_public_4(address: ipaddress.IPv4Address) -> bool:
    is_given_out = address.is_global and not address.is_multicast
    return is_given_out and not any(address in network for network in _REFUSED_4)


def _standing_for(address: _Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address stands for in a form that is in use; None for all others."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _TRANSLATED else address.ipv4_mapped


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
