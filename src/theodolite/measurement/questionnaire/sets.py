"""Sets: agreement of people who each give any number of codes to a text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.beyond_chance import CORRECTED, NO_SHARED_UNIT, beyond_chance
from theodolite.measurement.clusters import ClusterIds, ClusterSums, cluster_sizes, kept_clusters
from theodolite.measurement.interval import Concord, check_confidence, student_quantile
from theodolite.measurement.pairs import SAME_ANSWER

Floats = NDArray[np.float64]
Codes = frozenset[str]


def masi_distance(first: Collection[str], second: Collection[str]) -> float:
    """Return how far two sets are apart: 0 for the same set, 1 for sets that share nothing.

    1 - J M: J is the share of common members among all, M is 1 for equal sets, 2/3
    where one holds the other, 1/3 where they overlap, 0 where they share nothing.
    Two empty sets are the same.

    Args:
        first: Names of codes.
        second: Names of codes.

    Example:
        >>> round(masi_distance({"a"}, {"a", "b"}), 4)
        0.6667

    Source:
        Passonneau (2006), Measuring Agreement on Set-valued Items (MASI) for
        Semantic and Pragmatic Annotation, Proceedings of LREC 2006.
    """
    one, other = frozenset(first), frozenset(second)
    if one == other:
        return 0.0
    common = len(one & other)
    alike = Fraction(common, len(one | other))
    nested = Fraction(2, 3) if one < other or other < one else Fraction(1, 3)
    return float(1 - alike * nested) if common else 1.0


def set_alpha(
    given: Sequence[Sequence[Collection[str]]], *, clusters: ClusterIds | None = None, confidence: float = 0.95
) -> Estimate | Undefined:
    """Estimate the agreement beyond chance of people who give sets of codes to texts.

    Krippendorff's alpha with the distance MASI, so that sets that share a code
    agree in part.

    Args:
        given: One entry a text: the set that each of its coders gave; texts with
            fewer than two are left out.
        clusters: The cluster of each text, e.g. who wrote it; None = texts are independent.
        confidence: Coverage wanted; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; n counts the texts with two sets or more; the
        interval is a jackknife over texts or clusters on the logarithm of
        1 - alpha, with Student's t. `Undefined` when no text has two sets or one
        set only occurs.

    Example:
        >>> alpha = set_alpha([[{"a"}, {"a"}], [{"a"}, {"a", "b"}], [{"b"}, {"b"}]])
        >>> round(alpha.value, 4), alpha.n
        (0.6429, 3)

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
        https://repository.upenn.edu/asc_papers/43; distance: `masi_distance`;
        jackknife: Efron, Stein (1981), Annals of Statistics 9:586-596,
        doi:10.1214/aos/1176345462.
    """
    check_confidence(confidence)
    is_shared = [len(sets) >= 2 for sets in given]
    units = [[frozenset(codes) for codes in sets] for sets, kept in zip(given, is_shared, strict=True) if kept]
    kinds = sorted({codes for sets in units for codes in sets}, key=sorted)
    if not units:
        return Undefined(reason=NO_SHARED_UNIT, unit=CORRECTED)
    if len(kinds) < 2:
        return Undefined(reason=SAME_ANSWER, n=len(units), unit=CORRECTED)
    ids = kept_clusters(clusters, is_shared)
    distance = np.array([[masi_distance(a, b) for b in kinds] for a in kinds])
    sums = ClusterSums.of_units(_sums(units, kinds, distance), ids)

    def alphas(totals: Floats) -> Floats:
        return _alphas(totals, distance)

    concord = _concord(units, sums.total[1:], ids)
    value, error = float(alphas(sums.total)), sums.jackknife_error(alphas)
    over = "jackknife over units" if ids is None else "jackknife over clusters"
    quantile = student_quantile(confidence, max(sums.n - 1, 1))
    return beyond_chance(value, error, quantile, concord, confidence=confidence, method=f"{over}, distance MASI")


def _sums(units: Sequence[Sequence[Codes]], kinds: Sequence[Codes], distance: Floats) -> Floats:
    """Return what each text adds: the distances within it over its pairs' weight, and how often it has each set."""
    place = {codes: at for at, codes in enumerate(kinds)}
    sums = np.zeros((len(units), 1 + len(kinds)))
    for row, sets in zip(sums, units, strict=True):
        at = [place[codes] for codes in sets]
        row[0] = distance[np.ix_(at, at)].sum() / (len(at) - 1)
        np.add.at(row[1:], at, 1.0)
    return sums


def _alphas(totals: Floats, distance: Floats) -> Floats:
    """Return 1 - (n - 1) sum of distances within texts / sum n_c n_k d_ck; NaN where nothing is to be expected."""
    observed, used = totals[..., 0], totals[..., 1:]
    expected = np.einsum("...c,ck,...k->...", used, distance, used)
    ratio = np.divide(
        (used.sum(axis=-1) - 1.0) * observed, expected, out=np.full(np.shape(expected), np.nan), where=expected > 0
    )
    alphas: Floats = 1.0 - ratio
    return alphas


def _concord(units: Sequence[Sequence[Codes]], used: Floats, ids: ClusterIds | None) -> Concord:
    alike = [len(set(sets)) == 1 for sets in units]
    total = float(used.sum())
    return Concord(
        agreeing=sum(alike),
        n=len(units),
        chance=float(used @ (used - 1.0)) / (total * (total - 1.0)),
        clusters=cluster_sizes(alike, ids),
    )
