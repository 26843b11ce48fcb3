"""Permutation entropy: how evenly the patterns of a sequence are spread."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from theodolite.domain.errors import InputError
from theodolite.measurement.order.inversions import greater_before
from theodolite.measurement.order.patterns import check_ties, pattern_codes, possible_patterns
from theodolite.measurement.order.sequence import Whole, as_scores, check_pattern, n_patterns


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
