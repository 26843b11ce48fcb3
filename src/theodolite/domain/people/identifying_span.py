"""Giveaways: words that give a person or an application away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class IdentifyingKind(StrEnum):
    """What is given away."""

    EMAIL = "e-mail address"
    PHONE = "phone number"
    CARD = "payment card"
    IBAN = "bank account"
    NATIONAL_ID = "national identity number"
    IP_ADDRESS = "IP address"
    APPLICATION = "application"


MASK = "\N{BULLET}"
"""What stands for each letter that is not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifyingSpan:
    """Words of a text that give something away; a suggestion until a person has confirmed it.

    Attributes:
        kind: What is given away.
        start: Place of the first letter, from 0.
        end: Place behind the last letter.
        words: The words.
    """

    kind: IdentifyingKind
    start: int
    end: int
    words: str


def masked(text: str, identifying_spans: Iterable[IdentifyingSpan]) -> str:
    """Return a text with the letters of giveaways replaced one by one, so that every place in it stays where it was.

    Example:
        >>> found = IdentifyingSpan(kind=IdentifyingKind.PHONE, start=5, end=9, words="0815")
        >>> masked("Call 0815 now", [found])
        'Call \N{BULLET}\N{BULLET}\N{BULLET}\N{BULLET} now'
    """
    letters = list(text)
    for one in identifying_spans:
        letters[one.start : one.end] = MASK * (one.end - one.start)
    return "".join(letters)


def apart(identifying_spans: Iterable[IdentifyingSpan]) -> tuple[IdentifyingSpan, ...]:
    """Return giveaways in order of their place; of two that overlap the one that was found first stays."""
    kept: list[IdentifyingSpan] = []
    for one in identifying_spans:
        if all(one.end <= known.start or known.end <= one.start for known in kept):
            kept.append(one)
    return tuple(sorted(kept, key=lambda one: one.start))
