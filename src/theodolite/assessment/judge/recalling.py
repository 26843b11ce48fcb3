"""Recalling: what is the same in every reading by one guideline is worded once.

Guidelines hold mappings and have no hash, and reading one through to compare it
takes as long as wording it anew. So each is known by being that very object.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from theodolite.assessment.judge.arrangement import Arrangement
from theodolite.domain.guideline import Guideline

T = TypeVar("T")

_KEPT = 256
"""Wordings kept for one function; count."""


def recalled(word: Callable[[Guideline, Arrangement], T]) -> Callable[[Guideline, Arrangement], T]:
    """Let a function remember what it made of a guideline in an arrangement.

    Args:
        word: Depends on nothing but its arguments, and its results are never changed.
    """
    known: dict[tuple[int, int], tuple[Guideline, T]] = {}

    @wraps(word)
    def recall(guideline: Guideline, arrangement: Arrangement) -> T:
        place = (id(guideline), arrangement.replicate)
        found = known.get(place)
        # What is kept holds the guideline, so that no other one can come to have its number.
        if found is None:
            if len(known) >= _KEPT:
                known.clear()
            found = known[place] = (guideline, word(guideline, arrangement))
        return found[1]

    return recall
