"""Wellbeing: words in which somebody may say that they are in danger; a suggestion to look, never a finding.

Few and plain on purpose: people who talk about films or statistics use these words
too, and a person decides what they mean. Who is quiet about it is not found at all.
"""

from __future__ import annotations

import re

_ONESELF = r"(?:my\s?self|me)"
_WORDS = re.compile(
    r"\b(?:"
    rf"(?:kill|hurt|harm|cut|starve)(?:ing)?\s+{_ONESELF}"
    r"|end(?:ing)?\s+(?:my\s+(?:own\s+)?life|it\s+all)"
    r"|tak(?:e|ing)\s+my\s+(?:own\s+)?life"
    r"|(?:want|wish|going|ready)\s+to\s+(?:die|be\s+dead)"
    r"|(?:want|wish)\s+I\s+(?:was|were)\s+(?:dead|never\s+born)"
    r"|better\s+off\s+without\s+me"
    r"|no\s+reason\s+to\s+live"
    r"|can(?:no|['\N{RIGHT SINGLE QUOTATION MARK}])t\s+go\s+on\s+(?:living|like\s+this|any\s?more)"
    r"|suicid(?:e|al)"
    r"|self[- ]harm(?:ing)?"
    r"|(?:he|she|they|somebody|someone|my\s+\w+)\s+(?:hits|beats|hurts|threatens)\s+me"
    r"|(?:I\s+am|I['\N{RIGHT SINGLE QUOTATION MARK}]m)\s+(?:afraid|scared)\s+(?:for\s+my\s+life|to\s+go\s+home)"
    r")\b",
    re.IGNORECASE,
)


def words_of_danger(text: str) -> tuple[str, ...]:
    """Return words of a prompt by which its writer may be in danger, each once, in order.

    Args:
        text: What a person said.

    Example:
        >>> words_of_danger("Sometimes I want to die."), words_of_danger("Who wants to live?")
        (('want to die',), ())
    """
    return tuple(dict.fromkeys(match.group() for match in _WORDS.finditer(text)))
