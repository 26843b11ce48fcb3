from __future__ import annotations

import pytest

from theodolite.assessment.capture.personal import mask_personal, personal_details

FOUND = {
    "mail me at ana.b+x@example.co.uk.": ("e-mail address", "ana.b+x@example.co.uk"),
    "call +49 30 901820 today": ("phone number", "+49 30 901820"),
    "call (415) 555-2671": ("phone number", "(415) 555-2671"),
    "card 4111 1111 1111 1111": ("payment card", "4111 1111 1111 1111"),
    "pay to DE89 3704 0044 0532 0130 00, please": ("bank account", "DE89 3704 0044 0532 0130 00"),
    "my number is 536-90-4399": ("national identity number", "536-90-4399"),
    "codice RSSMRA85T10A562S": ("national identity number", "RSSMRA85T10A562S"),
    "NIR 2 95 10 99 126 111 93": ("national identity number", "2 95 10 99 126 111 93"),
    "from 192.168.1.17 it works": ("IP address", "192.168.1.17"),
    "from 2001:db8::8a2e:370:7334": ("IP address", "2001:db8::8a2e:370:7334"),
}


@pytest.mark.parametrize("text", FOUND, ids=list(FOUND))
def test_details_are_found_with_their_place(text: str) -> None:
    (detail,) = personal_details(text)

    assert (detail.kind.value, detail.words) == FOUND[text]
    assert text[detail.start : detail.end] == detail.words


@pytest.mark.parametrize(
    "text",
    [
        "card 4111 1111 1111 1112",
        "DE89 3704 0044 0532 0130 01",
        "on 2026-03-02 at 10:30:45",
        "for 1,234,567.89 dollars",
        "version 1.2.999.4",
        "a ratio of 12::30",
        "@home and user@localhost",
        "",
    ],
)
def test_what_only_looks_like_a_detail_is_none(text: str) -> None:
    assert personal_details(text) == ()


def test_masking_keeps_every_place() -> None:
    text = "Ana, ana@example.org, 30 years"

    assert mask_personal(text) == f"Ana, {'•' * 15}, 30 years"
    assert len(mask_personal(text)) == len(text)


def test_numbers_of_other_countries_are_found_where_they_are_named() -> None:
    assert personal_details("call 030 901820") == ()
    assert len(personal_details("call 030 901820", regions=("DE",))) == 1
