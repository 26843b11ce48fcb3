"""Sequences of scores: ranks, inversions, the longest increasing subsequence and entropies."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.findings.order import RollingWindows
from theodolite.measurement.labels import refuse_infinite

Floats: TypeAlias = NDArray[np.float64]

Whole: TypeAlias = NDArray[np.int64]

LARGEST_ORDER = 7
"""Maximum length of a pattern; 7! = 5,040 patterns are more than any window contains."""


def as_scores(scores: Sequence[float] | NDArray[Any], name: str = "scores") -> Floats:
    """Return scores as an array of shape (n,), float64.

    Raises:
        InputError: If they are not a row of numbers, or one of them is missing or infinite.
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
    """Reject an invalid length or step of patterns.

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
    """Return the number of patterns of a sequence; count, 0 if it is too short."""
    return max(0, n - delay * (order - 1))


def ranks(scores: Floats) -> Whole:
    """Return each score's dense rank from 0; equal scores share it."""
    lowest, highest = (scores.min(), scores.max()) if len(scores) else (0.0, 0.0)
    span = highest - lowest
    # Stars and other integers on a short scale need no sorting.
    if math.isfinite(span) and span < 1024 and bool(np.all(scores == np.floor(scores))):
        whole = (scores - lowest).astype(np.int64)
        present = np.bincount(whole, minlength=1) > 0
        return np.asarray((np.cumsum(present) - 1)[whole], dtype=np.int64)
    return np.asarray(np.unique(scores, return_inverse=True)[1], dtype=np.int64)


def packed(values: NDArray[Any]) -> array[float]:
    """Return a row of numbers in eight bytes each, for records."""
    return array("d", np.ascontiguousarray(values, dtype=np.float64).tobytes())


def packed_counts(values: NDArray[Any]) -> array[int]:
    """Return a row of integers in eight bytes each, for records."""
    return array("q", np.ascontiguousarray(values, dtype=np.int64).tobytes())


MANY_VALUES = 64
"""Number of different scores from which merging is faster than a pass per digit; count."""

SMALL_BLOCK = 16
"""Number of scores whose pairs are compared one by one before merging starts; a power of 2."""


@dataclass(frozen=True, slots=True)
class _Digit:
    """One binary digit of all ranks; scores with equal higher digits are adjacent.

    Attributes:
        places: Index of each score in the sequence; shape (n,).
        is_one: The digit of each; shape (n,).
        ones_before: Ones before it among scores with equal higher digits; shape (n,).
    """

    places: Whole
    is_one: NDArray[np.bool_]
    ones_before: Whole


def inversion_count(scores: Sequence[float]) -> int:
    """Return the number of pairs of scores in falling order.

    Equal scores are not an inversion. The time is O(n log n): a pass per digit of the
    scores' ranks for few different scores, else merging.

    Args:
        scores: In order of time; shape (n,), without missing scores.

    Returns:
        Count, 0..n * (n - 1) / 2.

    Raises:
        InputError: If a score is missing or not a number.

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
    """Return for each score the number of higher scores before it; shape (n,), counts."""
    result = np.zeros(len(scores), dtype=np.int64)
    for digit in _digits(ranks(scores)):
        low = ~digit.is_one
        result[digit.places[low]] += digit.ones_before[low]
    return result


def _by_merging(rank: Whole) -> int:
    """Count the inversions between the halves of ever larger blocks.

    A block is sorted with a mark at the scores of its second half. A score of
    the first half is then displaced by the number of lower scores
    in the second. Scores are sorted once (equal ones by time), and
    the last block is filled up with scores above all others, which adds nothing.
    """
    n = len(rank)
    size = 1 << (n - 1).bit_length()
    row: NDArray[np.integer[Any]] = np.arange(size, dtype=np.int64 if size > 2**30 else np.int32)
    row[np.argsort(rank, kind="stable")] = np.arange(n)
    result, half = _within_small_blocks(row), min(SMALL_BLOCK, size)
    while half < size:
        blocks = (row << 1).reshape(-1, 2 * half)
        blocks[:, half:] |= 1
        blocks.sort(axis=1)
        is_first = (blocks & 1) == 0
        positions = int((is_first.sum(axis=0) * np.arange(2 * half, dtype=np.int64)).sum())
        result += positions - len(blocks) * (half * (half - 1) // 2)
        row, half = (blocks >> 1).ravel(), 2 * half
    return result


def _within_small_blocks(row: NDArray[np.integer[Any]]) -> int:
    """Count the inversions within blocks of `SMALL_BLOCK` scores, pair by pair."""
    columns = np.ascontiguousarray(row.reshape(-1, min(SMALL_BLOCK, len(row))).T)
    return sum(int((earlier > later).sum()) for earlier, later in combinations(columns, 2))


def _digits(rank: Whole) -> Iterator[_Digit]:
    """Yield the digits from the highest on.

    Two scores compare by the highest digit in which their ranks differ, so a
    pair is an inversion exactly if the digits above are equal, the earlier
    has a one and the later a zero. After each digit, zeros move before ones
    within their group, which preserves the order of time within the new groups.
    """
    if len(rank) < 2:
        return
    positions = np.arange(len(rank), dtype=np.int64)
    starts = np.zeros(len(rank), dtype=np.int64)
    for bit in reversed(range(int(rank.max()).bit_length())):
        is_one = (rank >> bit & 1).astype(bool)
        running = np.concatenate(([0], np.cumsum(is_one)))
        ones_before = running[:-1] - running[starts]
        yield _Digit(positions, is_one, ones_before)
        if bit == 0:
            return
        order, starts = _zeros_first(is_one, ones_before, starts)
        rank, positions = rank[order], positions[order]


def _zeros_first(is_one: NDArray[np.bool_], ones_before: Whole, starts: Whole) -> tuple[Whole, Whole]:
    """Return the order that puts zeros before ones in each group, and the start of each new group."""
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
"""Number of different scores up to which a pass per value is faster than a pass per score; count."""


def longest_increasing_subsequence(scores: Sequence[float], *, strict: bool = True) -> int:
    """Return the length of the longest rising subsequence.

    Elements of the subsequence need not be adjacent in the sequence. On a
    scale of five stars a strict one is never longer than 5, however long the
    sequence; without `strict` equal scores may follow each other. In
    O(n log n) by patience sorting, or a pass for each of a few values.

    Args:
        scores: In order of time; shape (n,), without missing scores.
        strict: Whether equal scores end the subsequence.

    Returns:
        Count, 0..n.

    Raises:
        InputError: If a score is missing or not a number.

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
    """Extend the longest subsequence that ends at or below each value, value by value.

    best[t] is the longest subsequence within the first t scores that uses no value
    above the present one.
    """
    best = np.zeros(len(rank) + 1, dtype=np.int64)
    for value in range(n_values):
        matches = rank == value
        if strict:
            ended = np.where(matches, best[:-1] + 1, 0)
            best[1:] = np.maximum(best[1:], np.maximum.accumulate(ended))
        else:
            seen = np.concatenate(([0], np.cumsum(matches)))
            best = seen + np.maximum.accumulate(best - seen)
    return int(best[-1])


def _by_patience(rank: list[int], *, strict: bool) -> int:
    """Put each score on the first pile whose top is not lower (or, if equals may follow, is higher)."""
    position = bisect_left if strict else bisect_right
    tops: list[int] = []
    for score in rank:
        pile = position(tops, score)
        if pile == len(tops):
            tops.append(score)
        else:
            tops[pile] = score
    return len(tops)


def permutation_entropy(
    scores: Sequence[float], *, order: int = 3, delay: int = 1, ties: str = "stable", normalize: bool = False
) -> float:
    """Return the entropy of the ordinal patterns of a sequence.

    Each run of `order` scores is replaced by its order pattern; the
    entropy of these patterns is 0 if only one pattern occurs, and largest
    if all are equally frequent. `stable` treats equal scores as rising, as a
    stable sort does; the published program uses an unstable one, whose answer
    to ties differs between machines if `order` is 4 or more. `weak`
    gives equal scores patterns of their own.

    Args:
        scores: In order of time; shape (n,), without missing scores.
        order: Scores in a pattern; 2..7.
        delay: Step between them; 1 or more.
        ties: `stable` or `weak`.
        normalize: Divide by the logarithm of the number of possible patterns.

    Returns:
        Nats, or with `normalize` a fraction in 0..1.

    Raises:
        InputError: If the scores contain no pattern, or an argument is invalid.

    Example:
        >>> round(permutation_entropy([5, 4] * 4), 6)
        0.693147
        >>> round(permutation_entropy([5, 4] * 4, normalize=True), 6)
        0.386853
        >>> permutation_entropy([1, 1, 2, 2, 3, 3, 4, 4])
        0.0

    Source:
        Bandt, Pompe (2002), Physical Review Letters 88:174102,
        doi:10.1103/PhysRevLett.88.174102. Weak orders: Bian, Qin, Ma, Shen
        (2012), Physical Review E 85:021906, doi:10.1103/PhysRevE.85.021906.
        Golden values: tests/golden/order.json.
    """
    check_pattern(order, delay)
    check_ties(ties)
    array = as_scores(scores)
    if n_patterns(len(array), order, delay) == 0:
        raise InputError(_too_short(len(array), order, delay))
    codes = pattern_codes(array, order, delay, ties)
    counts = np.bincount(codes) if ties == "stable" else np.unique(codes, return_counts=True)[1]
    return _entropy(counts, possible_patterns(order, ties) if normalize else None)


def all_triples_entropy(scores: Sequence[float], *, normalize: bool = False) -> float:
    """Return the entropy of the patterns of *all* triples of a sequence, neighbours or not.

    The tables of PiCO rest on a random sample of such triples, not on the
    neighbours that its formula names. This is the limit of that sample,
    and it involves no chance. Equal scores count as rising.

    The six counts follow from the number of higher scores before each one: with
    it, the triples that rise, fall, or have their lowest or highest score
    first can be counted, and the other patterns are the rest.

    Args:
        scores: In order of time; shape (n,), n at least 3.
        normalize: Divide by ln 6.

    Returns:
        Nats, or with `normalize` a fraction in 0..1.

    Raises:
        InputError: If there are fewer than three scores.

    Example:
        >>> round(all_triples_entropy([3, 2, 1, 4, 0, 7, 11, 5, 6, 8, 12, 10, 9, 13, 14]), 4)
        1.1374

    Source:
        Ning et al. (2024), PiCO: Peer review in LLMs based on consistency
        optimization, arXiv:2402.01830, and the program beside it.
        Golden values: tests/golden/order.json.
    """
    array = as_scores(scores)
    if len(array) < 3:
        raise InputError(_too_short(len(array), 3, 1))
    return _entropy(_triple_counts(array), 6 if normalize else None)


def _triple_counts(array: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Whole:
    n = len(array)
    before_higher = greater_before(array)
    before_not = np.arange(n) - before_higher
    # Lower scores after each one equal the higher ones before it in the reversed, negated row.
    after_lower = greater_before(-array[::-1])[::-1]
    after_not = np.arange(n)[::-1] - after_lower
    rising, falling = int(before_not @ after_not), int(before_higher @ after_lower)
    lowest_first = int((after_not * (after_not - 1) // 2).sum())
    highest_first = int((after_lower * (after_lower - 1) // 2).sum())
    peak, dip = int(before_not @ after_lower), int(before_higher @ after_not)
    low_peak, high_dip = lowest_first - rising, highest_first - falling
    return np.array([rising, falling, low_peak, peak - low_peak, high_dip, dip - high_dip], dtype=np.int64)


def _entropy(counts: Whole, possible: int | None) -> float:
    """Return -sum p ln p, divided by ln `possible` if that is given."""
    present = counts[counts > 0]
    shares = present / present.sum()
    nats = max(0.0, -float(shares @ np.log(shares)))
    return nats if possible is None else nats / math.log(possible)


def _too_short(n: int, order: int, delay: int) -> str:
    least = delay * (order - 1) + 1
    return f"permutation entropy of order {order} and delay {delay} needs {least} scores at least; got {n}"


TIES: Final = ("stable", "weak")
"""Treatment of equal scores: as rising, or as their own pattern."""

_WEAK_ORDERS: Final = (1, 1, 3, 13, 75, 541, 4683, 47293)
"""Numbers of weak orders of 0, 1, 2 ... things (Fubini numbers); OEIS A000670."""


def check_ties(ties: str) -> None:
    """Reject an unknown tie rule.

    Raises:
        InputError: If it is neither `stable` nor `weak`.
    """
    if ties not in TIES:
        message = f"`ties` must be one of {', '.join(TIES)}; got {ties!r}"
        raise InputError(message)


def possible_patterns(order: int, ties: str) -> int:
    """Return the number of possible patterns: order! for `stable`, the Fubini number for `weak`."""
    return math.factorial(order) if ties == "stable" else _WEAK_ORDERS[order]


def pattern_codes(scores: Floats, order: int, delay: int, ties: str) -> Whole:
    """Return a code for each pattern: equal codes are equal patterns.

    `stable` is the order that a stable sort gives: equal scores count as rising.
    It is coded by its Lehmer digits, for each score the number of later ones
    that are lower. `weak` distinguishes equal from rising: each pair of scores adds a
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
    """Return the share of patterns with ties; None if there is no pattern."""
    n_codes = n_patterns(len(scores), order, delay)
    if n_codes == 0:
        return None
    tied = np.zeros(n_codes, dtype=bool)
    for first, second in combinations(range(order), 2):
        tied |= scores[first * delay : first * delay + n_codes] == scores[second * delay : second * delay + n_codes]
    return float(tied.mean())


FEW = 24
"""Number of flags up to which sums of single bytes are faster than a running sum; count."""


def rolling_windows(scores: Sequence[float] | Floats, *, window: int, order: int = 3, delay: int = 1) -> RollingWindows:
    """Return level and order metrics of every window of a sequence; positions and defect shares stay empty.

    Args:
        scores: In order of time; shape (n,), without missing scores.
        window: Scores in a window; count.
        order: Scores in a pattern; 2..7.
        delay: Step between them; 1 or more.
    """
    array = as_scores(scores)
    if len(array) < window:
        return RollingWindows()
    return RollingWindows(
        level=packed(rolling_mean(array, window)),
        pen=packed(rolling_entropy(array, window=window, order=order, delay=delay, normalize=True)),
        cin=packed_counts(rolling_inversions(array, window=window)),
        lis=packed_counts(rolling_subsequence(array, window=window)),
        lnds=packed_counts(rolling_subsequence(array, window=window, strict=False)),
    )


def rolling_mean(values: Floats, window: int) -> Floats:
    """Return the mean of every window; shape (n - window + 1,)."""
    running = np.concatenate(([0.0], np.cumsum(values)))
    means: Floats = (running[window:] - running[:-window]) / window
    return means


def rolling_entropy(
    scores: Sequence[float] | Floats,
    *,
    window: int,
    order: int = 3,
    delay: int = 1,
    ties: str = "stable",
    normalize: bool = False,
) -> Floats:
    """Return the permutation entropy of every window of a sequence.

    Args:
        scores: In order of time; shape (n,), without missing scores.
        window: Scores in a window; count.
        order: Scores in a pattern; 2..7.
        delay: Step between them; 1 or more.
        ties: `stable` or `weak`.
        normalize: Divide by the logarithm of the number of possible patterns.

    Returns:
        Shape (n - window + 1,); nats, or fractions with `normalize`. Entry i is
        about the scores i..i + window - 1; empty if no window fits.

    Raises:
        InputError: If a window contains no pattern, or an argument is invalid.

    Example:
        >>> rolling_entropy([5, 4] * 4 + [5], window=8).round(4).tolist()
        [0.6931, 0.6931]
    """
    check_pattern(order, delay)
    check_ties(ties)
    array = _windowed(scores, window)
    in_window = n_patterns(window, order, delay)
    if in_window == 0:
        message = f"`window` must hold a pattern, so {delay * (order - 1) + 1} scores at least; got {window}"
        raise InputError(message)
    n_windows = len(array) - window + 1
    if n_windows < 1:
        return np.empty(0)
    codes = pattern_codes(array, order, delay, ties)
    counts = np.arange(in_window + 1)
    shares = counts / in_window
    parts = np.where(counts > 0, -shares * np.log(np.maximum(shares, 1 / in_window)), 0.0)
    entropy = np.zeros(n_windows)
    for code in np.flatnonzero(np.bincount(codes)) if ties == "stable" else np.unique(codes):
        entropy += np.take(parts, _sums(codes == code, in_window), mode="clip")
    entropy = np.maximum(entropy, 0.0)
    return entropy / math.log(possible_patterns(order, ties)) if normalize else entropy


def rolling_inversions(scores: Sequence[float] | Floats, *, window: int) -> Whole:
    """Return the inversions within every window of a sequence.

    Args:
        scores: In order of time; shape (n,), without missing scores.
        window: Scores in a window; count.

    Returns:
        Shape (n - window + 1,); counts.

    Example:
        >>> rolling_inversions([1, 2, 3, 2, 1], window=3).tolist()
        [0, 1, 3]
    """
    array = _windowed(scores, window)
    n_windows = max(0, len(array) - window + 1)
    result = np.zeros(n_windows, dtype=np.int64)
    for lag in range(1, window if n_windows else 1):
        result += _sums(array[:-lag] > array[lag:], window - lag)
    return result


def rolling_subsequence(scores: Sequence[float] | Floats, *, window: int, strict: bool = True) -> Whole:
    """Return the length of the longest increasing subsequence of every window.

    Args:
        scores: In order of time; shape (n,), without missing scores.
        window: Scores in a window; count, at most 255.
        strict: Whether equal scores end a subsequence.

    Returns:
        Shape (n - window + 1,); counts.

    Raises:
        InputError: If the window is longer than 255.

    Example:
        >>> rolling_subsequence([1, 2, 3, 2, 1], window=3).tolist()
        [3, 2, 1]
    """
    array = _windowed(scores, window)
    if window > 255:
        message = f"`window` must be 255 scores at most; got {window}"
        raise InputError(message)
    n_windows = len(array) - window + 1
    if n_windows < 1:
        return np.empty(0, dtype=np.int64)
    rises = [array[:-lag] < array[lag:] if strict else array[:-lag] <= array[lag:] for lag in range(1, window)]
    lengths = [np.ones(n_windows, dtype=np.uint8)]
    for last in range(1, window):
        longest = np.zeros(n_windows, dtype=np.uint8)
        for before, length in enumerate(lengths):
            follows = rises[last - before - 1][before : before + n_windows]
            np.maximum(longest, length * follows, out=longest)
        lengths.append(longest + np.uint8(1))
    return np.asarray(np.maximum.reduce(lengths), dtype=np.int64)


def _windowed(scores: Sequence[float] | Floats, window: int) -> Floats:
    if window < 2:
        message = f"`window` must be 2 scores at least; got {window!r}"
        raise InputError(message)
    return as_scores(scores)


def _sums(flags: NDArray[np.bool_], width: int) -> NDArray[np.uint8] | NDArray[np.int32]:
    """Return the sum of every `width` neighbouring flags; shape (flags - width + 1,), counts."""
    n_sums = len(flags) - width + 1
    if width <= FEW:
        small = np.zeros(n_sums, dtype=np.uint8)
        for position in range(width):
            small += flags[position : position + n_sums]
        return small
    running = np.zeros(len(flags) + 1, dtype=np.int32)
    np.cumsum(flags, out=running[1:])
    sums: NDArray[np.int32] = running[width:] - running[:-width]
    return sums
