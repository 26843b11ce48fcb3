"""The profile of a sequence's order, with chance levels and shuffle bands."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np
from scipy.special import ndtr

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.order import (
    ENTROPY_CUTS,
    FEWEST_SCORES,
    INVERSION_CUTS,
    PUBLISHED_LENGTH,
    SUBSEQUENCE_CUTS,
    Band,
    Chance,
    OrderProfile,
    OrderValue,
)
from theodolite.domain.undefined_reasons import EQUAL_SCORES, NO_SCORE_RULE, TOO_FEW_SCORES, TOO_MANY_SCORES
from theodolite.measurement.proportion import DIALOGUES, defect_rate
from theodolite.measurement.sequences import (
    FEW_VALUES,
    Floats,
    Whole,
    as_scores,
    check_pattern,
    inversion_count,
    longest_increasing_subsequence,
    n_patterns,
    pattern_codes,
    permutation_entropy,
    possible_patterns,
    ranks,
    tied_patterns,
)

MANY_TIES = 0.3
"""Share of patterns with equal scores above which `stable` and `weak` differ considerably."""


def relevance_profile(
    scores: Sequence[float | None],
    *,
    order: int = 3,
    delay: int = 1,
    defect_at_most: float | None = None,
    seed: int = 0,
) -> OrderProfile:
    """Return all order metrics of a sequence, their bands and chance levels, and its level.

    Order metrics measure order: declines, alternation, constant sequences. They
    do not measure level: eight fives and eight ones have the same three values. So
    mean and defect share are reported with them, and limits are stated.

    Args:
        scores: In order of time; None or NaN = missing. Missing scores
            are counted, and the scores around them become neighbours.
        order: Scores in a pattern; 2..7.
        delay: Step between them; 1 or more.
        defect_at_most: Highest score that is a defect; None if there is no rule.
        seed: Seed of random orders, if there are too many to enumerate.

    Returns:
        Entropy in nats; CIN, LIS and LNDS are counts; level in points of the scale.

    Raises:
        InputError: If fewer scores are left than a pattern needs.

    Example:
        >>> profile = relevance_profile([5, 4] * 4, defect_at_most=3)
        >>> round(profile.pen.value, 6), profile.cin.value, profile.lis.value
        (0.693147, 10, 2)
        >>> profile.pen.band.value, profile.pen.in_gap, round(profile.pen.chance.at_most, 3)
        ('medium', True, 0.071)
        >>> profile.level, profile.defect_share.value
        (4.5, 0.0)

    Source:
        Microsoft Research (2024), RELEVANCE, project page: its three metrics.
        Chance levels: permutations of the observed scores, hence given their ties.
        Golden values: tests/golden/order.json.
    """
    check_pattern(order, delay)
    present = as_scores([score for score in scores if score is not None and not math.isnan(score)])
    least = delay * (order - 1) + 1
    if len(present) < max(least, 2):
        message = (
            f"a profile of order {order} needs {max(least, 2)} scores at least; got {len(present)} of {len(scores)}"
        )
        raise InputError(message)
    values = _values(present, order, delay)
    normalized = values["pen"] / math.log(possible_patterns(order, "stable"))
    bands = published_bands(normalized, int(values["cin"]), int(values["lis"]), len(present))
    numbers = _with_chance(present, values, bands, order, delay, seed)
    return OrderProfile(
        n=len(present),
        n_missing=len(scores) - len(present),
        order=order,
        delay=delay,
        pen=numbers["pen"],
        pen_normalized=normalized,
        pen_weak=permutation_entropy(present.tolist(), order=order, delay=delay, ties="weak"),
        cin=numbers["cin"],
        lis=numbers["lis"],
        lnds=numbers["lnds"],
        level=float(present.mean()),
        defect_share=_defect_share(present, defect_at_most),
        tied_patterns=tied_patterns(present, order, delay) or 0.0,
        bands=bands.name,
        notes=_notes(present, len(scores) - len(present), order, delay),
    )


def profile_or_reason(scores: Sequence[float | None], *, order: int = 3, delay: int = 1) -> OrderProfile | Undefined:
    """Return the order metrics of a sequence, or why they are undefined: below eight scores, chance gives any value.

    Args:
        scores: In order of time; None if one is missing.
        order: Scores in a pattern; 2..7.
        delay: Step between them; 1 or more.

    Raises:
        InputError: If `order` or `delay` is invalid.
    """
    check_pattern(order, delay)
    n = sum(score is not None for score in scores)
    fewest = max(FEWEST_SCORES, delay * (order - 1) + 1)
    if n < fewest:
        reason = TOO_FEW_SCORES.format(fewest=fewest, n="is 1" if n == 1 else f"are {n}")
        return Undefined(reason=reason, n=n, unit="scores", method=relevance_profile.__name__)
    return relevance_profile(scores, order=order, delay=delay)


def _values(present: Floats, order: int, delay: int) -> dict[str, float]:
    row = present.tolist()
    return {
        "pen": permutation_entropy(row, order=order, delay=delay),
        "cin": inversion_count(row),
        "lis": longest_increasing_subsequence(row),
        "lnds": longest_increasing_subsequence(row, strict=False),
    }


def _with_chance(
    present: Floats, values: dict[str, float], bands: Bands, order: int, delay: int, seed: int
) -> dict[str, OrderValue]:
    metrics = {
        "pen": (entropy_of_rows(order, delay, "stable"), values["pen"]),
        "lis": (rising_of_rows, values["lis"]),
        "lnds": (not_falling_of_rows, values["lnds"]),
    }
    chance = {**chance_levels(present, metrics, seed=seed), "cin": trend_chance(present, int(values["cin"]))}
    # Equal scores keep LIS low, so its band is meaningless if no score could rise.
    of_metric: dict[str, Band | None] = {"pen": bands.pen, "cin": bands.cin, "lis": bands.lis, "lnds": None}
    if present.min() == present.max():
        of_metric = dict.fromkeys(of_metric)
    return {
        name: OrderValue(
            value=values[name],
            band=of_metric[name],
            in_gap=name == "pen" and bands.pen_in_gap and of_metric[name] is not None,
            chance=chance[name],
        )
        for name in ("pen", "cin", "lis", "lnds")
    }


def _defect_share(present: Floats, defect_at_most: float | None) -> Estimate | Undefined:
    if defect_at_most is None:
        return Undefined(reason=NO_SCORE_RULE, n=len(present), unit=DIALOGUES)
    return defect_rate(int((present <= defect_at_most).sum()), len(present))


def _notes(present: Floats, n_missing: int, order: int, delay: int) -> tuple[str, ...]:
    notes, n = [], len(present)
    if present.min() == present.max():
        notes.append(
            f"All {n} scores are equal, so their order is uninformative: all fives and all ones have the same values."
            " Read the level"
        )
    tied = tied_patterns(present, order, delay) or 0.0
    if tied > MANY_TIES and present.min() != present.max():
        notes.append(f"{tied:.0%} of the patterns hold equal scores, which PEN reads as rising; see PEN with weak ties")
    codes, possible = n_patterns(n, order, delay), possible_patterns(order, "stable")
    if codes < 10 * possible:
        notes.append(
            f"{codes} patterns cannot fill {possible} kinds evenly, so PEN stays low of itself (by about"
            f" {(possible - 1) / (2 * codes):.2f} nats): compare windows of one length only"
        )
    n_values = len(set(present.tolist()))
    if 1 < n_values < n:
        notes.append(f"With {n_values} different scores LIS cannot pass {n_values}; LNDS lets equal scores follow")
    if n_missing:
        notes.append(f"{n_missing} of {n + n_missing} scores are missing; those beside them were taken as neighbours")
    return tuple(notes)


PRESET: Final = "relevance-2024"
"""Name of the published table for eight scores, as we read it."""

_ENTROPY_GAPS = ((0.3, 0.4), (0.6, 0.7))

_MOST_INVERSIONS = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Bands:
    """The bands of three metrics.

    Attributes:
        name: The rule of thumb of the bands.
        pen: Cut-offs of the normalised permutation entropy.
        pen_in_gap: Whether the published table does not cover the value.
        cin: Cut-offs of the inversions.
        lis: Cut-offs of the longest increasing subsequence.
    """

    name: str
    pen: Band
    pen_in_gap: bool
    cin: Band
    lis: Band


def published_bands(pen_normalized: float, cin: int, lis: int, n: int) -> Bands:
    """Return the bands of three metrics in RELEVANCE's table.

    The table reads PEN 0-.3, .4-.6, .7-1.0 for low, medium and high; CIN 0-4,
    5-9, 10-28; LIS 1-3, 4-5, 6-8. Its PEN ranges leave .3 to .4 and .6 to .7
    open, and its own example (.3869 normalised) falls into the first gap.
    Only normalised entropy with the gaps closed at their middle, .35 and
    .65, gives the class that the document's text describes; this function does the same.

    For other lengths, the cut-offs are rescaled as fractions of the largest value.
    That extends the table formally, not in meaning: noise alone has a
    "high" CIN in 86% of sequences of 8 scores and in 99.99% of those of 64. Use chance levels.

    Args:
        pen_normalized: Permutation entropy as a fraction of its largest value.
        cin: Inversions; count.
        lis: Longest strictly increasing subsequence; count.
        n: Scores; count, at least 2.

    Example:
        >>> bands = published_bands(0.386853, 10, 2, 8)
        >>> bands.pen.value, bands.pen_in_gap, bands.cin.value, bands.lis.value
        ('medium', True, 'high', 'low')

    Source:
        Microsoft Research (2024), RELEVANCE: Automatic evaluation framework for
        LLM responses, project page, its table for eight scores.
    """
    most = n * (n - 1) / 2.0
    scaled_cin = cin * _MOST_INVERSIONS / most if most else 0.0
    scaled_lis = lis * PUBLISHED_LENGTH / n
    return Bands(
        name=PRESET if n == PUBLISHED_LENGTH else f"{PRESET}, rescaled from 8 to {n} scores",
        pen=_band(pen_normalized, ENTROPY_CUTS),
        pen_in_gap=any(low < pen_normalized < high for low, high in _ENTROPY_GAPS),
        cin=_band(scaled_cin, INVERSION_CUTS),
        lis=_band(scaled_lis, SUBSEQUENCE_CUTS),
    )


def _band(value: float, cuts: tuple[float, float]) -> Band:
    if value < cuts[0]:
        return Band.LOW
    return Band.MEDIUM if value < cuts[1] else Band.HIGH


EXACT_UP_TO = 8
"""Maximum length of a sequence for enumerating all orders: 8! = 40,320."""

DRAWS = 1_999
"""Number of random orders if not all can be enumerated; count."""

_CELLS = 4_000_000
"""Scores that are permuted at a time; count."""

FEWEST_DRAWS = 199
"""Number of random orders below which a p-value of .01 cannot be estimated; count."""

_SAME = 1e-9

Metric = Callable[[Whole], Floats]
"""Computes a value for each row of sequences, shape (rows, n)."""


def entropy_of_rows(order: int, delay: int, ties: str) -> Metric:
    """Return a function for the permutation entropy of each row; nats."""

    def entropy(rows: Whole) -> Floats:
        in_row = n_patterns(rows.shape[1], order, delay)
        codes = pattern_codes(rows.astype(np.float64), order, delay, ties)
        shares = np.arange(in_row + 1) / in_row
        parts = np.where(shares > 0, -shares * np.log(np.where(shares > 0, shares, 1.0)), 0.0)
        result = np.zeros(len(rows))
        for code in np.unique(codes):
            result += parts[(codes == code).sum(axis=1)]
        return result

    return entropy


def inversions_of_rows(rows: Whole) -> Floats:
    """Return the inversions of each row; counts."""
    result = np.zeros(len(rows))
    for lag in range(1, rows.shape[1]):
        result += (rows[:, :-lag] > rows[:, lag:]).sum(axis=1)
    return result


def rising_of_rows(rows: Whole) -> Floats:
    """Return the longest strictly increasing subsequence of each row; counts."""
    return _patience(rows, strict=True)


def not_falling_of_rows(rows: Whole) -> Floats:
    """Return the longest subsequence of each row that does not fall; counts.

    With few values it takes one step per score, over the longest subsequence that
    ends at or below each value; patience sorting would have as many piles as scores.
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
        seed: Seed of the sample.
    """

    rows: Whole
    exact: bool
    seed: int

    def of(self, metric: Metric, observed: float) -> Chance:
        """Return the position of a value among the values of all orders.

        Exact if all orders were enumerated. Otherwise the observed order
        counts as part of the sample, so that no share is ever 0.
        """
        values = metric(self.rows)
        low, high = int((values <= observed + _SAME).sum()), int((values >= observed - _SAME).sum())
        n, extra = len(values), 0 if self.exact else 1
        how = "all orders enumerated" if self.exact else f"{n:,} random orders, seed {self.seed}"
        return Chance(
            mean=float(values.mean()),
            sd=float(values.std()),
            at_most=(low + extra) / (n + extra),
            at_least=(high + extra) / (n + extra),
            method=f"permutation of the scores with their ties; {how}",
        )


def null_of(scores: Floats, *, seed: int = 0) -> Null | Undefined:
    """Return the possible orders of some scores.

    Args:
        scores: Shape (n,).
        seed: Seed of the random generator.

    Returns:
        `Undefined` if the sequence is too long for a useful sample.
    """
    rank, n = ranks(scores), len(scores)
    if n <= EXACT_UP_TO:
        orders = np.array(list(permutations(range(n))), dtype=np.int64).reshape(-1, n)
        return Null(rows=rank[orders], exact=True, seed=seed)
    n_draws = min(DRAWS, _CELLS // n)
    if n_draws < FEWEST_DRAWS:
        reason = TOO_MANY_SCORES.format(n=f"{n:,}", most=f"{_CELLS // FEWEST_DRAWS:,}")
        return Undefined(reason=reason, n=n, method="permutation")
    rng = np.random.default_rng(seed)
    return Null(rows=rng.permuted(np.tile(rank, (n_draws, 1)), axis=1), exact=False, seed=seed)


def chance_levels(
    scores: Floats, metrics: Mapping[str, tuple[Metric, float]], *, seed: int = 0
) -> dict[str, Chance | Undefined]:
    """Return the position of each metric's value among all orders of the scores.

    Args:
        scores: Shape (n,).
        metrics: Name to its function and its observed value.
        seed: Seed of the random orders.
    """
    null = null_of(scores, seed=seed)
    if isinstance(null, Undefined):
        return dict.fromkeys(metrics, null)
    return {name: null.of(metric, result) for name, (metric, result) in metrics.items()}


def trend_chance(scores: Floats, inversions: int) -> Chance | Undefined:
    """Return the position of a count of inversions, by Mann and Kendall's test against trend.

    The test has a closed form for any length: S = untied pairs - 2 * inversions has mean 0
    and variance (n(n-1)(2n+5) - sum t(t-1)(2t+5)) / 18 over all orders, with t the
    sizes of the groups of equal scores. Normal, with a correction for
    continuity; all orders are enumerated for at most 8 scores.

    Args:
        scores: Shape (n,).
        inversions: Observed inversions; count.

    Source:
        Mann (1945), Econometrica 13:245-259, doi:10.2307/1907187; with ties:
        Kendall, Rank Correlation Methods, 4th edition, 1975, section 4.
    """
    if len(scores) <= EXACT_UP_TO:
        null = null_of(scores)
        return null if isinstance(null, Undefined) else null.of(inversions_of_rows, inversions)
    untied, variance = _trend_moments(scores)
    if variance == 0:
        return Undefined(reason=EQUAL_SCORES, n=len(scores))
    mean, sd = untied / 2.0, math.sqrt(variance) / 2.0
    return Chance(
        mean=mean,
        sd=sd,
        at_most=float(ndtr((inversions + 0.5 - mean) / sd)),
        at_least=float(ndtr(-(inversions - 0.5 - mean) / sd)),
        method="Mann-Kendall, corrected for ties",
    )


def _trend_moments(scores: Floats) -> tuple[float, float]:
    n, groups = len(scores), np.unique(scores, return_counts=True)[1].astype(np.float64)
    untied = n * (n - 1) / 2.0 - float((groups * (groups - 1)).sum()) / 2.0
    variance = n * (n - 1.0) * (2.0 * n + 5.0) - float((groups * (groups - 1) * (2 * groups + 5)).sum())
    return untied, max(0.0, variance) / 18.0
