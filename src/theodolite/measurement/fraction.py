"""Means of fractions between 0 and 1: vote shares, pass^k, and the rate of a pool of annotators."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.clusters import ClusterIds, ClusterSums, cluster_codes, cluster_sizes, selected_clusters
from theodolite.measurement.interval import Ends, check_confidence, normal_quantile, student_quantile, whole_count
from theodolite.measurement.proportion import DIALOGUES, NOTHING_LABELLED, defect_rate

Floats = NDArray[np.float64]

KORN_GRAUBARD: Final = "Korn-Graubard"
"""Name of the interval."""


def mean_fraction(
    values: Sequence[float], *, clusters: ClusterIds | None, unit: str, confidence: float, otherwise: str
) -> Estimate | Undefined:
    """Estimate the mean of fractions that units have, each between 0 and 1.

    The exact interval of a share, with as many independent units as the spread
    of the clusters' means says there are.

    Args:
        values: The fraction of each unit.
        clusters: The cluster of each unit; None = units are independent.
        unit: What the mean is a number of.
        confidence: Coverage; fraction in (0, 1).
        otherwise: Why there is no mean where there is no unit.

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
    """Return the exact interval of a share of as many units as the error is worth."""
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
    """Estimate the chance that k tries of the same task all succeed: pass^k.

    Args:
        outcomes: Whether each try of each task succeeded; None = the try failed
            to take place. Tasks with fewer than k tries are left out.
        k: Tries that must all succeed; count, at least 1.
        clusters: The cluster of each task; None = tasks are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        The mean over tasks of C(successes, k) / C(tries, k); n counts tasks.
        `Undefined` when no task has k tries.

    Raises:
        InputError: If `k` is below 1 or there is not one cluster a task.

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
        otherwise=f"No task was tried {k} times.",
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
    to .75 where they differ by one logit. The interval holds for other dialogues
    and other annotators of the same kinds.

    Args:
        dialogues: The dialogue of each label.
        annotators: Who gave it; None for a final label, which is nobody's own.
        defects: Whether it is a defect.
        clusters: The cluster of the label's dialogue, e.g. its persona; None = dialogues are independent.
            An entry None is a dialogue without a cluster.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Unit: fraction of dialogues; n counts dialogues. `Undefined` without any label.
        Without any defect, or with defects alone, the interval is that of `defect_rate`.

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
        return Undefined(reason=NOTHING_LABELLED, unit=DIALOGUES, method=TWO_WAY)
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
    """Return clusters in which a dialogue without one is a cluster of its own."""
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
    """Return the rate where all labels agree, so that nothing tells how labels vary."""
    _, first = np.unique(unit, return_index=True)
    own = flags[first] > 0
    sizes = cluster_sizes(own.tolist(), cluster[first].tolist()) if is_clustered else None
    return defect_rate(int(own.sum()), len(first), clusters=sizes, confidence=confidence)


def _two_way_ends(value: float, shares: Floats, cluster: Whole, annotator: Whole, confidence: float) -> Ends:
    """Return the exact interval of a share of as many independent dialogues as the variance is worth."""
    dialogues = _variance(shares, cluster)
    people = _variance(shares, annotator)
    both = _variance(shares, _codes(list(zip(cluster.tolist(), annotator.tolist(), strict=True))))
    # Where annotators hardly differ, their part may come out below 0; the dialogues' part always counts.
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
