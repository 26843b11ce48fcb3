"""Texts that no database can hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.store.fields import n_repaired, repaired_text


@pytest.mark.parametrize(
    ("text", "repaired", "count"),
    [
        ("", "", 0),
        ("plain, naïve, 😀", "plain, naïve, 😀", 0),
        ("a\x00b", "a\ufffdb", 1),
        ("\ud83d", "\ufffd", 1),
        ("\udfff\x00\ud800", "\ufffd\ufffd\ufffd", 3),
        ("tab\tand\nline", "tab\tand\nline", 0),
    ],
)
def test_only_characters_that_cannot_be_stored_are_replaced(text: str, repaired: str, count: int) -> None:
    assert (repaired_text(text), n_repaired(text)) == (repaired, count)


@given(st.text(st.characters(exclude_categories=())))
def test_a_repaired_text_can_be_encoded_and_needs_no_repair(text: str) -> None:
    repaired = repaired_text(text)

    repaired.encode()
    assert "\x00" not in repaired
    assert n_repaired(repaired) == 0
    assert len(repaired) == len(text)
