from __future__ import annotations

import pytest

from theodolite.domain.language import best_language, is_tag


@pytest.mark.parametrize("tag", ["de", "pt-BR", "zh-Hant", "zh-Hant-TW", "es-419", "sl-rozaj", "ckb"])
def test_language_tags_are_known_by_their_form(tag):
    assert is_tag(tag)


@pytest.mark.parametrize("text", ["", "german", "d", "de_AT", "de-", "de AT", "x"])
def test_what_is_formed_otherwise_is_no_tag(text):
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
def test_the_dearest_wish_that_can_be_met_is_met(wanted, offered, best):
    assert best_language(wanted, offered) == best
