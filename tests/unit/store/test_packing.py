"""Texts are packed against what they resemble, and come back as they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from theodolite.store.packing import packed, unpacked

BASE = b"You are Ana, a customer of a shop. Write as people write in a chat: one or two short sentences. " * 4


@given(text=some.binary(max_size=9_000), base=some.binary(max_size=9_000))
def test_whatever_was_packed_comes_back(text: bytes, base: bytes) -> None:
    small = packed(base + text, base)

    assert small is None or unpacked(small, base) == base + text


@pytest.mark.parametrize("times", [1, 50], ids=["within a small window", "beyond it"])
def test_kin_take_a_fraction_of_their_size(times: int) -> None:
    text = BASE.replace(b"Ana", b"Bo") * times

    small = packed(text, BASE * times)

    assert small is not None
    assert len(small) < len(text) / 5


@pytest.mark.parametrize(
    "text", [b"short", bytes(range(256))], ids=["too short", "without anything in common with itself"]
)
def test_what_would_not_become_smaller_is_left_alone(text: bytes) -> None:
    assert packed(text) is None
