"""What leads into a private network is not met, however it is written."""

from __future__ import annotations

import pytest

from tests.fakes.hosts import FakeHostResolver
from theodolite.domain.errors import InputError
from theodolite.gateways.proxies import NoAddress, SystemHostResolver, is_public, require_public_host, web_address

INSIDE = [
    "127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1",
    "::1", "::", "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1",
    "192.0.0.192", "168.63.129.16", "100.100.100.200", "fec0::1", "::127.0.0.1", "64:ff9b:1::7f00:1",
    "::ffff:0:127.0.0.1",
    "5f00::1", "3fff::1", "64:ff9b::a83f:8110", "::ffff:168.63.129.16", "2002:5db8:d822::1", "2001:0:5db8:d822::1",
    "2001:db8::1", "100::1", "fd00:ec2::254", "fe80::1", "240.0.0.1", "255.255.255.255", "192.88.99.1", "198.18.0.1",
]  # fmt: skip

OUTSIDE = [
    "93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::5db8:d822", "::ffff:93.184.216.34",
    "2a00:1450:4001:80b::200e",
]  # fmt: skip


@pytest.mark.parametrize("address", INSIDE)
def test_private_addresses_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", OUTSIDE)
def test_internet_addresses_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize("host", ["127.0.0.1:9", "[::1]:9", "10.0.0.7", "[::ffff:127.0.0.1]"])
def test_a_number_in_the_address_itself_is_refused(host):
    with pytest.raises(InputError, match="not a public address"):
        require_public_host(f"http://{host}/x", what="application `a`")


def test_names_are_checked_at_the_connection_if_there_is_no_resolver():
    require_public_host("https://bot.example/x", what="application `a`")


NAMES = FakeHostResolver({"bot.example": ["93.184.216.34"], "intranet.example": ["93.184.216.34", "10.0.0.7"]})


@pytest.mark.parametrize("url", ["https://intranet.example/x", "//intranet.example:8000"])
def test_a_name_with_a_private_address_is_refused(url):
    with pytest.raises(InputError, match=r"`intranet\.example`, whose address 10\.0\.0\.7 is not a public address"):
        require_public_host(url, what="application `a`", resolver=NAMES)


@pytest.mark.parametrize("host", ["bot.example", "unknown.example"])
def test_a_name_with_public_addresses_or_none_is_accepted(host):
    require_public_host(f"https://{host}/x", what="application `a`", resolver=NAMES)


def test_the_resolver_of_the_machine_returns_numbers_and_none_for_an_impossible_name():
    assert SystemHostResolver().addresses("127.0.0.1") == ("127.0.0.1",)
    assert SystemHostResolver().addresses("x" * 70) == ()


@pytest.mark.parametrize(
    ("url", "site", "authority", "target"),
    [
        ("http://h/v1", ("http", "h", 80), "h", "/v1"),
        ("https://H.example:8443", ("https", "h.example", 8443), "h.example:8443", "/"),
        ("http://h:80/a?b=1#c", ("http", "h", 80), "h", "/a?b=1"),
        ("http://[::1]:9/x", ("http", "::1", 9), "[::1]:9", "/x"),
        ("http://b\u00fccher.example/", ("http", "xn--bcher-kva.example", 80), "xn--bcher-kva.example", "/"),
        ("http://[fe80::1%25eth0]:9/x", ("http", "fe80::1%eth0", 9), "[fe80::1]:9", "/x"),
        ("http://h/a%20b?q=%2F", ("http", "h", 80), "h", "/a%20b?q=%2F"),
    ],
)
def test_an_address_is_split_into_its_parts(url, site, authority, target):
    address = web_address(url)

    assert (address.site, address.authority, address.target) == (site, authority, target)


def test_control_characters_are_escaped():
    assert web_address("http://h/a b\u00e9?c d").target == "/a%20b%C3%A9?c%20d"


@pytest.mark.parametrize(
    "url",
    ["h/x", "ftp://h", "http://", "http://a b/", "http://h:99999/", "http://[::1", "http://h:x/", "http://a..b/"],
)
def test_a_malformed_address_is_refused(url):
    with pytest.raises(NoAddress):
        web_address(url)


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "\u00fc..b"])
def test_an_unresolvable_name_is_refused(host):
    with pytest.raises(NoAddress):
        web_address(f"http://{host}/")
