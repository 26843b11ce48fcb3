"""Words of studies and applications never steer a terminal."""

from __future__ import annotations

import pytest

from theodolite.domain.text import best_language, cost_text, dollars, is_tag, printable, printable_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("two\nlines", "two\nlines"),
        ("\x1b[2Kgone", "\ufffd[2Kgone"),
        ("\x1b]0;title\x07", "\ufffd]0;title\ufffd"),
        ("a\u202egnp.exe", "a\ufffdgnp.exe"),
        ("zero\u200bwidth", "zero\ufffdwidth"),
        ("\x9b31m", "\ufffd31m"),
        ("a\tb\r\n", "a    b\n"),
    ],
    ids=["plain", "lines", "csi", "osc", "bidi", "zero-width", "c1", "tab"],
)
def test_control_characters_are_replaced(text, shown):
    assert printable(text) == shown


def test_a_name_is_shown_on_one_line():
    assert printable_line("bot.py:answer\n0 errors") == "bot.py:answer 0 errors"


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        (0, "$0.00"),
        (1e-9, "$0.000001"),
        (0.000041, "$0.000041"),
        (0.001234, "$0.001234"),
        (0.005, "$0.005"),
        (0.01, "$0.01"),
        (5, "$5.00"),
        (1250, "$1,250.00"),
    ],
)
def test_an_amount_below_one_cent_is_not_shown_as_zero(usd, words):
    assert dollars(usd) == words


def test_a_cost_is_shown_in_dollars():
    assert (cost_text(0), cost_text(410), cost_text(930_000)) == ("$0.00", "$0.00041", "$0.93")


@pytest.mark.parametrize("tag", ["de", "pt-BR", "zh-Hant", "zh-Hant-TW", "es-419", "sl-rozaj", "ckb"])
def test_language_tags_are_recognised_by_their_form(tag):
    assert is_tag(tag)


@pytest.mark.parametrize("text", ["", "german", "d", "de_AT", "de-", "de AT", "x"])
def test_malformed_language_tags_are_refused(text):
    assert not is_tag(text)


@pytest.mark.parametrize(
    ("wanted", "offered", "best"),
    [
        (["de-AT", "en"], ["en", "de"], "de"),
        (["fr", "ar-EG"], ["en", "ar"], "ar"),
        (["de"], ["en", "de-CH"], "de-CH"),
        (["zh-Hant-TW"], ["zh", "zh-Hant"], "zh-Hant"),
        (["DE_at"], ["de-AT", "de"], "de-AT"),
        (["fr", "*"], ["en", "de"], ""),
        ([], ["en"], ""),
    ],
)
def test_the_preferred_available_language_is_used(wanted, offered, best):
    assert best_language(wanted, offered) == best
