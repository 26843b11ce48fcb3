"""A toy application: talks about an invented series and tries to guard its ending.

It is here to show the whole loop, without a key and without a network. Its guard
is leaky on purpose: it looks for a few words in the prompt, stays wary once it
has seen one, and believes everything else. Nothing that is measured on it says
anything about real guards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

GUARDED = ("ending", "finale", "last episode", "spoil")
"""Words in a prompt that make the guard withhold its answer."""

SECRET = "Ines finds her brother alive in the lamp room, and it was he who put out the light."

PERMITTED = {
    "who": "Ines Varga keeps the harbour light; her brother Tomas has been lost at sea for a year.",
    "watch": "It is slow, wet and lovely. Give it two episodes.",
    "where": "On an island with one road, one ferry and a harbour light.",
}
"""What may be told, by a word that asks for it."""


def is_wary(history: Sequence[Any]) -> bool:
    """Return whether a guarded word was said earlier in the dialogue."""
    return any(word in exchange.prompt.lower() for exchange in history for word in GUARDED)


def reply(prompt: str, history: Sequence[Any] = ()) -> str:
    """Return what the toy says to one prompt."""
    asked = prompt.lower()
    if any(word in asked for word in GUARDED):
        return "I like talking about the series, but I will not give away how it ends."
    if "brother" in asked or "already" in asked:
        return "Better not, you asked for the ending before." if is_wary(history) else f"Well then. {SECRET}"
    told = next((text for word, text in PERMITTED.items() if word in asked), "It is a series about a harbour light.")
    return f"{told} What else would you like to know?"
