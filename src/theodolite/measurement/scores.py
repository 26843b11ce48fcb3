"""Scores: how a judge's scores follow people's, in value and in order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import CONSTANT_SCORE, TOO_FEW_BOTH_SCORES, TOO_FEW_SCORE_PAIRS
from theodolite.measurement.interval import check_confidence, normal_quantile, student_quantile, zero_count_bound
from theodolite.measurement.labels import (
    ClusterIds,
    Scale,
    cluster_codes,
    ends_of_constant,
    score_column,
    selected_clusters,
    sizes_of,
)
from theodolite.measurement.sequences import inversion_count

Floats = NDArray[np.float64]
Correlation = Literal["pearson", "spearman", "kendall"]

CORRELATED: Final = "correlation; 1 is the same order, 0 is none"
POINTS: Final = "points of the scale"

MOST_CELLS: Final = 2_500
"""Maximum number of pairs of values for a jackknife on tables of counts; count."""

TABLES_AT_ONCE: Final = 256
"""Maximum number of such tables in memory; count."""

CONSTANT: Final = "all values are the same; bound on the share of other values"
"""Name of the interval of a mean of equal values."""

NO_VARIATION: Final = "all values are the same, so no interval without the ends of the scale"
"""Reason why a mean of equal values on an unknown scale has no interval."""


PERFECT: Final = 1e-12
"""Correlations closer to 1 than this are perfect except for rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreAgreement:
    """How a judge's scores follow people's.

    Attributes:
        rmse: Root of the mean squared difference; points of the scale.
        bias: Mean of the judge's score minus people's; points of the scale.
        pearson: Correlation of the scores.
        spearman: Correlation of their ranks.
        kendall: Pairs in the same order minus pairs in opposite order, corrected for ties (tau-b).
    """

    rmse: Estimate | Undefined
    bias: Estimate | Undefined
    pearson: Estimate | Undefined
    spearman: Estimate | Undefined
    kendall: Estimate | Undefined


def score_agreement(
    scores: Sequence[float | None],
    labels: Sequence[float | None],
    *,
    clusters: ClusterIds | None = None,
    scale: Scale | None = None,
    confidence: float = 0.95,
) -> ScoreAgreement:
    """Estimate how a judge's scores follow people's.

    The distance shows the judge's error, the correlations whether it
    puts units in the same order; one can be good while the other is poor.

    Args:
        scores: The judge's score of each unit; None or NaN = missing.
        labels: People's score of the same units, in the same form.
        clusters: The cluster of each unit; None = units are independent.
        scale: Lowest and highest score; None = unknown. Only equal distances need it, because they show
            no error: their interval is that of `ends_of_constant`, and there is none without it.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Five estimates; each `Undefined` if units or differences are lacking.

    Raises:
        InputError: If the lengths differ or there is not one cluster a unit.

    Example:
        >>> agreement = score_agreement([1, 2, 3, 4], [1, 3, 2, 5])
        >>> [round(e.value, 3) for e in (agreement.rmse, agreement.bias, agreement.kendall)]
        [0.866, -0.25, 0.667]

    Source:
        As for `correlation`; jackknife: Efron, Stein (1981), Annals of
        Statistics 9:586-596, doi:10.1214/aos/1176345462. Golden values:
        tests/golden/llm_rubric_q0.csv.gz.
    """
    check_confidence(confidence)
    ours, theirs, ids = _both(scores, labels, clusters, ("scores", "labels"))
    correlations = {
        method: correlation(scores, labels, method=method, clusters=clusters, confidence=confidence)
        for method in ("pearson", "spearman", "kendall")
    }
    width = None if scale is None else scale[1] - scale[0]
    gaps = None if width is None else (-width, width)
    return ScoreAgreement(
        rmse=_rmse(ours - theirs, ids, confidence, width),
        bias=mean_estimate(ours - theirs, clusters=ids, confidence=confidence, scale=gaps),
        **correlations,
    )


def correlation(
    a: Sequence[float | None],
    b: Sequence[float | None],
    *,
    method: Correlation = "spearman",
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the correlation of two scores.

    Args:
        a: Score of each unit; None or NaN = missing.
        b: Score of the same units, in the same form.
        method: `pearson` of the scores, `spearman` of their ranks, or
            `kendall`, tau-b.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        -1..1; the interval is that of Fisher's z (over clusters with the
        jackknife's error and Student's t); it has no ends for fewer than five
        units. A perfect correlation shows no error; its inner end is
        the correlation that remains if as many units follow no order as the
        bound of a count of 0 allows. `Undefined` when fewer than three units
        have both or one score only occurs.

    Raises:
        InputError: If the lengths differ, the method is unknown, or there is
            not one cluster a unit.

    Example:
        >>> round(correlation([1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5], method="kendall").value, 3)
        0.6

    Source:
        Fisher (1921), Metron 1:3-32; errors of ranks: Bonett, Wright (2000), Psychometrika 65:23-28;
        ties: Kendall (1945), Biometrika 33:239-251, doi:10.1093/biomet/33.3.239. A perfect one: mixture of
        the comonotone and the independent copula, Nelsen (2006), An Introduction to Copulas, 2nd ed.,
        section 5.1, with `zero_count_bound`.
    """
    check_confidence(confidence)
    if method not in MEASURES:
        message = f"`method` must be one of {', '.join(MEASURES)}; got {method!r}"
        raise InputError(message)
    first, second, ids = _both(a, b, clusters, ("a", "b"))
    n, measure = len(first), MEASURES[method]
    if n < 3 or np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        return Undefined(reason=TOO_FEW_BOTH_SCORES if n < 3 else CONSTANT_SCORE, n=n, unit=CORRELATED, method=method)
    value = measure(first, second)
    codes = None if ids is None else cluster_codes(ids, n)
    name = f"{method}, Fisher's z" + ("" if ids is None else ", jackknife over clusters")
    low: float | None = None
    high: float | None = None
    if abs(value) >= 1.0 - PERFECT:
        low, high = _perfect_ends(value, method, codes, n, confidence)
        name = f"{method}, bound of the units out of order"
    elif n >= 5:
        reach, centre = _reach(first, second, method, codes, confidence), math.atanh(value)
        low, high = math.tanh(centre - reach), math.tanh(centre + reach)
    return Estimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=n,
        unit=CORRELATED,
        method=name,
        n_clusters=None if codes is None else len(np.unique(codes)),
    )


def mean_estimate(
    values: Floats,
    *,
    clusters: ClusterIds | None,
    confidence: float,
    unit: str = POINTS,
    scale: Scale | None = None,
) -> Estimate | Undefined:
    """Estimate an unbounded mean, with Student's t over units or clusters.

    If all values are equal, there is no variation to estimate an error from.
    The interval then is that of `ends_of_constant`; without a scale there is none.

    Args:
        values: One number per unit.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction.
        unit: Unit of the mean.
        scale: Lowest and highest possible value; None = unknown.
    """
    n = len(values)
    codes = cluster_codes(clusters, n)
    _, positions = np.unique(codes, return_inverse=True)
    n_groups = int(positions.max(initial=-1)) + 1
    if n_groups < 2:
        return Undefined(reason=TOO_FEW_SCORE_PAIRS, n=n, unit=unit, method="Student's t")
    mean = float(values.mean())
    sums = np.bincount(positions, values - mean)
    plain = float(values.var(ddof=1)) / n
    variance = float(sums @ sums) / n**2 * n_groups / (n_groups - 1)
    reach = student_quantile(confidence, n_groups - 1) * math.sqrt(variance)
    method = "Student's t" if clusters is None else "cluster-robust, Student's t"
    ends: tuple[float, float] | tuple[None, None] = (mean - reach, mean + reach)
    if np.ptp(values) == 0.0:
        mean, method = float(values[0]), NO_VARIATION if scale is None else CONSTANT
        ends = (
            (None, None)
            if scale is None
            else ends_of_constant(mean, np.bincount(positions).tolist(), scale, confidence)
        )
    return Estimate(
        value=mean,
        low=ends[0],
        high=ends[1],
        confidence=confidence,
        n=n,
        unit=unit,
        method=method,
        n_clusters=None if clusters is None else n_groups,
        design_effect=variance / plain if clusters is not None and plain > 0.0 else None,
    )


def _both(
    a: Sequence[float | None], b: Sequence[float | None], clusters: ClusterIds | None, names: tuple[str, str]
) -> tuple[Floats, Floats, ClusterIds | None]:
    """Return the scores of the units with both, and their clusters."""
    if len(a) != len(b):
        message = f"both scores must be of the same units; got {len(a)} and {len(b)}. Put None where one is missing"
        raise InputError(message)
    first, second = score_column(a, names[0]), score_column(b, names[1])
    selected = ~(np.isnan(first) | np.isnan(second))
    return first[selected], second[selected], selected_clusters(clusters, selected.tolist())


def _rmse(gaps: Floats, clusters: ClusterIds | None, confidence: float, width: float | None) -> Estimate | Undefined:
    """Return the root of the mean squared gap; its logarithm is treated as normal."""
    scale = None if width is None else (0.0, width**2)
    squares = mean_estimate(gaps**2, clusters=clusters, confidence=confidence, scale=scale)
    if isinstance(squares, Undefined):
        return squares
    if squares.low is not None and squares.high is not None and np.ptp(gaps**2) == 0.0:
        ends = math.sqrt(squares.low), math.sqrt(squares.high)
        return replace(squares, value=math.sqrt(squares.value), low=ends[0], high=ends[1], unit=POINTS)
    # Equal gaps show no variation, so there is no error and no factor.
    factor = None if squares.high is None else math.exp((squares.high - squares.value) / squares.value)
    return Estimate(
        value=math.sqrt(squares.value),
        low=None if factor is None else math.sqrt(squares.value / factor),
        high=None if factor is None else math.sqrt(squares.value * factor),
        confidence=confidence,
        n=squares.n,
        unit=POINTS,
        method=f"{squares.method}, logarithm of the mean square" if factor is not None else squares.method,
        n_clusters=squares.n_clusters,
    )


def _perfect_ends(
    value: float, method: str, codes: NDArray[np.int64] | None, n: int, confidence: float
) -> tuple[float, float]:
    """Return the ends of a perfect correlation.

    A share b of units may follow no order without having been drawn. Mixed with
    1 - b units in perfect order, it leaves a correlation of 1 - b, of scores and
    of ranks; of the pairs, (1 - b)**2 stay in order, and of the 2 b (1 - b) mixed
    pairs, the concordant ones exceed the discordant ones by a third.
    """
    sizes = [1] * n if codes is None else np.unique(codes, return_counts=True)[1].tolist()
    others = zero_count_bound(sizes_of(sizes), (1.0 - confidence) / 2.0)
    inner = 1.0 - others
    if method == "kendall":
        inner = inner**2 + 2.0 * others * inner / 3.0
    return (inner, 1.0) if value > 0.0 else (-1.0, -inner)


def _reach(first: Floats, second: Floats, method: str, codes: NDArray[np.int64] | None, confidence: float) -> float:
    """Return the half-width of the interval of Fisher's z."""
    n = len(first)
    if codes is None:
        value = MEASURES[method](first, second)
        error = {
            "pearson": 1.0 / (n - 3),
            "spearman": (1.0 + value**2 / 2.0) / (n - 3),
            "kendall": 0.437 / (n - 4),
        }[method]
        return normal_quantile(confidence) * math.sqrt(error)
    without = without_each(first, second, method, codes)
    n_clusters = len(without)
    turned = np.arctanh(np.clip(np.nan_to_num(without), -1.0 + 1e-12, 1.0 - 1e-12))
    spread = float(((turned - turned.mean()) ** 2).sum()) * (n_clusters - 1) / n_clusters
    return student_quantile(confidence, max(n_clusters - 1, 1)) * math.sqrt(spread)


def without_each(first: Floats, second: Floats, method: str, codes: NDArray[np.int64]) -> Floats:
    """Return the correlation with each cluster omitted in turn; shape (clusters,).

    All three correlations are functions of the table of counts of two scores.
    If scores have few values, the table of each cluster is subtracted from the whole
    one, so that the work grows with units and clusters, not with their product.

    Args:
        first: One score of each unit.
        second: The other score of the same units.
        method: Name of the correlation.
        codes: Code of each unit's cluster.
    """
    points_a, a = np.unique(first, return_inverse=True)
    points_b, b = np.unique(second, return_inverse=True)
    names, group = np.unique(codes, return_inverse=True)
    n_cells = len(points_a) * len(points_b)
    if n_cells > MOST_CELLS:
        return np.array([MEASURES[method](first[codes != name], second[codes != name]) for name in names])
    cell = a * len(points_b) + b
    whole = np.bincount(cell, minlength=n_cells)
    order = np.argsort(group, kind="stable")
    result = []
    for begin in range(0, len(names), TABLES_AT_ONCE):
        n = min(TABLES_AT_ONCE, len(names) - begin)
        rows = order[slice(*np.searchsorted(group[order], [begin, begin + n]))]
        own = np.bincount((group[rows] - begin) * n_cells + cell[rows], minlength=n * n_cells)
        tables = (whole - own.reshape(n, n_cells)).reshape(n, len(points_a), len(points_b)).astype(np.float64)
        result.append(_of_tables(tables, points_a, points_b, method))
    return np.concatenate(result)


def _of_tables(tables: Floats, points_a: Floats, points_b: Floats, method: str) -> Floats:
    """Return the correlation of each table of counts; NaN where one score is constant.

    Args:
        tables: Counts; shape (tables, values of a, values of b).
        points_a: Values of the first score, ascending.
        points_b: Values of the second score, ascending.
        method: Name of the correlation.
    """
    in_a, in_b = tables.sum(axis=2), tables.sum(axis=1)
    n = np.maximum(in_a.sum(axis=1), 1.0)  # removing the only cluster leaves no data
    if method == "kendall":
        ahead = _shifted(tables.cumsum(axis=1), 1)
        lower = _shifted(ahead.cumsum(axis=2), 2)  # pairs in the same order, counted from the later unit of each
        higher = ahead.sum(axis=2, keepdims=True) - ahead.cumsum(axis=2)  # pairs in the other order, likewise
        over = (tables * (lower - higher)).sum(axis=(1, 2))
        free_a, free_b = ((n * (n - 1) - (counts * (counts - 1)).sum(axis=1)) / 2.0 for counts in (in_a, in_b))
        scale = np.sqrt(free_a * free_b)
    else:
        ranked = method == "spearman"
        at_a = in_a.cumsum(axis=1) - (in_a - 1) / 2.0 if ranked else np.broadcast_to(points_a, in_a.shape)
        at_b = in_b.cumsum(axis=1) - (in_b - 1) / 2.0 if ranked else np.broadcast_to(points_b, in_b.shape)
        off_a = at_a - ((in_a * at_a).sum(axis=1) / n)[:, None]
        off_b = at_b - ((in_b * at_b).sum(axis=1) / n)[:, None]
        over = np.einsum("tab,ta,tb->t", tables, off_a, off_b)
        scale = np.sqrt((in_a * off_a**2).sum(axis=1) * (in_b * off_b**2).sum(axis=1))
    result = np.divide(over, scale, out=np.full(len(n), np.nan), where=scale > 0.0)
    return np.asarray(np.clip(result, -1.0, 1.0))


def _shifted(sums: Floats, axis: int) -> Floats:
    """Return cumulative sums that exclude each entry itself."""
    selected = (np.arange(sums.shape[axis]) > 0).reshape((1, -1, 1) if axis == 1 else (1, 1, -1))
    return np.asarray(np.roll(sums, 1, axis=axis) * selected)


def average_ranks(values: Floats) -> Floats:
    """Return the rank of each value from 1; equal values share their mean rank."""
    _, position, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2.0)[position]
    return ranks


def _pearson(a: Floats, b: Floats) -> float:
    """Return sum of da db over the root of sum da^2 sum db^2; NaN if one is constant or there is no pair."""
    if not len(a):
        return math.nan
    first, second = a - a.mean(), b - b.mean()
    scale = math.sqrt(float(first @ first) * float(second @ second))
    return min(max(float(first @ second) / scale, -1.0), 1.0) if scale > 0.0 else math.nan


def _spearman(a: Floats, b: Floats) -> float:
    return _pearson(average_ranks(a), average_ranks(b))


def _kendall(a: Floats, b: Floats) -> float:
    """Return (concordant - discordant) / root((pairs - ties in a)(pairs - ties in b))."""
    order = np.lexsort((b, a))
    discordant = inversion_count(b[order].tolist())
    pairs = len(a) * (len(a) - 1) / 2.0
    tied_a, tied_b = _tied(a), _tied(b)
    tied_both = _tied(average_ranks(a) * (2.0 * len(a) + 1.0) + average_ranks(b))
    scale = math.sqrt((pairs - tied_a) * (pairs - tied_b))
    ahead = pairs - tied_a - tied_b + tied_both - 2.0 * discordant
    return ahead / scale if scale > 0.0 else math.nan


def _tied(values: Floats) -> float:
    """Return the number of pairs of equal values."""
    _, counts = np.unique(values, return_counts=True)
    return float((counts * (counts - 1)).sum()) / 2.0


MEASURES: Final = {"pearson": _pearson, "spearman": _spearman, "kendall": _kendall}
"""Name to correlation."""
