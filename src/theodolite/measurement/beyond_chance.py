"""Agreement beyond chance: what all its coefficients share."""

from __future__ import annotations

from typing import Final

from theodolite.domain.estimate import Estimate
from theodolite.measurement.interval import Concord, corrected_for_chance, rests_on_wilson

CORRECTED: Final = "agreement beyond chance; 1 is perfect, 0 is chance"
"""Unit of statistics that are corrected for chance."""

BY_WILSON: Final = "wilson, level of chance held fixed"
"""Name of the interval where annotators agree on all units or on none."""

BY_BETA_BINOMIAL: Final = "beta-binomial, level of chance held fixed"
"""Its name where units come in clusters."""

NO_SHARED_UNIT: Final = "No dialogue has labels of two annotators."
"""Why the agreement of several annotators who never met is undefined."""


def beyond_chance(
    value: float, error: float, quantile: float, concord: Concord, *, confidence: float, method: str
) -> Estimate:
    """Return the estimate of a statistic that is corrected for chance.

    Args:
        value: The statistic.
        error: Its standard error.
        quantile: Standard errors to each side.
        concord: How far annotators agreed outright.
        confidence: Coverage of the interval; fraction.
        method: Where the standard error comes from.
    """
    low, high = corrected_for_chance(value, error, quantile, concord, confidence)
    fixed = BY_WILSON if concord.clusters is None else BY_BETA_BINOMIAL
    return Estimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=concord.n,
        unit=CORRECTED,
        method=fixed if rests_on_wilson(value, error) else f"{method}, logarithm of 1 - value",
        n_clusters=None if concord.clusters is None else len(concord.clusters),
    )
