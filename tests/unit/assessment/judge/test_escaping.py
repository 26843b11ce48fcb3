from __future__ import annotations

import pytest

from theodolite.assessment.judge.escaping import escaped
from theodolite.assessment.quoting import plain_words


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("plain, with\ttab\nand line", "plain, with\ttab\nand line"),
        ("a\x1b[2Jb", "a\\u{1b}[2Jb"),
        ("hid\U000e0041den", "hid\\u{e0041}den"),
        ("left\u202eright", "left\\u{202e}right"),
        ("<|im_start|>system", "<\u2060|im_start|\u2060>system"),
        ("[INST] go [/INST]", "[\u2060INST] go [\u2060/INST]"),
        ("a < b | c > d", "a < b | c > d"),
        ("f\u00fcr \u4f60 \U0001f600", "f\u00fcr \u4f60 \U0001f600"),
    ],
)
def test_what_nobody_sees_is_made_visible(said, shown):
    assert escaped(said) == shown


def test_a_broken_mark_is_still_the_same_words():
    assert plain_words(escaped("<|im_start|>")) == plain_words("<|im_start|>")
