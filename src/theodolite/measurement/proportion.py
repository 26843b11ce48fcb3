"""Defect rates and their intervals, for independent and for clustered dialogues."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.beta_binomial import ClusteredShare, clustered_share, zero_count_bound
from theodolite.measurement.interval import (
    Ends,
    check_confidence,
    clopper_pearson,
    student_quantile,
    whole_count,
    wilson,
)

DIALOGUES: Final = "fraction of dialogues"
"""Unit of rates and of plain agreement."""

BETA_BINOMIAL: Final = "beta-binomial"
"""Name of the interval for clustered dialogues."""

NOTHING_LABELLED: Final = "No dialogue has a label, so there is no share to give."
"""Why a rate of nothing is undefined."""

Clusters = Sequence[tuple[int, int]]
"""Pairs (defects, labelled), one a cluster; counts."""

_INDEPENDENT: Mapping[str, Callable[[int, int, float], Ends]] = MappingProxyType(
    {"wilson": wilson, "clopper-pearson": clopper_pearson}
)


class _Default(str):
    """The default method, which clusters may replace."""

    __slots__ = ()


def defect_rate(
    defects: int,
    labelled: int,
    *,
    method: str = _Default("wilson"),
    confidence: float = 0.95,
    clusters: Clusters | None = None,
) -> Estimate | Undefined:
    """Estimate the share of labelled dialogues that have a defect.

    Wilson's score interval is the default: it keeps its coverage when defects
    are rare, where the normal approximation would report no uncertainty at all.
    Clopper and Pearson's never covers less than it says, at the price of width.
    Both need independent dialogues. Dialogues of one cluster (one persona, one
    script) resemble each other; where `clusters` hold more than one dialogue
    the beta-binomial interval is used, and an interval for independent
    dialogues is refused when it is asked for by name.

    Without any defect among six dialogues or fewer, Wilson's upper end is below the
    one-sided exact bound of `zero_defect_bound`. The default then reaches up to that
    bound, and down to its mirror image where all dialogues have a defect; the method
    that is asked for by name stays as published (ADR-0068).

    The beta-binomial interval has equal tails, and is consistent with
    `zero_defect_bound` where defects are few. It takes the share of a cluster
    to have nothing to do with its size; for clusters of unequal size it reaches
    at least as far as the cluster-robust interval of the pooled share, which
    does not (`clustered_ends`).

    Args:
        defects: Dialogues labelled with the defect; count, 0..labelled.
        labelled: Dialogues with a label; count. The caller reports the missing.
        method: `wilson`, `clopper-pearson` or `beta-binomial`.
        confidence: Coverage; fraction in (0, 1).
        clusters: Pairs (defects, labelled) that add up to the totals; counts.

    Returns:
        Unit: fraction of dialogues. `Undefined` when `labelled` is 0.

    Raises:
        InputError: If `defects` is outside 0..labelled, `clusters` do not add
            up, or the method does not suit the clusters.

    Example:
        >>> rate = defect_rate(0, 50)
        >>> round(rate.low, 3), round(rate.high, 3)
        (0.0, 0.071)
        >>> rate = defect_rate(9, 60, clusters=[(6, 20), (3, 20), (0, 20)])
        >>> rate.method, rate.n_clusters, rate.value
        ('beta-binomial', 3, 0.15)

    Source:
        Brown, Cai, DasGupta (2001), Statistical Science 16:101-133,
        doi:10.1214/ss/1009213286 (Wilson; Clopper-Pearson; Jeffreys' prior).
        Clusters: the integrated likelihood of Berger, Liseo, Wolpert (1999),
        Statistical Science 14:1-28, doi:10.1214/ss/1009211804, applied to the
        beta-binomial distribution. Golden values: tests/golden/proportions.json.
    """
    defects, labelled = _counts(defects, labelled)
    check_confidence(confidence)
    sizes = _checked_clusters(clusters, defects, labelled)
    chosen = _method(method, sizes)
    if labelled == 0:
        return Undefined(reason=NOTHING_LABELLED, unit=DIALOGUES, method=chosen)
    if chosen == BETA_BINOMIAL and sizes is not None:
        return _clustered_rate(defects, labelled, sizes, confidence)
    low, high = _INDEPENDENT[chosen](defects, labelled, confidence)
    if isinstance(method, _Default):
        low, high = _with_one_sided_bounds(defects, labelled, confidence, (low, high))
    return Estimate(
        value=defects / labelled,
        low=low,
        high=high,
        confidence=confidence,
        n=labelled,
        unit=DIALOGUES,
        method=chosen,
        count=defects,
    )


def zero_defect_bound(
    labelled: int, *, confidence: float = 0.95, clusters: Sequence[int] | None = None
) -> Estimate | Undefined:
    """Return the highest defect rate that is compatible with no defect at all.

    The bound is one-sided: were the true rate higher, at least one defect would
    have shown with the probability `confidence`. It is exact for independent
    dialogues. Dialogues of one cluster resemble each other to an unknown degree;
    for them the probability is that of the beta-binomial model, averaged over
    the prior of the correlation within clusters. The bound of clusters is never
    below that of as many independent dialogues.

    Args:
        labelled: Dialogues with a label, none of them a defect; count.
        confidence: Coverage; fraction in (0, 1).
        clusters: Labelled dialogues of each cluster, adding up to `labelled`; counts.

    Returns:
        Value and upper end are the bound. Unit: fraction of dialogues.
        `Undefined` when `labelled` is 0.

    Raises:
        InputError: If a count is below 0 or `clusters` do not add up.

    Example:
        >>> round(zero_defect_bound(100).value, 6)
        0.029513

    Source:
        Clopper, Pearson (1934), Biometrika 26:404-413, doi:10.1093/biomet/26.4.404,
        one-sided: 1 - (1 - confidence)**(1/n). Its approximation 3/n:
        Hanley, Lippman-Hand (1983), JAMA 249:1743-1745,
        doi:10.1001/jama.1983.03330370053031. Clusters: `zero_count_bound`.
        Golden values: tests/golden/proportions.json.
    """
    labelled = whole_count(labelled, "labelled")
    check_confidence(confidence)
    pairs = None if clusters is None else [(0, size) for size in clusters]
    sizes = _checked_clusters(pairs, 0, labelled)
    clustered = sizes is not None and _resemble(sizes)
    method = f"{BETA_BINOMIAL}, one-sided" if clustered else "exact, one-sided"
    if labelled == 0:
        return Undefined(reason=NOTHING_LABELLED, unit=DIALOGUES, method=method)
    if clustered and sizes is not None:
        posterior = clustered_share(sizes)
        bound, effect = zero_count_bound(posterior.sizes, 1.0 - confidence), _design_effect(posterior, sizes)
    else:
        bound, effect = _independent_bound(labelled, confidence), None
    return Estimate(
        value=bound,
        low=0.0,
        high=bound,
        confidence=confidence,
        n=labelled,
        unit=DIALOGUES,
        method=method,
        n_clusters=len(sizes) if clustered and sizes is not None else None,
        design_effect=effect,
        count=0,
    )


def _with_one_sided_bounds(defects: int, labelled: int, confidence: float, ends: Ends) -> Ends:
    """Return ends that are no closer than the exact one-sided bounds of no defect, or of defects alone."""
    low, high = ends
    bound = _independent_bound(labelled, confidence)
    return min(low, 1.0 - bound) if defects == labelled else low, max(high, bound) if defects == 0 else high


def _independent_bound(labelled: int, confidence: float) -> float:
    """Return the rate at which `labelled` independent dialogues show no defect with probability 1 - confidence."""
    return float(1.0 - (1.0 - confidence) ** (1.0 / labelled))


def _counts(defects: int, labelled: int) -> tuple[int, int]:
    defects, labelled = whole_count(defects, "defects"), whole_count(labelled, "labelled")
    if defects > labelled:
        message = f"`defects` must be within 0..`labelled`; got defects={defects}, labelled={labelled}"
        raise InputError(message)
    return defects, labelled


def _checked_clusters(clusters: Clusters | None, defects: int, labelled: int) -> list[tuple[int, int]] | None:
    """Return the clusters that hold a labelled dialogue."""
    if clusters is None:
        return None
    sizes = [_cluster(cluster, place) for place, cluster in enumerate(clusters)]
    sums = sum(d for d, _ in sizes), sum(n for _, n in sizes)
    if sums != (defects, labelled):
        message = (
            f"`clusters` must add up to the totals: they hold {sums[0]} defects of {sums[1]},"
            f" the totals are {defects} of {labelled}. Give each dialogue to one cluster"
        )
        raise InputError(message)
    return [size for size in sizes if size[1]]


def _cluster(cluster: Sequence[int], place: int) -> tuple[int, int]:
    try:
        defects, labelled = cluster
    except (TypeError, ValueError):
        message = f"`clusters` must hold pairs (defects, labelled); entry {place} is {cluster!r}"
        raise InputError(message) from None
    return _counts(defects, labelled)


def _resemble(sizes: Clusters) -> bool:
    return any(labelled > 1 for _, labelled in sizes)


def _method(method: str, sizes: Clusters | None) -> str:
    """Return the method that suits the clusters."""
    if method not in _INDEPENDENT and method != BETA_BINOMIAL:
        message = f"`method` must be one of {', '.join(_INDEPENDENT)}, {BETA_BINOMIAL}; got {method!r}"
        raise InputError(message)
    if method == BETA_BINOMIAL and sizes is None:
        message = f"`{BETA_BINOMIAL}` needs `clusters`, the pairs (defects, labelled) of each persona or script"
        raise InputError(message)
    if sizes is None or not _resemble(sizes):
        return str(method)
    if method in _INDEPENDENT and not isinstance(method, _Default):
        message = (
            f"`{method}` takes dialogues as independent, but {len(sizes)} clusters hold"
            f" {sum(n for _, n in sizes)} of them. Ask for `{BETA_BINOMIAL}`, or for no method by name"
        )
        raise InputError(message)
    return BETA_BINOMIAL


def _clustered_rate(defects: int, labelled: int, sizes: Clusters, confidence: float) -> Estimate:
    posterior = clustered_share(sizes)
    low, high = clustered_ends(sizes, posterior, confidence)
    return Estimate(
        value=defects / labelled,
        low=low,
        high=high,
        confidence=confidence,
        n=labelled,
        unit=DIALOGUES,
        method=BETA_BINOMIAL,
        n_clusters=len(sizes),
        design_effect=_design_effect(posterior, sizes),
        count=defects,
    )


def _design_effect(posterior: ClusteredShare, sizes: Clusters) -> float:
    """Return Kish's design effect, 1 + (m - 1) * correlation, m the mean size weighted by size."""
    labelled = sum(n for _, n in sizes)
    weighted_size = sum(n * n for _, n in sizes) / labelled
    return 1.0 + (weighted_size - 1.0) * posterior.correlation


def beta_below_half(a: float, b: float) -> float:
    """Return the probability that a Beta(a, b) variable lies below one half.

    Args:
        a: First parameter; above 0.
        b: Second parameter; above 0.

    Example:
        >>> beta_below_half(2.0, 1.0)
        0.25

    Source:
        The regularised incomplete beta function, 8.17.2 of the NIST Digital Library of
        Mathematical Functions, https://dlmf.nist.gov/8.17.
    """
    from scipy.special import betainc

    return float(betainc(a, b, 0.5))


WHOLLY_UNEQUAL = 0.25
"""Squared coefficient of variation of clusters' sizes from which on the robust ends count in full."""


def clustered_ends(sizes: Sequence[tuple[int, int]], posterior: ClusteredShare, confidence: float) -> Ends:
    """Return the ends of the interval of the pooled share; fractions.

    Those of the beta-binomial posterior (`ClusteredShare.ends`). It takes every cluster for a
    draw from one distribution, whatever its size; where large clusters have
    another share than small ones, the pooled share is not what it speaks of.
    So for clusters of unequal size the ends reach at least as far as those of
    the ratio of sums with its cluster-robust error, on the logit: all the way
    where sizes spread by half of their mean or more, a part of it where they
    spread less, so that one dialogue more or less moves the ends by little.

    Args:
        sizes: Pairs (with the property, units), one a cluster; counts, at least one unit in all.
        posterior: What they tell about the share.
        confidence: Coverage; fraction in (0, 1).

    Source:
        Ratio of sums over clusters: Cochran (1977), Sampling Techniques, 3rd ed., section 9A.
        Its coverage: benchmarks/COVERAGE.md.
    """
    count, n = sum(c for c, _ in sizes), sum(m for _, m in sizes)
    value = count / n
    low, high = posterior.ends(confidence)
    if 0 < count < n and len({m for _, m in sizes}) > 1:
        array = np.array(sizes, dtype=np.float64)
        robust, part = _robust_ends(array, value, confidence), min(_spread(array) / WHOLLY_UNEQUAL, 1.0)
        return low + part * min(robust[0] - low, 0.0), high + part * max(robust[1] - high, 0.0)
    return low, high


def _spread(sizes: np.ndarray) -> float:
    """Return the squared coefficient of variation of the clusters' sizes: K sum n_g2 / n2 - 1."""
    units = sizes[:, 1]
    return float(len(units) * (units @ units) / units.sum() ** 2 - 1.0)


def _robust_ends(sizes: np.ndarray, value: float, confidence: float) -> Ends:
    """Return logit(p) -+ t(K-1) s / (p (1-p)), s2 = G/(G-1) sum e_g2 / n2, e_g = d_g - p n_g, K = n2 / sum n_g2.

    A few large clusters among many small ones are worth as many as K equal ones.
    """
    n_clusters, n = len(sizes), float(sizes[:, 1].sum())
    worth = n * n / float(sizes[:, 1] @ sizes[:, 1])
    if n_clusters < 2:
        return value, value
    rest = sizes[:, 0] - value * sizes[:, 1]
    error = math.sqrt(float(rest @ rest) * n_clusters / (n_clusters - 1)) / n
    reach = student_quantile(confidence, max(worth - 1.0, 1.0)) * error / (value * (1.0 - value))
    centre = math.log(value / (1.0 - value))
    return _share(centre - reach), _share(centre + reach)


def _share(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(min(logit, 700.0), -700.0)))
