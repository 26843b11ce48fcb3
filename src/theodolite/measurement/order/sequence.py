"""Sequences of scores: ranks, inversions and the longest increasing subsequence."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.measurement.score_columns import refuse_infinite

Floats: TypeAlias = NDArray[np.float64]

Whole: TypeAlias = NDArray[np.int64]

LARGEST_ORDER = 7
"""Longest pattern that is coded; 7! = 5,040 patterns are more than any window fills."""


def as_scores(scores: Sequence[float] | NDArray[Any], name: str = "scores") -> Floats:
    """Return scores as an array of shape (n,), float64.

    Raises:
        InputError: If they are not one row of numbers, or one of them is missing or infinite.
    """
    try:
        array = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        message = (
            f"`{name}` must be numbers in order of time; got {scores!r:.60}. Leave missing ones out and count them"
        )
        raise InputError(message) from None
    if array.ndim != 1:
        message = f"`{name}` must be one row of numbers; got an array of shape {array.shape}"
        raise InputError(message)
    missing = np.flatnonzero(np.isnan(array))
    if len(missing):
        message = (
            f"`{name}` must hold no missing score; {len(missing):,} of {len(array):,} are, the first at"
            f" place {missing[0]}. Leave them out and count them, or use `relevance_profile`, which does"
        )
        raise InputError(message)
    refuse_infinite(array, name)
    return array


def check_pattern(order: int, delay: int) -> None:
    """Reject a length or a step of patterns that means nothing.

    Raises:
        InputError: If `order` is not within 2..7 or `delay` is below 1.
    """
    if not 2 <= order <= LARGEST_ORDER:
        message = f"`order` must be within 2..{LARGEST_ORDER}, the number of scores in a pattern; got {order!r}"
        raise InputError(message)
    if delay < 1:
        message = f"`delay` must be 1 or more, the step between the scores of a pattern; got {delay!r}"
        raise InputError(message)


def n_patterns(n: int, order: int, delay: int) -> int:
    """Return how many patterns a sequence holds; count, 0 where it is too short."""
    return max(0, n - delay * (order - 1))


def ranks(scores: Floats) -> Whole:
    """Return each score's dense rank from 0; equal scores share it."""
    lowest, highest = (scores.min(), scores.max()) if len(scores) else (0.0, 0.0)
    span = highest - lowest
    # Stars and other whole numbers on a short scale need no sorting.
    if math.isfinite(span) and span < 1024 and bool(np.all(scores == np.floor(scores))):
        whole = (scores - lowest).astype(np.int64)
        present = np.bincount(whole, minlength=1) > 0
        return np.asarray((np.cumsum(present) - 1)[whole], dtype=np.int64)
    return np.asarray(np.unique(scores, return_inverse=True)[1], dtype=np.int64)


def packed(values: NDArray[Any]) -> array[float]:
    """Return a row of numbers in eight bytes each, for records."""
    return array("d", np.ascontiguousarray(values, dtype=np.float64).tobytes())


def packed_counts(values: NDArray[Any]) -> array[int]:
    """Return a row of whole numbers in eight bytes each, for records."""
    return array("q", np.ascontiguousarray(values, dtype=np.int64).tobytes())


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
