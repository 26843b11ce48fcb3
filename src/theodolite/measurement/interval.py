"""Interval formulas: quantiles, Wilson, Clopper-Pearson, and statistics corrected for chance."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, SupportsIndex

from scipy.special import betaincinv, ndtri, stdtrit

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate
from theodolite.measurement.beta_binomial import clustered_share

Ends = tuple[float, float]
"""Lower and upper end of an interval."""

LARGEST_EXPONENT = 50.0
"""Beyond e**50 an interval says nothing anyway; the bound keeps floats finite."""

SMALLEST_ERROR = 1e-6
"""Standard errors below this are rounding."""

SMALLEST_RATIO = 1e-9
"""Ratios of disagreement below this are rounding."""


def check_confidence(confidence: float) -> None:
    """Reject a coverage that is no fraction between 0 and 1.

    Raises:
        InputError: If it is not.
    """
    if not 0.0 < confidence < 1.0:
        message = f"`confidence` must be a fraction between 0 and 1, e.g. 0.95; got {confidence!r}"
        raise InputError(message)


def whole_count(value: SupportsIndex, name: str) -> int:
    """Return a count as an int.

    Args:
        value: What was given; whole number, 0 or more.
        name: Its name in messages.

    Raises:
        InputError: If it is no whole number or below 0.
    """
    try:
        count = operator.index(value)
    except TypeError:
        message = f"`{name}` must be a whole number; got {value!r}"
        raise InputError(message) from None
    if count < 0:
        message = f"`{name}` must be 0 or more; got {count}"
        raise InputError(message)
    return count


def normal_quantile(confidence: float) -> float:
    """Return z so that a standard normal variable is within -z..z with this probability."""
    return float(ndtri((1.0 + confidence) / 2.0))


def student_quantile(confidence: float, degrees: float) -> float:
    """Return t so that Student's variable is within -t..t with this probability."""
    return float(stdtrit(degrees, (1.0 + confidence) / 2.0))


def wilson(count: int, n: int, confidence: float) -> Ends:
    """Return Wilson's score interval of `count` in `n` independent units; fractions.

    (p + z2/2n -+ z sqrt(p(1-p)/n + z2/4n2)) / (1 + z2/n), with z2 = z**2.
    """
    z = normal_quantile(confidence)
    share = count / n
    middle = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At the edges rounding would leave 1e-17 where the formula gives 0.
    low = 0.0 if count == 0 else (middle - spread) / scale
    high = 1.0 if count == n else (middle + spread) / scale
    return low, high


def clopper_pearson(count: int, n: int, confidence: float) -> Ends:
    """Return the exact interval of `count` in `n` independent units; fractions.

    Quantiles (1-c)/2 of Beta(k, n-k+1) and (1+c)/2 of Beta(k+1, n-k).
    """
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if count == 0 else float(betaincinv(count, n - count + 1, tail))
    high = 1.0 if count == n else float(betaincinv(count + 1, n - count, 1.0 - tail))
    return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class Concord:
    """Observed agreement; what an interval falls back on.

    Attributes:
        agreeing: Units on which all said the same; count.
        n: Units; count, at least 1.
        chance: Share of pairs that would agree by chance; fraction below 1.
        clusters: Pairs (agreeing, units), one a cluster; None = units are independent.
    """

    agreeing: int
    n: int
    chance: float
    clusters: Sequence[tuple[int, int]] | None = None

    def ends(self, confidence: float) -> Ends:
        """Return an interval for the share of units on which all said the same; fractions."""
        if self.clusters is None:
            return wilson(self.agreeing, self.n, confidence)
        return clustered_share(self.clusters).ends(confidence)


def corrected_for_chance(value: float, error: float, quantile: float, concord: Concord, confidence: float) -> Ends:
    """Return an interval for a statistic that is 1 minus a ratio of disagreements.

    The ratio is positive and skewed, so its logarithm is what is taken as
    normal: the interval then never passes 1 and stays honest near it. Where the
    data show no variation at all (everybody agrees) a standard error of 0 would
    claim certainty; an interval of the share of agreeing units (Wilson's, or of
    clusters) takes its place, with the level of chance held fixed.

    Args:
        value: The statistic; at most 1.
        error: Its standard error; 0 or more.
        quantile: Standard errors to each side; of the normal or Student's t.
        concord: Observed agreement.
        confidence: Coverage; fraction.

    Returns:
        Ends within -1..1 (or the value itself, where that is lower).
    """
    ratio = 1.0 - value
    if rests_on_wilson(value, error):
        low, high = ((end - concord.chance) / (1.0 - concord.chance) for end in concord.ends(confidence))
    else:
        step = math.exp(min(quantile * error / ratio, LARGEST_EXPONENT))
        low, high = 1.0 - ratio * step, 1.0 - ratio / step
    return min(max(low, -1.0), value), max(min(high, 1.0), value)


def rests_on_wilson(value: float, error: float) -> bool:
    """Tell whether the data show too little variation for a standard error.

    An error that is 0 on paper comes out as the root of a rounding error.
    """
    return error < SMALLEST_ERROR or 1.0 - value < SMALLEST_RATIO


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
        concord: Observed agreement.
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
