"""Matched sets: whether several things differ in a yes or no, where each tester met all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.significance import Significance

MANY: Final = 1_000
"""Clusters from which the chi-square distribution stands for drawn arrangements; count."""

TOO_FEW: Final = "Fewer than two testers met all applications with a label for each."
"""Why a test is undefined."""

ALIKE: Final = "Every tester found the same in all applications, so there is nothing to test."
"""The same where nothing differs."""

_METHOD: Final = "Cochran's Q"


def told_apart(
    flags: Sequence[Sequence[bool]], clusters: Sequence[str], *, draws: int = 1_999, seed: int = 1
) -> Significance | Undefined:
    """Test whether things that the same testers met differ in how often something is so.

    Cochran's Q, its matched sets added up within each cluster first: sets of one tester
    resemble each other and are exchanged together. With one set a cluster it is Q itself.
    Up to `MANY` clusters its p-value comes from drawn arrangements, which need no large n.

    Args:
        flags: shape (sets, things); whether it is so.
        clusters: What resembling sets share; one for each set.
        draws: Arrangements that are drawn; count.
        seed: Of the draws.

    Returns:
        The statistic, with things - 1 degrees of freedom; n counts sets. The effect is the
        largest difference of two things' shares. `Undefined` with fewer than two clusters or
        nothing that differs.

    Raises:
        InputError: If lengths differ, or there are fewer than two things.

    Example:
        >>> test = told_apart([(True, False)] * 6 + [(False, True)] * 2, list("abcdefgh"))
        >>> test.statistic, test.degrees, test.effect
        (2.0, 1, 0.5)

    Source:
        Cochran (1950), "The comparison of percentages in matched samples", Biometrika 37:256-266;
        with two things it is McNemar's statistic. Drawn arrangements count the observed one:
        Phipson, Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9, article 39.
    """
    table = np.array(flags, dtype=float).reshape(len(flags), -1 if len(flags) else 2)
    if len(table) != len(clusters) or table.shape[1] < 2:
        message = f"`flags` needs a cluster for each set and two things or more; got {table.shape}, {len(clusters)}"
        raise InputError(message)
    sums = _sums(table, clusters)
    if len(sums) < 2:
        return Undefined(reason=TOO_FEW, n=len(table), n_clusters=len(sums), method=_METHOD)
    within = sums - sums.mean(axis=1, keepdims=True)
    spread = float((within**2).sum())
    if spread <= 0:
        return Undefined(reason=ALIKE, n=len(table), n_clusters=len(sums), method=_METHOD)
    degrees = table.shape[1] - 1
    found = degrees * float((within.sum(axis=0) ** 2).sum()) / spread
    is_drawn = len(sums) <= MANY
    shares = table.mean(axis=0)
    return Significance(
        p_value=_drawn_p(within, found, spread, draws, seed) if is_drawn else float(chdtrc(degrees, found)),
        statistic=found,
        method=f"{_METHOD}, {f'permutation within testers, {draws:,} draws' if is_drawn else 'chi-square'}",
        n=len(table),
        degrees=degrees,
        effect=float(shares.max() - shares.min()),
        effect_name="largest difference of shares",
        n_clusters=len(sums),
    )


def _sums(table: NDArray[np.float64], clusters: Sequence[str]) -> NDArray[np.float64]:
    """Return by cluster how often it is so with each thing; shape (clusters, things), counts."""
    sums = np.zeros((len(set(clusters)), table.shape[1]))
    numbers = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    np.add.at(sums, [numbers[cluster] for cluster in clusters], table)
    return sums


def _drawn_p(within: NDArray[np.float64], found: float, spread: float, draws: int, seed: int) -> float:
    """Return the share of arrangements, the one that was found included, that lie as far apart."""
    rng, degrees = np.random.default_rng(seed), within.shape[1] - 1
    drawn = (degrees * float((rng.permuted(within, axis=1).sum(axis=0) ** 2).sum()) / spread for _ in range(draws))
    n_apart = sum(1 for one in drawn if one >= found - 1e-9)
    return (1 + n_apart) / (draws + 1)
