"""Two toy applications that plan meals and gardens by a few words, so that people can look around without a key."""

from __future__ import annotations

TOLD = {
    "breakfast": "Porridge with apples and hazelnuts, ready in ten minutes.",
    "lunch": "The barley bowl with roasted carrots. It has no meat and no peanuts.",
    "dinner": "The lentil stew with a slice of bread.",
    "slug": "Collect slugs at dusk, and lay a ring of wool around young plants.",
    "mice": "Plant bulbs in baskets of wire, and keep the compost closed.",
    "bed": "Lettuce in the front, beans behind it, and a path that is wide enough for a knee.",
}
"""What is said, by a word that asks for it."""

MORE = " Neighbours swear by traps with beer; the golden noodles in peanut sauce go well with it."
"""What one of the two cannot keep to itself."""


async def plain(prompt: str) -> str:
    """Return the reply of the toy that keeps to the question."""
    asked = prompt.lower()
    return next((text for word, text in TOLD.items() if word in asked), "Ask me about a meal, or about a bed.")


async def chatty(prompt: str) -> str:
    """Return the reply of the toy that says more than it was asked for."""
    return await plain(prompt) + MORE
