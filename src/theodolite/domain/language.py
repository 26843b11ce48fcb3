"""Languages by their tags (BCP 47), and which of those offered suits somebody."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_TAG = re.compile(r"[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z\d]{5,8}|\d[a-z\d]{3}))*", re.IGNORECASE)
"""Language, script, region and variants, each but the first optional (RFC 5646, section 2.1)."""


def is_tag(text: str) -> bool:
    """Tell whether a text is formed as a language tag is, e.g. `de`, `pt-BR` or `zh-Hant`."""
    return bool(_TAG.fullmatch(text))


def best_language(wanted: Iterable[str], offered: Sequence[str]) -> str:
    """Return the first offered language that suits what somebody wants; empty where none does.

    A wish is shortened part by part until something fits (RFC 4647, section 3.4); a wish for a whole language
    is also met by what is offered for one region.

    Args:
        wanted: Language tags, the dearest first; what is no tag is left out.
        offered: Language tags, the first one where several suit alike.
    """
    known = {tag.lower(): tag for tag in reversed(offered)}
    for wish in wanted:
        parts = wish.lower().replace("_", "-").split("-")
        for length in range(len(parts), 0, -1):
            near = "-".join(parts[:length])
            if near in known:
                return known[near]
        wider = (tag for tag in offered if tag.lower().split("-")[0] == parts[0])
        if found := next(wider, ""):
            return found
    return ""
