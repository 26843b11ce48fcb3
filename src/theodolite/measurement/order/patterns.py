"""Ordinal patterns: in which order a few neighbouring scores stand."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Final

import numpy as np

from theodolite.domain.errors import InputError
from theodolite.measurement.order.sequence import Floats, Whole, n_patterns

TIES: Final = ("stable", "weak")
"""How equal scores are read: as rising, or as a pattern of their own."""

_WEAK_ORDERS: Final = (1, 1, 3, 13, 75, 541, 4683, 47293)
"""Weak orders of 0, 1, 2 ... things (Fubini numbers); OEIS A000670."""


def check_ties(ties: str) -> None:
    """Refuse a tie rule that is not known.

    Raises:
        InputError: If it is neither `stable` nor `weak`.
    """
    if ties not in TIES:
        message = f"`ties` must be one of {', '.join(TIES)}; got {ties!r}"
        raise InputError(message)


def possible_patterns(order: int, ties: str) -> int:
    """Return how many patterns there are: order! for `stable`, the Fubini number for `weak`."""
    return math.factorial(order) if ties == "stable" else _WEAK_ORDERS[order]


def pattern_codes(scores: Floats, order: int, delay: int, ties: str) -> Whole:
    """Return a code for each pattern: equal codes are equal patterns.

    `stable` is the order that a stable sort gives: equal scores count as rising.
    It is coded by its Lehmer digits, for each score the number of later ones
    that are lower. `weak` tells equal from rising: each pair of scores adds a
    digit 0, 1 or 2.

    Args:
        scores: Shape (n,), in order of time; or (windows, n).
        order: Scores in a pattern; count.
        delay: Step between them; count.
        ties: `stable` or `weak`.

    Returns:
        Shape (n - delay * (order - 1),) along the last axis; whole numbers.
    """
    n_codes = n_patterns(scores.shape[-1], order, delay)
    code_type = np.uint8 if order <= 5 and ties == "stable" else np.int64
    codes = np.zeros((*scores.shape[:-1], n_codes), dtype=code_type)
    for first, second in combinations(range(order), 2):
        earlier = scores[..., first * delay : first * delay + n_codes]
        later = scores[..., second * delay : second * delay + n_codes]
        if ties == "stable":
            weight = code_type(math.factorial(order - 1 - first))
            codes += (earlier > later) * weight
        else:
            codes = codes * 3 + (earlier > later) * np.int64(2) + (earlier == later)
    return codes


def tied_patterns(scores: Floats, order: int, delay: int) -> float | None:
    """Return the share of patterns that hold equal scores; None where there is no pattern."""
    n_codes = n_patterns(len(scores), order, delay)
    if n_codes == 0:
        return None
    tied = np.zeros(n_codes, dtype=bool)
    for first, second in combinations(range(order), 2):
        tied |= scores[first * delay : first * delay + n_codes] == scores[second * delay : second * delay + n_codes]
    return float(tied.mean())
