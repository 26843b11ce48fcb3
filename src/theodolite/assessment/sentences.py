"""Sentences: the pieces of what was said that an annotator may take as evidence without a mouse."""

from __future__ import annotations

import re

_END = re.compile(r"(?<=[.!?\u2026\u3002\uff01\uff1f])[\"'\u201d\u2019)\]]*\s+|\n+\s*")
"""Where a sentence ends: its mark, what closes behind it and the space after; or the end of a line."""

_SHORT = re.compile(r"(?:\b(?:[A-Za-z]|e\.g|i\.e|etc|vs|cf|Mr|Mrs|Ms|Dr|Prof|St)|^\s*\d+)\.$")
"""An abbreviation, an initial or the number of a list, behind which no sentence ends."""

_LONGEST_SHORT = 40
"""Characters before a mark in which an abbreviation is looked for."""


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text; put together they are the text, letter by letter.

    The rule is the same for everybody and knows no language: marks of the end
    with a space after them, and ends of lines.

    Example:
        >>> sentences("He dies. Mr. Hale knows! Who?")
        ('He dies. ', 'Mr. Hale knows! ', 'Who?')
    """
    pieces: list[str] = []
    start = 0
    for end in _END.finditer(text):
        looked_from = max(start, end.start() - _LONGEST_SHORT)  # a text of abbreviations alone is not read over again
        if "\n" not in end.group() and _SHORT.search(text[looked_from : end.start()]):
            continue
        if text[start : end.start()].strip():
            pieces.append(text[start : end.end()])
            start = end.end()
    rest = text[start:]
    if rest.strip() or not pieces:
        return (*pieces, rest) if rest else tuple(pieces)
    return (*pieces[:-1], pieces[-1] + rest)
