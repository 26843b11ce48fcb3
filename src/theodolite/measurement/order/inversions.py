"""Inversions: pairs of scores of which the earlier is higher."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.measurement.order.sequence import Floats, Whole, as_scores, ranks

MANY_VALUES = 64
"""From so many different scores on, merging is faster than going digit by digit."""

SMALL_BLOCK = 16
"""Scores whose pairs are compared one by one before merging begins; a power of 2."""


@dataclass(frozen=True, slots=True)
class _Digit:
    """One binary digit of all ranks, scores with equal higher digits standing together.

    Attributes:
        places: Place of each score in the sequence; shape (n,).
        is_one: The digit of each; shape (n,).
        ones_before: Ones before it among scores with equal higher digits; shape (n,).
    """

    places: Whole
    is_one: NDArray[np.bool_]
    ones_before: Whole


def inversion_count(scores: Sequence[float]) -> int:
    """Return how many pairs of scores stand in falling order.

    Equal scores are no inversion. Counted in O(n log n): digit by digit of the
    scores' ranks where there are few different scores, else by merging.

    Args:
        scores: In order of time; shape (n,), no missing ones.

    Returns:
        Count, 0..n * (n - 1) / 2.

    Raises:
        InputError: If a score is missing or no number.

    Example:
        >>> inversion_count([5, 4] * 4), inversion_count([3, 1, 2, 5, 4])
        (10, 3)

    Source:
        Mann (1945), Econometrica 13:245-259, doi:10.2307/1907187 (the count
        behind his test against trend); Knuth, The Art of Computer Programming,
        volume 3, section 5.1.1. Golden values: tests/golden/order.json.
    """
    rank = ranks(as_scores(scores))
    if len(rank) < 2:
        return 0
    if rank.max() < MANY_VALUES:
        return sum(int(digit.ones_before[~digit.is_one].sum()) for digit in _digits(rank))
    return _by_merging(rank)


def greater_before(scores: Floats) -> Whole:
    """Return for each score how many before it are higher; shape (n,), counts."""
    found = np.zeros(len(scores), dtype=np.int64)
    for digit in _digits(ranks(scores)):
        low = ~digit.is_one
        found[digit.places[low]] += digit.ones_before[low]
    return found


def _by_merging(rank: Whole) -> int:
    """Count the inversions between the halves of ever larger blocks.

    A block is sorted with a mark at the scores of its second half. A score of
    the first half then stands as many places too late as there are lower scores
    in the second. Scores are put in one order for good (equal ones by time), and
    the last block is filled up with scores above all others, which adds nothing.
    """
    n = len(rank)
    size = 1 << (n - 1).bit_length()
    row: NDArray[np.integer[Any]] = np.arange(size, dtype=np.int64 if size > 2**30 else np.int32)
    row[np.argsort(rank, kind="stable")] = np.arange(n)
    found, half = _within_small_blocks(row), min(SMALL_BLOCK, size)
    while half < size:
        blocks = (row << 1).reshape(-1, 2 * half)
        blocks[:, half:] |= 1
        blocks.sort(axis=1)
        is_first = (blocks & 1) == 0
        places = int((is_first.sum(axis=0) * np.arange(2 * half, dtype=np.int64)).sum())
        found += places - len(blocks) * (half * (half - 1) // 2)
        row, half = (blocks >> 1).ravel(), 2 * half
    return found


def _within_small_blocks(row: NDArray[np.integer[Any]]) -> int:
    """Count the inversions within blocks of `SMALL_BLOCK` scores, pair by pair."""
    columns = np.ascontiguousarray(row.reshape(-1, min(SMALL_BLOCK, len(row))).T)
    return sum(int((earlier > later).sum()) for earlier, later in combinations(columns, 2))


def _digits(rank: Whole) -> Iterator[_Digit]:
    """Yield the digits from the highest on.

    Two scores compare by the highest digit in which their ranks differ, so a
    pair is an inversion exactly where the digits above are equal, the earlier
    has a one and the later a zero. After each digit zeros move before ones
    within their group, which keeps the order of time within the new groups.
    """
    if len(rank) < 2:
        return
    places = np.arange(len(rank), dtype=np.int64)
    starts = np.zeros(len(rank), dtype=np.int64)
    for bit in reversed(range(int(rank.max()).bit_length())):
        is_one = (rank >> bit & 1).astype(bool)
        running = np.concatenate(([0], np.cumsum(is_one)))
        ones_before = running[:-1] - running[starts]
        yield _Digit(places, is_one, ones_before)
        if bit == 0:
            return
        order, starts = _zeros_first(is_one, ones_before, starts)
        rank, places = rank[order], places[order]


def _zeros_first(is_one: NDArray[np.bool_], ones_before: Whole, starts: Whole) -> tuple[Whole, Whole]:
    """Return the order that puts zeros before ones in each group, and where each new group starts."""
    n = len(is_one)
    within = np.arange(n) - starts
    zeros_before = within - ones_before
    is_last = np.empty(n, dtype=bool)
    is_last[:-1], is_last[-1] = starts[1:] != starts[:-1], True
    n_zeros = np.zeros(n, dtype=np.int64)
    n_zeros[starts[is_last]] = zeros_before[is_last] + ~is_one[is_last]
    half = starts + n_zeros[starts]
    target = np.where(is_one, half + ones_before, starts + zeros_before)
    order, begin = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    order[target], begin[target] = np.arange(n), np.where(is_one, half, starts)
    return order, begin
