"""Permutation entropy of a whole sequence, and order statistics in a rolling window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.findings.order import RollingWindows
from theodolite.measurement.order.sequence import (
    Floats,
    Whole,
    as_scores,
    check_pattern,
    greater_before,
    n_patterns,
    packed,
    packed_counts,
)


def permutation_entropy(
    scores: Sequence[float], *, order: int = 3, delay: int = 1, ties: str = "stable", normalize: bool = False
) -> float:
    """Return the entropy of the ordinal patterns of a sequence.

    Each run of `order` scores is replaced by the order in which they stand; the
    entropy of these patterns is 0 where one pattern alone occurs, and largest
    where all are equally frequent. `stable` reads equal scores as rising, as a
    stable sort does; the published program uses an unstable one, whose answer
    to ties differs from machine to machine where `order` is 4 or more. `weak`
    gives equal scores patterns of their own.

    Args:
        scores: In order of time; shape (n,), no missing ones.
        order: Scores in a pattern; 2..7.
        delay: Step between them; 1 or more.
        ties: `stable` or `weak`.
        normalize: Divide by the logarithm of the number of possible patterns.

    Returns:
        Nats, or with `normalize` a fraction in 0..1.

    Raises:
        InputError: If the scores hold no pattern, or an argument means nothing.

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
    neighbours that its formula names. This is the value which that sample tends
    to, and it needs no chance. Equal scores count as rising.

    The six counts follow from how many scores before each one are higher: with
    them the triples that rise, fall, or have their lowest or highest score
    first can be counted, and the other patterns are what is left.

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
    # Scores after the place that are lower: higher ones before it, seen from the end of the reversed, negated row.
    after_lower = greater_before(-array[::-1])[::-1]
    after_not = np.arange(n)[::-1] - after_lower
    rising, falling = int(before_not @ after_not), int(before_higher @ after_lower)
    lowest_first = int((after_not * (after_not - 1) // 2).sum())
    highest_first = int((after_lower * (after_lower - 1) // 2).sum())
    peak, dip = int(before_not @ after_lower), int(before_higher @ after_not)
    low_peak, high_dip = lowest_first - rising, highest_first - falling
    return np.array([rising, falling, low_peak, peak - low_peak, high_dip, dip - high_dip], dtype=np.int64)


def _entropy(counts: Whole, possible: int | None) -> float:
    """Return -sum p ln p, divided by ln `possible` where that is given."""
    present = counts[counts > 0]
    shares = present / present.sum()
    nats = max(0.0, -float(shares @ np.log(shares)))
    return nats if possible is None else nats / math.log(possible)


def _too_short(n: int, order: int, delay: int) -> str:
    least = delay * (order - 1) + 1
    return f"permutation entropy of order {order} and delay {delay} needs {least} scores at least; got {n}"


TIES: Final = ("stable", "weak")
"""How equal scores are read: as rising, or as a pattern of their own."""

_WEAK_ORDERS: Final = (1, 1, 3, 13, 75, 541, 4683, 47293)
"""Weak orders of 0, 1, 2 ... things (Fubini numbers); OEIS A000670."""


def check_ties(ties: str) -> None:
    """Reject a tie rule that is not known.

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


FEW = 24
"""Up to so many flags are summed one by one in single bytes, which is faster than a running sum."""


def rolling_windows(scores: Sequence[float] | Floats, *, window: int, order: int = 3, delay: int = 1) -> RollingWindows:
    """Return level and order metrics of every window of a sequence; positions and defect shares stay empty.

    Args:
        scores: In order of time; shape (n,), no missing ones.
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
        scores: In order of time; shape (n,), no missing ones.
        window: Scores in a window; count.
        order: Scores in a pattern; 2..7.
        delay: Step between them; 1 or more.
        ties: `stable` or `weak`.
        normalize: Divide by the logarithm of the number of possible patterns.

    Returns:
        Shape (n - window + 1,); nats, or fractions with `normalize`. Entry i is
        about the scores i..i + window - 1; empty where no window fits.

    Raises:
        InputError: If a window holds no pattern, or an argument means nothing.

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
        scores: In order of time; shape (n,), no missing ones.
        window: Scores in a window; count.

    Returns:
        Shape (n - window + 1,); counts.

    Example:
        >>> rolling_inversions([1, 2, 3, 2, 1], window=3).tolist()
        [0, 1, 3]
    """
    array = _windowed(scores, window)
    n_windows = max(0, len(array) - window + 1)
    found = np.zeros(n_windows, dtype=np.int64)
    for lag in range(1, window if n_windows else 1):
        found += _sums(array[:-lag] > array[lag:], window - lag)
    return found


def rolling_subsequence(scores: Sequence[float] | Floats, *, window: int, strict: bool = True) -> Whole:
    """Return the length of the longest increasing subsequence of every window.

    Args:
        scores: In order of time; shape (n,), no missing ones.
        window: Scores in a window; count, 255 at most.
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
        for place in range(width):
            small += flags[place : place + n_sums]
        return small
    running = np.zeros(len(flags) + 1, dtype=np.int32)
    np.cumsum(flags, out=running[1:])
    sums: NDArray[np.int32] = running[width:] - running[:-width]
    return sums
