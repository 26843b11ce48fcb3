"""Order metrics in rolling windows, computed for all windows at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.findings.order import RollingWindows
from theodolite.measurement.order.patterns import check_ties, pattern_codes, possible_patterns
from theodolite.measurement.order.sequence import (
    Floats,
    Whole,
    as_scores,
    check_pattern,
    n_patterns,
    packed,
    packed_counts,
)

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
