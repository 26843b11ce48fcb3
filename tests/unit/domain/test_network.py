from __future__ import annotations

import pytest

from theodolite.domain.application import HttpEndpoint, ModelEndpoint
from theodolite.domain.errors import InputError
from theodolite.domain.network import (
    holds_secret,
    is_key_header,
    is_variable_name,
    names_secret,
    strike_out,
    userinfo_of,
    without_userinfo,
)

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
def test_credentials_in_an_address_are_found_in_any_notation(address, who, rest):
    assert (userinfo_of(address), without_userinfo(address)) == (who, rest)


@pytest.mark.parametrize("address", FREE)
def test_an_address_without_credentials_is_unchanged(address):
    assert (userinfo_of(address), without_userinfo(address)) == ("", address)


@pytest.mark.parametrize("address", [address for address, _, _ in HELD])
@pytest.mark.parametrize(
    "record", [lambda url: ModelEndpoint(name="m", url=url), lambda url: HttpEndpoint(url=url)], ids=["model", "http"]
)
def test_no_record_accepts_a_password(record, address):
    with pytest.raises(InputError, match="no user and no password") as caught:
        record(address)

    assert "pw" not in str(caught.value)


SECRETS = [
    "sk-proj-abcdefghijklmnop",
    "ghp_abcdefghijklmnopqrstuvwx",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-1234567890-abc",
    "AIzaSyA1234567890abcdefghijk",
    "hf_abcdefghijklmnopqrstuv",
    "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abcdef",
    "Bearer abcdefghijklmnop",
    "https://user:password@host.example/v1",
    "https://host.example/v1?api-version=1&key=0123456789abc",
    "https://host.example/v1?subscription-key=0123456789abc",
    "https://host.example/api/chat?code=AAAAbbbb1111ccccDDDD2222",
    "https://host.example/chat?api-version=1&x=0f9e8d7c6b5a49382716050403020100",
    "gsk_abcdefghijklmnopqrstuvwx",
    "glpat-abcdefghijklmnopqrst",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_likely_secrets_are_masked_at_equal_length(secret):
    struck = strike_out(f"key: {secret} end")

    assert holds_secret(secret)
    assert len(struck) == len(f"key: {secret} end")
    assert "*" * 9 in struck


@pytest.mark.parametrize(
    "text",
    [
        "sk-short",
        "Bearer {{ key }}",
        "http://127.0.0.1:8000/v1",
        "risk-assessment-of-all",
        "http://host.example/chat?token={{ session }}&api-version=2024-10-21",
        "Which key=signature does the song have?",
        "http://host.example/openai?api-version=2024-10-21-preview&deployment=gpt-4o-mini-2024-07-18",
        "http://host.example/?tenant=550e8400-e29b-41d4-a716-446655440000&topic=counterrevolutionaries",
    ],
)
def test_common_words_are_not_secrets(text):
    assert not holds_secret(text)


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("OPENAI_API_KEY", True),
        ("key", True),
        ("MY_KEY_2", True),
        ("sk-abc", False),
        ("0f9e", False),
        ("a1b2c3d4e5f6a7b8c9d0e1f2", False),
        ("AKIAIOSFODNN7EXAMPLE", False),
        ("A" * 65, False),
    ],
)
def test_names_of_variables_are_distinguished_from_keys(word, known):
    assert is_variable_name(word) is known


@pytest.mark.parametrize(
    ("key", "known"), [("key", True), ("api_key", True), ("X-Api-Key", True), ("Authorization", True), ("keys", False)]
)
def test_likely_names_of_secrets_are_recognised(key, known):
    assert names_secret(key) is known


def test_the_search_for_secrets_takes_linear_time():
    """A pattern that looks ahead from each letter would not come back from this one."""
    assert not holds_secret("?a=" + "x" * 2_000_000)


@pytest.mark.parametrize(
    ("name", "known"),
    [("X-Api-Key", True), ("authorization", True), ("Cookie", True), ("X-Auth", True), ("Accept", False)],
)
def test_headers_with_keys_are_recognised(name, known):
    assert is_key_header(name) is known
