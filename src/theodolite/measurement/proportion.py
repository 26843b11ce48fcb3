"""Defect rates and mean fractions with their intervals, for independent and for clustered dialogues."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import NO_LABEL, NO_TASK_TRIED
from theodolite.measurement.interval import (
    ClusteredShare,
    Ends,
    check_confidence,
    clopper_pearson,
    clustered_share,
    normal_quantile,
    student_quantile,
    whole_count,
    wilson,
    zero_count_bound,
)
from theodolite.measurement.labels import ClusterIds, ClusterSums, cluster_codes, cluster_sizes, selected_clusters

DIALOGUES: Final = "fraction of dialogues"
"""Unit of rates and of plain agreement."""

BETA_BINOMIAL: Final = "beta-binomial"
"""Name of the interval for clustered dialogues."""


Clusters = Sequence[tuple[int, int]]
"""Pairs (defects, labelled), one per cluster; counts."""

_INDEPENDENT: Mapping[str, Callable[[int, int, float], Ends]] = MappingProxyType(
    {"wilson": wilson, "clopper-pearson": clopper_pearson}
)


class _Default(str):
    """The default method; clusters replace it."""

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

    Wilson's score interval is the default: it keeps its coverage if defects
    are rare, whereas the normal approximation would report no uncertainty at all.
    Clopper and Pearson's interval never covers less than its level, at the price of width.
    Both need independent dialogues. Dialogues of one cluster (one persona, one
    script) resemble each other; if `clusters` contain more than one dialogue,
    the beta-binomial interval is used, and an interval for independent
    dialogues is refused if requested by name.

    Without any defect among six dialogues or fewer, Wilson's upper end is below the
    one-sided exact bound of `zero_defect_bound`. The default then reaches up to that
    bound, and down to its mirror image if all dialogues have a defect; a method
    that is requested by name stays as published (ADR-0068).

    The beta-binomial interval has equal tails, and is consistent with
    `zero_defect_bound` if defects are few. It assumes that the share of a cluster
    does not depend on its size; for clusters of unequal size it reaches
    at least as far as the cluster-robust interval of the pooled share, which does
    not assume it (`clustered_ends`).

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
        return Undefined(reason=NO_LABEL, unit=DIALOGUES, method=chosen)
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

    The bound is one-sided: if the true rate were higher, at least one defect would
    have occurred with the probability `confidence`. It is exact for independent
    dialogues. Dialogues of one cluster resemble each other to an unknown degree;
    for them the probability is that of the beta-binomial model, averaged over
    the prior of the correlation within clusters. The bound of clusters is never
    below that of the same number of independent dialogues.

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
        return Undefined(reason=NO_LABEL, unit=DIALOGUES, method=method)
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
    """Return ends no closer than the exact one-sided bounds for no defects, or for only defects."""
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
    """Return the clusters with a labelled dialogue."""
    if clusters is None:
        return None
    sizes = [_cluster(cluster, position) for position, cluster in enumerate(clusters)]
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
    """Return the probability that a Beta(a, b) variable is below one half.

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
    return float(betainc(a, b, 0.5))


WHOLLY_UNEQUAL = 0.25
"""Squared coefficient of variation of clusters' sizes from which the robust ends count in full."""


def clustered_ends(sizes: Sequence[tuple[int, int]], posterior: ClusteredShare, confidence: float) -> Ends:
    """Return the ends of the interval of the pooled share; fractions.

    The ends of the beta-binomial posterior (`ClusteredShare.ends`) assume that every cluster is a
    draw from one distribution, regardless of its size. If large clusters have
    another share than small ones, they do not estimate the pooled share.
    So for clusters of unequal size the ends reach at least as far as those of
    the ratio of sums with its cluster-robust error, on the logit: completely
    if the standard deviation of the sizes is at least half of their mean, in part if it
    is smaller, so that one dialogue more or less moves the ends only slightly.

    Args:
        sizes: Pairs (with the property, units), one per cluster; counts, at least one unit in all.
        posterior: Posterior of the share.
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

    A few large clusters among many small ones carry the information of K equal ones.
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


Floats = NDArray[np.float64]

KORN_GRAUBARD: Final = "Korn-Graubard"
"""Name of the interval."""


def mean_fraction(
    values: Sequence[float], *, clusters: ClusterIds | None, unit: str, confidence: float, otherwise: str
) -> Estimate | Undefined:
    """Estimate the mean of fractions that units have, each between 0 and 1.

    The interval is the exact one of a share, with the effective number of independent units
    that follows from the variance of the clusters' means.

    Args:
        values: The fraction of each unit.
        clusters: The cluster of each unit; None = units are independent.
        unit: Unit of the mean.
        confidence: Coverage; fraction in (0, 1).
        otherwise: Reason why there is no mean if there is no unit.

    Source:
        Korn, Graubard (1998), Survey Methodology 24:193-201.
    """
    check_confidence(confidence)
    array = np.array(values, dtype=np.float64)
    if not array.size:
        return Undefined(reason=otherwise, unit=unit, method=KORN_GRAUBARD)
    sums = ClusterSums.of_units(np.column_stack((array, np.ones(array.size))), clusters)
    # Sums of fractions are off by rounding; a mean is never outside 0..1.
    value = min(max(float(array.mean()), 0.0), 1.0)
    low, high = _ends(value, sums, confidence)
    error = sums.jackknife_error(_ratio)
    plain = float(array.var(ddof=1)) / array.size if array.size > 1 else 0.0
    return Estimate(
        value=value,
        low=min(low, value),
        high=max(high, value),
        confidence=confidence,
        n=array.size,
        unit=unit,
        method=KORN_GRAUBARD,
        n_clusters=None if clusters is None else sums.n,
        design_effect=error**2 / plain if clusters is not None and plain > 0.0 and error > 0.0 else None,
    )


def _ratio(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio: Floats = sums[..., 0] / sums[..., 1]
    return ratio


def _ends(value: float, sums: ClusterSums, confidence: float) -> Ends:
    """Return the exact interval of a share, with the effective number of units that the error implies."""
    error = sums.jackknife_error(_ratio)
    worth = float(sums.n)
    if error > 0.0 and 0.0 < value < 1.0:
        shrink = normal_quantile(confidence) / student_quantile(confidence, max(sums.n - 1, 1))
        worth = value * (1.0 - value) / error**2 * shrink**2
    count, tail = value * worth, (1.0 - confidence) / 2.0
    low = 0.0 if value <= 0.0 else float(betaincinv(count, worth - count + 1.0, tail))
    high = 1.0 if value >= 1.0 else float(betaincinv(count + 1.0, worth - count, 1.0 - tail))
    return low, high


TASKS: Final = "fraction of tasks"
"""Unit of pass^k."""


def pass_hat_k(
    outcomes: Sequence[Sequence[bool | None]],
    k: int,
    *,
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the probability that k attempts at the same task all succeed: pass^k.

    Args:
        outcomes: Whether each attempt at each task succeeded; None = the attempt did
            not take place. Tasks with fewer than k attempts are omitted.
        k: Attempts that must all succeed; count, at least 1.
        clusters: The cluster of each task; None = tasks are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        The mean over tasks of C(successes, k) / C(attempts, k); n counts tasks.
        `Undefined` if no task has k attempts.

    Raises:
        InputError: If `k` is below 1 or there is not one cluster per task.

    Example:
        >>> pass_hat_k([[True, True, False, True], [True] * 4], 2).value
        0.75

    Source:
        Yao, Shinn, Razavi, Narasimhan (2024), tau-bench: A Benchmark for
        Tool-Agent-User Interaction in Real-World Domains, arXiv:2406.12045.
        Golden values: tests/golden/tau_bench_airline.csv.gz.
    """
    if whole_count(k, "k") < 1:
        message = f"`k` must be at least 1 try; got {k}"
        raise InputError(message)
    tries = [[try_ for try_ in task if try_ is not None] for task in outcomes]
    has_k_tries = [len(task) >= k for task in tries]
    shares = [math.comb(sum(task), k) / math.comb(len(task), k) for task in tries if len(task) >= k]
    return mean_fraction(
        shares,
        clusters=selected_clusters(clusters, has_k_tries),
        unit=TASKS,
        confidence=confidence,
        otherwise=NO_TASK_TRIED.format(k=k),
    )


Whole = NDArray[np.int64]

TWO_WAY: Final = "Korn-Graubard, clusters of dialogues and annotators"
"""Name of the interval."""


def pooled_defect_rate(
    dialogues: Sequence[Hashable],
    annotators: Sequence[Hashable],
    defects: Sequence[bool],
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the defect rate over dialogues that different annotators labelled.

    Each dialogue counts once, with the share of its labels that are a defect, so
    that a dialogue with many labels weighs no more than one with few. Dialogues
    differ, and so do annotators, each of whom labels many dialogues. The variance
    therefore has both as clusters: ignoring the annotators gives a coverage of .60
    to .75 if they differ by one logit. The interval applies to other dialogues
    and other annotators of the same kinds.

    Args:
        dialogues: The dialogue of each label.
        annotators: Annotator of each label; None for a final label.
        defects: Whether it is a defect.
        clusters: The cluster of the label's dialogue, e.g. its persona; None = dialogues are independent.
            None in a place means a dialogue without a cluster.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Unit: fraction of dialogues; n counts dialogues. `Undefined` without any label.
        Without any defect, or with only defects, the interval is that of `defect_rate`.

    Raises:
        InputError: If the columns differ in length.

    Example:
        >>> rate = pooled_defect_rate(["a", "a", "b", "b"], ["ann", "ben", "ann", "cy"], [True, False, False, False])
        >>> rate.value, rate.n
        (0.25, 2)

    Source:
        Variance: Cameron, Gelbach, Miller (2011), Journal of Business & Economic
        Statistics 29:238-249, doi:10.1198/jbes.2010.07136. Degrees of freedom:
        Satterthwaite (1946), Biometrics Bulletin 2:110-114, doi:10.2307/3002019.
        Interval: Korn, Graubard (1998), Survey Methodology 24:193-201.
    """
    check_confidence(confidence)
    n_labels = len(defects)
    if len(dialogues) != n_labels or len(annotators) != n_labels:
        message = (
            "`dialogues`, `annotators` and `defects` must have one entry for each label; "
            f"got {len(dialogues)}, {len(annotators)} and {n_labels}"
        )
        raise InputError(message)
    if not n_labels:
        return Undefined(reason=NO_LABEL, unit=DIALOGUES, method=TWO_WAY)
    unit = _codes(dialogues)
    cluster = unit if clusters is None else _codes(_completed(clusters, dialogues))
    flags = np.array(defects, dtype=np.float64)
    sizes = np.bincount(unit)
    value = float((np.bincount(unit, flags) / sizes).mean())
    if value in {0.0, 1.0}:
        return _without_variance(unit, cluster, flags, is_clustered=clusters is not None, confidence=confidence)
    shares = (flags - value) / (sizes[unit] * len(sizes))
    low, high = _two_way_ends(value, shares, cluster, _codes(annotators), confidence)
    return Estimate(
        value=value,
        low=min(low, value),
        high=max(high, value),
        confidence=confidence,
        n=len(sizes),
        unit=DIALOGUES,
        method=TWO_WAY,
        n_clusters=None if clusters is None else int(cluster.max()) + 1,
    )


def _completed(clusters: Sequence[Hashable], dialogues: Sequence[Hashable]) -> list[Hashable]:
    """Return clusters in which a dialogue without one is a separate cluster."""
    return [
        ("dialogue", dialogue) if cluster is None else ("cluster", cluster)
        for cluster, dialogue in zip(clusters, dialogues, strict=True)
    ]


def _codes(ids: Sequence[Hashable]) -> Whole:
    _, codes = np.unique(cluster_codes(ids, len(ids)), return_inverse=True)
    return codes.astype(np.int64)


def _without_variance(
    unit: Whole, cluster: Whole, flags: Floats, *, is_clustered: bool, confidence: float
) -> Estimate | Undefined:
    """Return the rate for unanimous labels, for which the variation is unknown."""
    _, first = np.unique(unit, return_index=True)
    own = flags[first] > 0
    sizes = cluster_sizes(own.tolist(), cluster[first].tolist()) if is_clustered else None
    return defect_rate(int(own.sum()), len(first), clusters=sizes, confidence=confidence)


def _two_way_ends(value: float, shares: Floats, cluster: Whole, annotator: Whole, confidence: float) -> Ends:
    """Return the exact interval of a share, with the effective number of dialogues that the variance implies."""
    dialogues = _variance(shares, cluster)
    people = _variance(shares, annotator)
    both = _variance(shares, _codes(list(zip(cluster.tolist(), annotator.tolist(), strict=True))))
    # If annotators hardly differ, their part may be below 0; the dialogues' part always counts.
    added = max(people - both, 0.0)
    variance = dialogues + added
    n_clusters, n_people = int(cluster.max()) + 1, int(annotator.max()) + 1
    if variance <= 0.0:
        worth = float(n_clusters)
    else:
        freedom = variance**2 / (dialogues**2 / max(n_clusters - 1, 1) + added**2 / max(n_people - 1, 1))
        shrink = normal_quantile(confidence) / student_quantile(confidence, max(freedom, 1.0))
        worth = value * (1.0 - value) / variance * shrink**2
    count, tail = value * worth, (1.0 - confidence) / 2.0
    low = float(betaincinv(count, worth - count + 1.0, tail))
    high = float(betaincinv(count + 1.0, worth - count, 1.0 - tail))
    return (low if math.isfinite(low) else 0.0), (high if math.isfinite(high) else 1.0)


def _variance(shares: Floats, codes: Whole) -> float:
    """Return the variance of the sum of the shares, by the sums of their clusters; G/(G - 1) times the squares."""
    sums = np.bincount(codes, shares)
    return float((sums**2).sum()) * len(sums) / (len(sums) - 1) if len(sums) > 1 else 0.0
