"""Escaping: letters that a person does not see and a model may obey, made visible."""

from __future__ import annotations

import re

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_TEMPLATE = re.compile(r"<(?=\|)|(?<=\|)(?=>)|(?<=\[)(?=/?INST\])")
_JOINER = "\u2060"


def escaped(text: str) -> str:
    r"""Return a text as a judge is shown it: unseen letters written out, marks of chat templates broken.

    Letters of the Unicode tag block can carry a message that no reader of the
    report would see, and letters that change the direction of writing can hide
    one. A mark like `<|im_start|>` may be read by a server as the beginning of
    another speaker's words.

    Example:
        >>> escaped("fine\u202e.")
        'fine\\u{202e}.'
    """
    if text.isascii() and "|" not in text and "INST]" not in text and text.replace("\n", "").isprintable():
        return text  # nearly every text; looking letter by letter takes ten times as long
    visible = _UNSEEN.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)
    return _TEMPLATE.sub(lambda found: f"{found[0]}{_JOINER}", visible)
