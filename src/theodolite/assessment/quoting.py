"""Quotes: whether the words that a judge gives as evidence stand where it says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from theodolite.domain.annotation import SOURCE_MATERIAL, Quote
from theodolite.domain.dialogue import Dialogue

NOWHERE = -1
"""Number of the turn of a quote that names none."""

_SPACES = re.compile(r"\s+")
_TYPOGRAPHY = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u0060", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    "\u2026": "...",
    "\u00ad": "",
    "\u200b": "",
    "\u2060": "",
    "\ufeff": "",
}
_LETTERS = str.maketrans(_TYPOGRAPHY)
_EDGES = " \"'."


def plain_words(text: str) -> str:
    """Return a text without what typesetting changes: kinds of spaces, quotation marks, dashes and ellipses.

    Example:
        >>> plain_words("\u201cSixty\u00a0 days\u201d \u2026")
        '"Sixty days" ...'
    """
    return _SPACES.sub(" ", text.translate(_LETTERS)).strip()


def quotes_in(given: object, dialogue: Dialogue) -> tuple[Quote, ...]:
    """Return the quotes of a verdict, each looked up where it says that it stands.

    What has no words is no quote; one that names no turn stands nowhere.

    Args:
        given: What the verdict holds under `quotes`.
        dialogue: What was said.
    """
    entries = given if isinstance(given, list) else []
    quotes = (_quote(entry, dialogue) for entry in entries)
    return tuple(quote for quote in quotes if quote is not None)


def _quote(entry: object, dialogue: Dialogue) -> Quote | None:
    fields: Mapping[object, object] = entry if isinstance(entry, Mapping) else {"text": entry}
    number, text = fields.get("turn"), fields.get("text")
    if not isinstance(text, str) or not text.strip():
        return None
    is_number = isinstance(number, int) and not isinstance(number, bool)
    turn = number if isinstance(number, int) and is_number and abs(number) < _MOST else NOWHERE
    return looked_up(Quote(turn=turn, text=text), dialogue)


def looked_up(quote: Quote, dialogue: Dialogue) -> Quote:
    """Return a quote that says whether its words stand where it says."""
    words = plain_words(quote.text).strip(_EDGES)
    said = [plain_words(side) for side in _sides(dialogue, quote.turn)]
    return replace(quote, verified=bool(words) and any(words in side for side in said))


_MOST = 2**31
"""Beyond it no database keeps a number of a turn, and no dialogue has one."""


def _sides(dialogue: Dialogue, number: int) -> tuple[str, ...]:
    if number == SOURCE_MATERIAL:
        return (dialogue.material,)
    found = (turn for turn in dialogue.turns if turn.number == number)
    return next(((turn.prompt, turn.response, turn.context) for turn in found), ())
