"""Texts for people: terminal-safe text, money, hidden words, and language tags (BCP 47)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_REPLACED = {"\t": "    ", "\r": "", "\u00a0": " "}


def printable(text: str) -> str:
    r"""Return a text in which characters that move the cursor, change colours or reorder letters are replaced.

    Line breaks stay.

    Example:
        >>> printable("\x1b[2Kfine")
        '�[2Kfine'
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter == "\n" else _REPLACED.get(letter, "\ufffd") for letter in text
    )


def printable_line(text: str) -> str:
    """Return a text on one line: a name with line breaks must not look like lines of the program."""
    return printable(" ".join(text.split()))


MICROS = 1_000_000
"""Millionths in a US dollar; costs are counted in them."""


_CENT = 0.01

_LEAST = 1 / MICROS


def dollars(usd: float) -> str:
    """Return the displayed amount: "$5.00", and "$0.0012" if whole cents would round it to zero.

    Args:
        usd: The amount; US dollars, 0 or more.
    """
    if not usd or usd >= _CENT:
        return f"${usd:,.2f}"
    return f"${max(usd, _LEAST):.6f}".rstrip("0").ljust(len("$0.00"), "0")


def cost_text(microusd: float) -> str:
    """Return the displayed cost.

    Args:
        microusd: The cost; millionths of a US dollar, 0 or more.
    """
    return dollars(microusd / MICROS)


def spent_text(microusd: float, n_calls: int, n_unpriced: int) -> str:
    """Return the cost of some calls, without a price of 0 for calls whose price is unknown.

    Args:
        microusd: The cost of the calls with a price; millionths of a US dollar.
        n_calls: All calls; count.
        n_unpriced: Calls without a price; count.

    Example:
        >>> spent_text(0, 420, 420), spent_text(380_000, 420, 20)
        ('cost unknown (no price for 420 calls)', '$0.38 and an unknown part (no price for 20 of 420 calls)')
    """
    if not n_unpriced:
        return cost_text(microusd)
    some = f"{n_unpriced:,} of {n_calls:,} calls" if n_unpriced < n_calls else f"{n_calls:,} calls"
    missing = f"(no price for {'1 call' if n_calls == 1 else some})"
    return f"{cost_text(microusd)} and an unknown part {missing}" if microusd else f"cost unknown {missing}"


BLOCK = "\N{FULL BLOCK}"
"""Replacement of each hidden character, so that lengths and positions are unchanged."""


def blocked(text: str, start: int, end: int) -> str:
    """Return a text in which one span is masked; its length does not change.

    Example:
        >>> blocked("Call Ana now", 5, 8)
        'Call \N{FULL BLOCK}\N{FULL BLOCK}\N{FULL BLOCK} now'
    """
    start, end = max(0, start), min(len(text), end)
    return text[:start] + BLOCK * max(0, end - start) + text[end:]


_TAG = re.compile(r"[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z\d]{5,8}|\d[a-z\d]{3}))*", re.IGNORECASE)
"""Language, script, region and variants; all but the first are optional (RFC 5646, section 2.1)."""


def is_tag(text: str) -> bool:
    """Return whether a text is formed as a language tag is, e.g. `de`, `pt-BR` or `zh-Hant`."""
    return bool(_TAG.fullmatch(text))


def best_language(preferred: Iterable[str], offered: Sequence[str]) -> str:
    """Return the first offered language that matches a request; empty if none does.

    A request is shortened part by part until something matches (RFC 4647, section 3.4); a request for a whole language
    also matches an offer for one region.

    Args:
        preferred: Language tags, the most preferred first; other texts are skipped.
        offered: Language tags; of several equal matches the first one counts.
    """
    known = {tag.lower(): tag for tag in reversed(offered)}
    for wish in preferred:
        parts = wish.lower().replace("_", "-").split("-")
        for length in range(len(parts), 0, -1):
            near = "-".join(parts[:length])
            if near in known:
                return known[near]
        wider = (tag for tag in offered if tag.lower().split("-")[0] == parts[0])
        if match := next(wider, ""):
            return match
    return ""
