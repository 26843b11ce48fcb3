"""Blocking out: words that some readers must not see, with each letter replaced so that lengths and places stay."""

from __future__ import annotations

BLOCK = "\N{FULL BLOCK}"
"""What stands in place of each hidden character, so that lengths and places stay."""


def blocked(text: str, start: int, end: int) -> str:
    """Return a text with one stretch of it blocked out; its length stays.

    Example:
        >>> blocked("Call Ana now", 5, 8)
        'Call \N{FULL BLOCK}\N{FULL BLOCK}\N{FULL BLOCK} now'
    """
    start, end = max(0, start), min(len(text), end)
    return text[:start] + BLOCK * max(0, end - start) + text[end:]
