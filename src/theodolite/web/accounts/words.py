"""Words that stand for a row: worked out from it and the server's key, so that they need not be kept."""

from __future__ import annotations

import re

from django.utils.crypto import salted_hmac

from theodolite.web.accounts.wordlist import WORDS

_PURPOSE = "theodolite.web.words."


def words_for(purpose: str, seed: str) -> str:
    """Return three words and a number of four digits, joined by hyphens: 37 bits that nobody can guess.

    Args:
        purpose: What the words are for; the same seed has others for another purpose.
        seed: What they stand for.
    """
    raw = salted_hmac(_PURPOSE + purpose, seed, algorithm="sha256").digest()
    number = int.from_bytes(raw[3:11], "big") % 10_000
    return "-".join([*(WORDS[byte] for byte in raw[:3]), f"{number:04}"])


def as_written(words: str) -> str:
    """Return words that somebody typed in the spelling in which they were given out.

    Example:
        >>> as_written("  Palm RIVER, otter 0481 ")
        'palm-river-otter-0481'
    """
    return "-".join(re.findall(r"[a-z0-9]+", words.lower()))


def digest_of(purpose: str, words: str) -> str:
    """Return a keyed hash of words, to be kept in their place; 64 hexadecimal digits."""
    return salted_hmac(_PURPOSE + purpose + ".digest", as_written(words), algorithm="sha256").hexdigest()
