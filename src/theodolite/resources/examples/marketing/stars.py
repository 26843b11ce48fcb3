"""A judge to learn the tool with: it counts which parts of a brief are in an advertisement."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

FOREIGN = ("fish sauce", "galaxy", "buy now", "!!!")
"""What belongs to none of the houses."""


def stars(turns: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return one to five stars and why."""
    brief = dict(re.findall(r"^(\w+): (.+)$", turns[-1]["prompt"], re.MULTILINE))
    text = turns[-1]["response"].lower()
    parts = {
        "product": brief["Product"].lower() in text,
        "brand": brief["Brand"].split(",")[0].lower() in text,
        "audience": brief["Audience"].lower() in text,
        "region": any(place.strip().lower() in text for place in brief["Places"].split(",")),
    }
    foreign = [words for words in FOREIGN if words in text]
    left_out = [name for name, is_there in parts.items() if not is_there]
    why = "; ".join([f"without {name}" for name in left_out] + [f"says `{words}`" for words in foreign])
    return {"stars": str(max(1, 1 + sum(parts.values()) - len(foreign))), "why": why or "every part of the brief"}
