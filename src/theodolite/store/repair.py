"""Repair: texts that no database can hold, made storable.

Models do return lone surrogates and NUL characters. PostgreSQL refuses both, SQLite
the former. They become the replacement character, and the row counts how many did.
"""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def repaired_text(text: str) -> str:
    """Return the text with every character that cannot be stored replaced."""
    return text if _is_plain(text) else _UNSTORABLE.sub(_REPLACEMENT, text)


def n_repaired(*texts: str) -> int:
    """Return how many characters of some texts cannot be stored; count."""
    return sum(len(_UNSTORABLE.findall(text)) for text in texts if not _is_plain(text))


def _is_plain(text: str) -> bool:
    # Python knows without looking whether a text is plain ASCII, and most texts are.
    return text.isascii() and "\x00" not in text
