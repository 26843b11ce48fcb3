"""Thoughts: what a model writes before it answers, where its server does not tell the two apart.

Most servers keep thoughts in a field of their own. Where they leave them in the reply (open
models behind a server without a parser for them), a simulated user would say its thoughts to
the application, and no judge's verdict could be read.
"""

from __future__ import annotations

import re

MARKS = {"<think>": "</think>", "[THINK]": "[/THINK]"}
"""What thoughts begin with, to what they end with."""

_END_ALONE = re.compile(r"^[ \t]*(?:</think>|\[/THINK\])[ \t]*$", re.MULTILINE)


def spoken(text: str) -> str:
    r"""Return what a reply says without the thoughts before it; nothing where it does not come to speak.

    Some prompts end with the mark that opens thoughts, so that a reply holds the closing one alone,
    on a line of its own.

    Example:
        >>> spoken("<think>\nThey greet me.\n</think>\n\nHello!")
        'Hello!'
        >>> spoken("Write <think> and </think> around it.")
        'Write <think> and </think> around it.'
    """
    start = text.lstrip()
    for opens, closes in MARKS.items():
        if start.startswith(opens):
            return start.partition(closes)[2].lstrip()
    if not any(closes in text for closes in MARKS.values()):  # known without looking at each line; most texts are so
        return text
    end = _END_ALONE.search(text)
    return text[end.end() :].lstrip() if end is not None and not _opens(text[: end.start()]) else text


def _opens(text: str) -> bool:
    return any(opens in text for opens in MARKS)


class Speech:
    """Lets through what a reply says and holds thoughts back, piece by piece as they come."""

    def __init__(self) -> None:
        """Begin before the first word."""
        self._blank: list[str] = []
        self._held = ""
        self._closes = ""
        self._has_thought = self._speaks = False

    def feed(self, piece: str) -> str:
        """Take the next piece and return what may be said now; empty where that is not known yet."""
        if self._speaks:
            return piece
        if not self._held and not piece.strip():  # a reply may begin with ever so much of it
            self._blank.append(piece)
            return ""
        self._held += piece
        if not self._closes and not self._has_thought:
            self._begin()
        if self._closes:
            self._think()
        return self._said() if not self._closes else ""

    def _begin(self) -> None:
        start = self._held.lstrip()
        for opens, closes in MARKS.items():
            if start.startswith(opens):
                self._held, self._closes, self._has_thought = start, closes, True

    def _think(self) -> None:
        _, closed, rest = self._held.partition(self._closes)
        if closed:
            self._held, self._closes = rest.lstrip(), ""
        else:  # a mark may be cut in two; what lies before it need not be looked at again
            self._held = self._held[-len(self._closes) :]

    def _said(self) -> str:
        start = self._held.lstrip()
        if not start or (not self._has_thought and any(opens.startswith(start) for opens in MARKS)):
            return ""
        self._speaks = True
        return start if self._has_thought else "".join((*self._blank, self._held))
