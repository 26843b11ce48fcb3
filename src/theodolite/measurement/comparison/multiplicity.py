"""Multiplicity: p-values of several comparisons at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from theodolite.domain.errors import InputError

Adjustment = Literal["holm", "bh", "bonferroni", "by"]


def adjust_p_values(p_values: Sequence[float], *, method: Adjustment = "holm") -> tuple[float, ...]:
    """Adjust p-values for having looked at several comparisons.

    `holm` keeps the chance of any false alarm below the limit, for release
    gates; it is never worse than `bonferroni`. `bh` keeps the share of false
    alarms among all alarms below it, for exploring; `by` does so however the
    comparisons depend on each other.

    Args:
        p_values: One a comparison; fractions.
        method: One of the four.

    Returns:
        Adjusted p-values in the same order; compare them with the limit itself.

    Raises:
        InputError: If one is no fraction or the method is unknown.

    Example:
        >>> adjust_p_values([0.01, 0.04, 0.03])
        (0.03, 0.06, 0.06)

    Source:
        Holm (1979), Scandinavian Journal of Statistics 6:65-70; Benjamini,
        Hochberg (1995), Journal of the Royal Statistical Society B 57:289-300;
        Benjamini, Yekutieli (2001), Annals of Statistics 29:1165-1188.
    """
    p = np.array(p_values, dtype=np.float64)
    if p.size and not np.all((p >= 0.0) & (p <= 1.0)):
        message = f"p-values must be fractions; got {[float(value) for value in p if not 0.0 <= value <= 1.0]}"
        raise InputError(message)
    n = p.size
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, n + 1)
    match method:
        case "bonferroni":
            adjusted = p[order] * n
        case "holm":
            adjusted = np.maximum.accumulate(p[order] * (n - rank + 1))
        case "bh" | "by":
            harmonic = (1.0 / rank).sum() if method == "by" else 1.0
            adjusted = np.minimum.accumulate((p[order] * n * harmonic / rank)[::-1])[::-1]
        case _:
            message = f"`method` must be holm, bh, by or bonferroni; got {method!r}"
            raise InputError(message)
    back = np.empty(n)
    back[order] = np.minimum(adjusted, 1.0)
    return tuple(float(value) for value in back)
