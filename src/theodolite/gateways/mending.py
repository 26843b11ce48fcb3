"""Mending: letters that no database and no JSON document can hold."""

from __future__ import annotations

import re

_UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")


def mended(text: str) -> str:
    r"""Return a text in which NUL and lone surrogates became U+FFFD.

    This happens before anybody sees the reply: were it done when the reply is
    stored, a resumed dialogue would go on with other words than the first one.

    Example:
        >>> mended("a\x00b")
        'a\ufffdb'
    """
    return _UNKEEPABLE.sub("\ufffd", text)
