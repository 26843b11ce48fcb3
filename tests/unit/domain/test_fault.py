from __future__ import annotations

import pytest

from theodolite.domain.fault import did_you_mean


@pytest.mark.parametrize(
    ("word", "words"),
    [("promptz", ". Did you mean `prompt`?"), ("goall", ". Did you mean `goal`?"), ("zebra", ""), ("", "")],
)
def test_the_likeliest_known_word_is_offered(word, words):
    assert did_you_mean(word, ["prompt", "goal", "response"]) == words
