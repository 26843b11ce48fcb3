"""Printable texts: words of studies and applications on a terminal, without the characters that steer it."""

from __future__ import annotations

_REPLACED = {"\t": "    ", "\r": "", "\u00a0": " "}


def printable(text: str) -> str:
    r"""Return a text in which characters that move the cursor, change colours or reorder letters are replaced.

    Line breaks stay.

    Example:
        >>> printable("\x1b[2Kfine")
        '�[2Kfine'
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter == "\n" else _REPLACED.get(letter, "\ufffd") for letter in text
    )


def printable_line(text: str) -> str:
    """Return a text on one line: a name with line breaks must not look like lines of the program."""
    return printable(" ".join(text.split()))
