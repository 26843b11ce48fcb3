"""Redacting: overlays that hide words of a dialogue from annotators, and never change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from theodolite.domain.annotating.case import Redaction, TurnText
from theodolite.domain.dialogue import Dialogue, Turn
from theodolite.domain.errors import InputError
from theodolite.domain.text import blocked


def redacted(dialogue: Dialogue, redactions: Sequence[Redaction], category: str) -> Dialogue:
    """Return a dialogue as annotators of a category may see it: same turns, same lengths, hidden words.

    Args:
        dialogue: The original.
        redactions: What is to be hidden.
        category: Name of the category; those that a redaction is shown in see the words.
    """
    hidden = [one for one in redactions if category not in one.shown_in]
    if not hidden:
        return dialogue
    return replace(dialogue, turns=tuple(_redacted(turn, hidden) for turn in dialogue.turns))


def _redacted(turn: Turn, redactions: Sequence[Redaction]) -> Turn:
    prompt, response = turn.prompt, turn.response
    for one in redactions:
        if one.turn == turn.number and one.side is TurnText.PROMPT:
            prompt = blocked(prompt, one.start, one.end)
        elif one.turn == turn.number:
            response = blocked(response, one.start, one.end)
    return replace(turn, prompt=prompt, response=response)


def stretches(dialogue: Dialogue, words: str, *, shown_in: tuple[str, ...] = ()) -> tuple[Redaction, ...]:
    """Return redactions of every place where some words stand in a dialogue.

    Raises:
        InputError: If they stand nowhere, or there are none.
    """
    found = tuple(
        Redaction(turn=turn.number, side=side, start=start, end=start + len(words), shown_in=shown_in)
        for turn in dialogue.turns
        for side, text in ((TurnText.PROMPT, turn.prompt), (TurnText.RESPONSE, turn.response))
        for start in _places(text, words)
    )
    if not found:
        message = f"the words {words!r} stand nowhere in the dialogue; copy them as they stand there"
        raise InputError(message)
    return found


def _places(text: str, words: str) -> list[int]:
    places, start = [], text.find(words) if words else -1
    while start >= 0:
        places.append(start)
        start = text.find(words, start + len(words))
    return places
