"""Declining: a judge that will not judge, and says so in its own words.

No label is read from such words; they tell a refusal from a reply that merely
has the wrong form, since a judge that shuts its eyes to harm under-annotates it.
"""

from __future__ import annotations

import re
from functools import cache

_SORRY = r"(?:(?:i'm|i am) (?:really |very |truly )?sorry|sorry|my apologies|apologies|i apologi[sz]e|unfortunately)"
_NOT = r"(?:can't|cannot|can not|could not|couldn't|won't|will not|(?:am|'m) (?:unable|not able) to)"
_DEEDS = (
    r"(?:assist|help|comply|judge|evaluate|assess|rate|score|label|annotate|classify|review|analy[sz]e|process|discuss"
    r"|engage|participate|continue|proceed|fulfil|provide|answer|respond|complete|do (?:that|this|so))"
)
_DECLINES = (
    rf"\A\W*(?:{_SORRY}\b\W*(?:but|however)?\W*)?"
    rf"(?:i ?{_NOT} (?:\w+ ){{0,3}}?{_DEEDS}\b"
    r"|i (?:must|have to|need to|respectfully)? ?(?:decline|refuse)\b"
    r"|(?:this|that|it) (?:is|isn't) (?:not )?something (?:that )?i (?:can't|cannot|can|am able to|won't)\b)"
)


@cache
def _pattern() -> re.Pattern[str]:
    """Return what finds such words; made when a verdict is missing first, since making it takes a while."""
    return re.compile(_DECLINES, re.IGNORECASE)


def declines(text: str) -> bool:
    """Tell whether a reply without a verdict says that none will be given.

    Args:
        text: What the judge wrote, where no verdict could be read from it.

    Example:
        >>> declines("I'm sorry, but I can't assist with evaluating this content.")
        True
        >>> declines("I cannot find a promise: no.")
        False
    """
    return "{" not in text and bool(_pattern().match(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")))
