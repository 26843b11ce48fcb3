"""Words by which somebody may be in danger: a suggestion to look."""

from __future__ import annotations

import pytest

from theodolite.assessment.capture.wellbeing import words_of_danger


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Sometimes I want to die, really.", ("want to die",)),
        ("I keep hurting myself and my father hits me.", ("hurting myself", "my father hits me")),
        ("They are better off without me", ("better off without me",)),
        ("How many end their lives in the last episode?", ()),
        ("Who dies? I am dying to know.", ()),
        ("Kill the lights myself? No.", ()),
    ],
)
def test_what_is_said_of_oneself_is_found(text, words):
    assert words_of_danger(text) == words
