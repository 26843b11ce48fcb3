from __future__ import annotations

import pytest

from theodolite.domain.address import userinfo_of, without_userinfo
from theodolite.domain.application import HttpEndpoint
from theodolite.domain.errors import InputError
from theodolite.domain.model import ModelEndpoint

HELD = [
    ("https://ana:pw@h.example/v1", "ana:pw", "https://h.example/v1"),
    ("https://pw@h.example", "pw", "https://h.example"),
    ("https://ana:p/w@h.example/v1", "ana:p/w", "https://h.example/v1"),
    ("https://ana:p@w@h.example/v1", "ana:p@w", "https://h.example/v1"),
    ("https://ana:{{ pw }}@h.example/v1", "ana:{{ pw }}", "https://h.example/v1"),
    ("HTTPS://ana:pw@h.example", "ana:pw", "HTTPS://h.example"),
    ("//ana:pw@h.example", "ana:pw", "//h.example"),
]
FREE = [
    "",
    "https://h.example",
    "http://127.0.0.1:8000/v1",
    "https://h.example/@ana",
    "https://h.example:8000/@ana",
    "https://[::1]:80/@ana",
    "https://h.example?mail=ana@h.example",
    "https://h.example/{{ prompt }}",
]


@pytest.mark.parametrize(("address", "who", "rest"), HELD)
def test_a_user_and_a_password_are_found_however_they_are_written(address, who, rest):
    assert (userinfo_of(address), without_userinfo(address)) == (who, rest)


@pytest.mark.parametrize("address", FREE)
def test_an_address_without_them_stays_as_it_is(address):
    assert (userinfo_of(address), without_userinfo(address)) == ("", address)


@pytest.mark.parametrize("address", [address for address, _, _ in HELD])
@pytest.mark.parametrize(
    "record", [lambda url: ModelEndpoint(name="m", url=url), lambda url: HttpEndpoint(url=url)], ids=["model", "http"]
)
def test_no_record_holds_a_password_so_nothing_can_store_or_show_one(record, address):
    with pytest.raises(InputError, match="no user and no password") as caught:
        record(address)

    assert "pw" not in str(caught.value)
