"""Addresses are taken apart, and nothing in them can end a line of a request."""

from __future__ import annotations

import pytest

from theodolite.gateways.web_address import NoAddress, web_address


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
def test_an_address_is_taken_apart(url, site, authority, target):
    address = web_address(url)

    assert (address.site, address.authority, address.target) == (site, authority, target)


def test_what_a_line_cannot_hold_is_written_in_other_signs():
    assert web_address("http://h/a b\u00e9?c d").target == "/a%20b%C3%A9?c%20d"


@pytest.mark.parametrize(
    "url",
    ["h/x", "ftp://h", "http://", "http://a b/", "http://h:99999/", "http://[::1", "http://h:x/", "http://a..b/"],
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(NoAddress):
        web_address(url)


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "\u00fc..b"])
def test_a_name_that_no_look_up_could_find_is_no_address(host):
    with pytest.raises(NoAddress):
        web_address(f"http://{host}/")
