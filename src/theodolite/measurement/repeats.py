"""Repeats: whether an application gets a task right every time, not once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.clusters import ClusterIds, kept_clusters
from theodolite.measurement.fraction import mean_fraction
from theodolite.measurement.interval import whole_count

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
        confidence: Coverage wanted; fraction in (0, 1).

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
    kept = [len(task) >= k for task in tries]
    shares = [math.comb(sum(task), k) / math.comb(len(task), k) for task in tries if len(task) >= k]
    return mean_fraction(
        shares,
        clusters=kept_clusters(clusters, kept),
        unit=TASKS,
        confidence=confidence,
        otherwise=f"No task was tried {k} times.",
    )
