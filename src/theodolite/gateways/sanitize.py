"""Repair: letters that no database and no JSON document can hold."""

from __future__ import annotations

import re

_UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")


def repaired(text: str) -> tuple[str, int]:
    r"""Return a text in which NUL and lone surrogates became U+FFFD, and how many there were.

    This happens before anybody sees the reply: were it done when the reply is
    stored, a resumed dialogue would go on with other words than the first one.

    Example:
        >>> repaired("a\x00b")
        ('a\ufffdb', 1)
    """
    if text.isascii() and "\x00" not in text:  # known without looking; most texts are
        return text, 0
    return _UNKEEPABLE.subn("\ufffd", text)
