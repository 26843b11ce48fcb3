"""Texts with their quoted parts."""

from __future__ import annotations

import pytest

from theodolite.web.viewer.dialogues import quoted_parts


@pytest.mark.parametrize(
    ("text", "quotes", "parts"),
    [
        ("you have 60 days", ["60 days"], [("you have ", False), ("60 days", True)]),
        ("you have 60 days", ["none of it", ""], [("you have 60 days", False)]),
        ("one two three", ["one two", "two three"], [("one two three", True)]),
        ("a <b> c", ["<b>"], [("a ", False), ("<b>", True), (" c", False)]),
        ("", ["x"], []),
    ],
    ids=["end", "not there", "overlap", "markup", "empty"],
)
def test_a_text_is_split_at_the_ends_of_its_quotes(text, quotes, parts):
    found = quoted_parts(text, quotes)

    assert [(part.text, part.is_quoted) for part in found] == parts
    assert "".join(part.text for part in found) == text
