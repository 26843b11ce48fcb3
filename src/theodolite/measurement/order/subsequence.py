"""Longest increasing subsequences: the longest rising thread through a sequence."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np

from theodolite.measurement.order.sequence import Whole, as_scores, ranks

FEW_VALUES = 32
"""Up to so many different scores a pass per value is faster than a pass per score."""


def longest_increasing_subsequence(scores: Sequence[float], *, strict: bool = True) -> int:
    """Return the length of the longest subsequence whose scores rise.

    Neighbours of the subsequence need not be neighbours of the sequence. On a
    scale of five stars a strict one is never longer than 5, however long the
    sequence; without `strict` equal scores may follow each other. In
    O(n log n) by patience sorting, or a pass for each of a few values.

    Args:
        scores: In order of time; shape (n,), no missing ones.
        strict: Whether equal scores end the thread.

    Returns:
        Count, 0..n.

    Raises:
        InputError: If a score is missing or no number.

    Example:
        >>> longest_increasing_subsequence([1, 3, 2, 4, 3, 5])
        4
        >>> longest_increasing_subsequence([5] * 8), longest_increasing_subsequence([5] * 8, strict=False)
        (1, 8)

    Source:
        Schensted (1961), Canadian Journal of Mathematics 13:179-191,
        doi:10.4153/CJM-1961-015-3. Golden values: tests/golden/order.json.
    """
    array = as_scores(scores)
    if len(array) == 0:
        return 0
    rank = ranks(array)
    n_values = int(rank.max()) + 1
    if n_values <= FEW_VALUES:
        return _by_values(rank, n_values, strict=strict)
    return _by_patience(rank.tolist(), strict=strict)


def _by_values(rank: Whole, n_values: int, *, strict: bool) -> int:
    """Extend the best thread that ends at or below each value, value by value.

    best[t] is the longest thread within the first t scores that uses no value
    above the present one.
    """
    best = np.zeros(len(rank) + 1, dtype=np.int64)
    for value in range(n_values):
        here = rank == value
        if strict:
            ended = np.where(here, best[:-1] + 1, 0)
            best[1:] = np.maximum(best[1:], np.maximum.accumulate(ended))
        else:
            seen = np.concatenate(([0], np.cumsum(here)))
            best = seen + np.maximum.accumulate(best - seen)
    return int(best[-1])


def _by_patience(rank: list[int], *, strict: bool) -> int:
    """Lay each score on the first pile whose top is not lower (or, if equals may follow, is higher)."""
    place = bisect_left if strict else bisect_right
    tops: list[int] = []
    for score in rank:
        pile = place(tops, score)
        if pile == len(tops):
            tops.append(score)
        else:
            tops[pile] = score
    return len(tops)
