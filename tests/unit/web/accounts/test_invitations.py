"""Words that stand for a row."""

from __future__ import annotations

import pytest

from theodolite.web.accounts.invitations import WORDS, as_written, digest_of, words_for


def test_a_word_encodes_eight_bits_and_all_are_distinct():
    assert len(WORDS) == len(set(WORDS)) == 256


def test_words_are_stable_per_row_and_differ_between_rows():
    assert words_for("code", "x.1") == words_for("code", "x.1")
    assert len({words_for("code", "x.1"), words_for("code", "x.2"), words_for("start", "x.1")}) == 3


@pytest.mark.parametrize("typed", ["palm-river-otter-0481", " Palm RIVER otter 0481 ", "palm, river; otter_0481\n"])
def test_the_spelling_of_entered_words_does_not_matter(typed):
    assert as_written(typed) == "palm-river-otter-0481"
    assert digest_of("code", typed) == digest_of("code", "palm-river-otter-0481")


def test_another_key_gives_other_words(settings_key):
    before = words_for("code", "x.1"), digest_of("code", "palm")
    settings_key("another key")

    assert words_for("code", "x.1") != before[0]
    assert digest_of("code", "palm") != before[1]


@pytest.fixture
def settings_key(monkeypatch):
    from django.conf import settings

    return lambda key: monkeypatch.setattr(settings, "SECRET_KEY", key)
