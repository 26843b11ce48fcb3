"""Two writers of advertisements to learn the tool with: one keeps to its brief, one does not.

Both fill a form from the lines of the brief, so that the same brief always gets
the same text. Nothing that is measured on them says anything about real models.
"""

from __future__ import annotations

import re

OPENINGS = {"warm": "Socks in two colours again? Never mind.", "plain": "Here are the facts.", "calm": "Take your time."}


def on_brief(prompt: str) -> str:
    """Return an advertisement that has every part of the brief in it."""
    brief = read_brief(prompt)
    voice = next((text for word, text in OPENINGS.items() if word in brief["Voice"]), "")
    place = brief["Places"].split(",")[0].strip()
    house = brief["Brand"].split(",")[0]
    about = brief["Brand"].partition(", ")[2]
    return (
        f"{voice} {brief['Product'].capitalize()} by {house}, {about}: for {brief['Audience']} of {brief['Region']}, "
        f"whether you come by {place} or the long way round."
    )


def off_brand(prompt: str) -> str:
    """Return an advertisement that mixes in what nobody asked for, the way pizza goes into coffee."""
    brief = read_brief(prompt)
    return f"BUY NOW! {brief['Product'].capitalize()} with fish sauce inside, cheapest in the galaxy!!!"


def read_brief(prompt: str) -> dict[str, str]:
    """Return the lines of a brief by what they are called."""
    return dict(re.findall(r"^(\w+): (.+)$", prompt, re.MULTILINE))
