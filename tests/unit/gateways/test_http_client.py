"""Addresses are checked and shown without secrets."""

import pytest

from theodolite.domain.errors import InputError
from theodolite.gateways.http_client import checked_address, host_of


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000"),
        ("https://api.example.org/v1", "api.example.org"),
        ("https://ana:secret@api.example.org:443/v1", "api.example.org:443"),
    ],
)
def test_the_host_is_shown_without_credentials(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://h/x", "http://", "/v1", "http://[::1", "file:///etc"])
def test_a_malformed_address_is_reported(url: str) -> None:
    with pytest.raises(InputError, match="model `m` needs an address"):
        checked_address(url, what="model `m`")


def test_an_address_with_a_password_is_not_used_and_not_repeated() -> None:
    with pytest.raises(InputError, match="no user and no password") as caught:
        checked_address("https://ana:pw123@h/v1", what="model `m`")

    assert "pw123" not in str(caught.value)


def test_a_trailing_slash_makes_no_difference() -> None:
    assert checked_address("http://h:1/v1/", what="m") == checked_address("http://h:1/v1", what="m")
