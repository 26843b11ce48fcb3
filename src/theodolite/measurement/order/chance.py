"""Chance levels: what order metrics would be if the same scores came in random order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy.special import ndtr

from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.order import Chance
from theodolite.measurement.order.patterns import pattern_codes
from theodolite.measurement.order.sequence import Floats, Whole, n_patterns, ranks
from theodolite.measurement.order.subsequence import FEW_VALUES

EXACT_UP_TO = 8
"""Longest sequence all of whose orders are enumerated: 8! = 40,320."""

DRAWS = 1_999
"""Random orders where not all can be enumerated; count."""

_CELLS = 4_000_000
"""Scores that are permuted at a time; count."""

FEWEST_DRAWS = 199
"""Random orders that are too few for a p value of .01; count."""

_SAME = 1e-9

Metric = Callable[[Whole], Floats]
"""From sequences, shape (rows, n), to a value for each row."""


def entropy_of_rows(order: int, delay: int, ties: str) -> Metric:
    """Return what computes the permutation entropy of each row; nats."""

    def entropy(rows: Whole) -> Floats:
        in_row = n_patterns(rows.shape[1], order, delay)
        codes = pattern_codes(rows.astype(np.float64), order, delay, ties)
        shares = np.arange(in_row + 1) / in_row
        parts = np.where(shares > 0, -shares * np.log(np.where(shares > 0, shares, 1.0)), 0.0)
        found = np.zeros(len(rows))
        for code in np.unique(codes):
            found += parts[(codes == code).sum(axis=1)]
        return found

    return entropy


def inversions_of_rows(rows: Whole) -> Floats:
    """Return the inversions of each row; counts."""
    found = np.zeros(len(rows))
    for lag in range(1, rows.shape[1]):
        found += (rows[:, :-lag] > rows[:, lag:]).sum(axis=1)
    return found


def rising_of_rows(rows: Whole) -> Floats:
    """Return the longest strictly increasing subsequence of each row; counts."""
    return _patience(rows, strict=True)


def not_falling_of_rows(rows: Whole) -> Floats:
    """Return the longest subsequence of each row that does not fall; counts.

    With few values it takes a step for each score over the longest thread that
    ends at or below each value; patience would have as many piles as scores.
    """
    n_values = int(rows.max(initial=0)) + 1
    if n_values > FEW_VALUES:
        return _patience(rows, strict=False)
    threads, everyone = np.zeros((len(rows), n_values), dtype=np.int64), np.arange(len(rows))
    for score in rows.T:
        threads[everyone, score] += 1
        np.maximum.accumulate(threads, axis=1, out=threads)
    return np.asarray(threads[:, -1], dtype=np.float64)


def _patience(rows: Whole, *, strict: bool) -> Floats:
    n_rows, n = rows.shape
    tops = np.full((n_rows, n), np.iinfo(np.int64).max)
    everyone, longest = np.arange(n_rows), 0
    for score in rows.T:
        known = tops[:, :longest]
        piles = (known < score[:, None] if strict else known <= score[:, None]).sum(axis=1)
        tops[everyone, piles] = score
        longest = max(longest, int(piles.max(initial=0)) + 1)
    return np.asarray((tops < np.iinfo(np.int64).max).sum(axis=1), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Null:
    """All orders of some scores, or a random sample of them.

    Attributes:
        rows: The orders, as ranks; shape (orders, n).
        exact: Whether these are all orders.
        seed: Of the sample.
    """

    rows: Whole
    exact: bool
    seed: int

    def of(self, metric: Metric, found: float) -> Chance:
        """Return where a value stands among the values of all orders.

        Exact where all orders were enumerated. Otherwise the order that was
        found counts as one of the sample, so that no share is ever 0.
        """
        values = metric(self.rows)
        low, high = int((values <= found + _SAME).sum()), int((values >= found - _SAME).sum())
        n, extra = len(values), 0 if self.exact else 1
        how = "all orders enumerated" if self.exact else f"{n:,} random orders, seed {self.seed}"
        return Chance(
            mean=float(values.mean()),
            sd=float(values.std()),
            at_most=(low + extra) / (n + extra),
            at_least=(high + extra) / (n + extra),
            method=f"permutation, given the scores and their ties; {how}",
        )


def null_of(scores: Floats, *, seed: int = 0) -> Null | Undefined:
    """Return the orders that some scores could have come in.

    Args:
        scores: Shape (n,).
        seed: Of the random orders, where there are too many to enumerate.

    Returns:
        `Undefined` where the sequence is too long for a useful sample.
    """
    rank, n = ranks(scores), len(scores)
    if n <= EXACT_UP_TO:
        orders = np.array(list(permutations(range(n))), dtype=np.int64).reshape(-1, n)
        return Null(rows=rank[orders], exact=True, seed=seed)
    n_draws = min(DRAWS, _CELLS // n)
    if n_draws < FEWEST_DRAWS:
        reason = (
            f"{n:,} scores are too many to be put in random order often enough. Look at rolling windows of"
            f" {_CELLS // FEWEST_DRAWS:,} at most, or at the test against trend"
        )
        return Undefined(reason=reason, n=n, method="permutation")
    rng = np.random.default_rng(seed)
    return Null(rows=rng.permuted(np.tile(rank, (n_draws, 1)), axis=1), exact=False, seed=seed)


def chance_levels(
    scores: Floats, metrics: Mapping[str, tuple[Metric, float]], *, seed: int = 0
) -> dict[str, Chance | Undefined]:
    """Return where each metric's value stands among all orders of the scores.

    Args:
        scores: Shape (n,).
        metrics: Name to what computes it and to the value found.
        seed: Of the random orders.
    """
    null = null_of(scores, seed=seed)
    if isinstance(null, Undefined):
        return dict.fromkeys(metrics, null)
    return {name: null.of(metric, found) for name, (metric, found) in metrics.items()}


def trend_chance(scores: Floats, inversions: int) -> Chance | Undefined:
    """Return where a count of inversions stands, by Mann and Kendall's test against trend.

    In closed form for any length: S = untied pairs - 2 * inversions has mean 0
    and variance (n(n-1)(2n+5) - sum t(t-1)(2t+5)) / 18 over all orders, t the
    sizes of the groups of equal scores. Normal, with a correction for
    continuity; all orders are enumerated where there are 8 scores at most.

    Args:
        scores: Shape (n,).
        inversions: Found in them; count.

    Source:
        Mann (1945), Econometrica 13:245-259, doi:10.2307/1907187; with ties:
        Kendall, Rank Correlation Methods, 4th edition, 1975, section 4.
    """
    if len(scores) <= EXACT_UP_TO:
        null = null_of(scores)
        return null if isinstance(null, Undefined) else null.of(inversions_of_rows, inversions)
    untied, variance = _trend_moments(scores)
    if variance == 0:
        return Undefined(reason="All scores are equal, so their order tells nothing.", n=len(scores))
    mean, sd = untied / 2.0, math.sqrt(variance) / 2.0
    return Chance(
        mean=mean,
        sd=sd,
        at_most=float(ndtr((inversions + 0.5 - mean) / sd)),
        at_least=float(ndtr(-(inversions - 0.5 - mean) / sd)),
        method="Mann-Kendall, given ties",
    )


def _trend_moments(scores: Floats) -> tuple[float, float]:
    n, groups = len(scores), np.unique(scores, return_counts=True)[1].astype(np.float64)
    untied = n * (n - 1) / 2.0 - float((groups * (groups - 1)).sum()) / 2.0
    variance = n * (n - 1.0) * (2.0 * n + 5.0) - float((groups * (groups - 1) * (2 * groups + 5)).sum())
    return untied, max(0.0, variance) / 18.0
