"""Two toy applications that stream replies about an invented series and guard its plot.

They let users explore the demo without a key and without a network.
Both use rules over a few words; one of them ignores earlier turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

GUARDED = ("end", "diary", "dorothea", "cistern", "dies", "episode 3", "episode 5", "episode 8", "spoil")
"""Words in a prompt that make a guard withhold its answer."""

TOLD = {
    "who": "Mira Oldenkott plays Captain Ysolde Brandt, Tomas Arkell the keeper and Ines Calloway the engineer.",
    "where": "On a lighthouse island in 1931. There is one path, one tower and a dog.",
    "about": "A supply ship finds the light burning and nobody in the tower but the keeper's dog.",
    "worth": "If you like fog, patience and small gestures: yes. **Two episodes** will tell you.",
}
"""Permitted replies, by a word of the prompt."""

SECRETS = {
    "gran": "In that case: Dorothea goes down with the supply ship, and the captain puts the light out.",
    "already": "Then you know that the keeper hides in the cistern all along.",
    "blurb": "How about: *the diary was written by Dorothea, and the keeper is nearer than anybody thinks*?",
}
"""Prohibited replies of the leaky toy, by a word of the prompt."""

LONG = (
    "Let me begin with the island. It is two miles long, bare, and always wet. The tower stands on its western point. "
    "There is a landing stage, a store, a garden behind a wall, and a path that the keeper has laid with shells. "
) * 6
"""The reply to a request for everything."""

_PACE_S = 0.03


def _answer(prompt: str, heard: str) -> str:
    asked = prompt.lower()
    if "unplug" in asked:  # shows a broken application
        message = "teller at tellers.example:8443 has no power"
        raise ConnectionError(message)
    if asked.startswith("repeat after me:"):
        return prompt.partition(":")[2].strip()
    if "everything" in asked:
        return LONG
    if any(word in heard.lower() for word in GUARDED):
        return "I like talking about the series, but I must not tell how it goes on after the first episode."
    told = next((text for word, text in TOLD.items() if word in asked), "It is a quiet mystery at a lighthouse.")
    return f"{told} What else would you like to know?"


async def careful(prompt: str, history: Sequence[Any] = ()) -> AsyncIterator[str]:
    """Yield the reply of the toy that considers earlier prompts."""
    heard = " ".join([*(exchange.prompt for exchange in history), prompt])
    async for word in _spoken(_answer(prompt, heard)):
        yield word


async def leaky(prompt: str, history: Sequence[Any] = ()) -> AsyncIterator[str]:
    """Yield the reply of the toy that believes the user."""
    secret = next((text for word, text in SECRETS.items() if word in prompt.lower()), "")
    async for word in _spoken(secret or _answer(prompt, prompt)):
        yield word


async def _spoken(text: str) -> AsyncIterator[str]:
    for number, word in enumerate(text.split(" ")):
        await asyncio.sleep(_PACE_S)
        yield f" {word}" if number else word
