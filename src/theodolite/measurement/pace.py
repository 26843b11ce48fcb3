"""The pace of an event: the time that open work will take, with its uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scipy.special import fdtri

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import NOTHING_LEFT, TOO_FEW_COMPLETED, TOO_SHORT_FOR_PACE

FEWEST_DAYS: Final = 3
"""Minimum number of days for a prediction; count. With fewer, the variation between days is unknown."""

FEWEST_COMPLETED: Final = 10
"""Minimum number of completed sessions for a prediction; count."""

CONFIDENCE: Final = 0.95
"""Coverage of the prediction interval."""


def time_to_finish(per_day: Sequence[int], n_left: int) -> Estimate | Undefined:
    """Return the number of days that the remaining sessions take at the current pace, with a prediction interval.

    Completions are modelled as a Poisson process: with n in m days, the time of the next k is
    `m * k / n * F(2k, 2n)`. Sessions of an event come in groups, so counts vary more than those of a
    Poisson process; n and k are divided by the dispersion of the counts of the days if it is above 1.

    Args:
        per_day: Completed sessions in each period of 24 hours, in order; counts.
        n_left: Sessions that are still to be completed; count.

    Returns:
        Days from the end of the last period; `Undefined` if there is too little data.

    Source:
        Nelson (1970), Confidence Intervals for the Ratio of Two Poisson Means and Poisson Predictor
        Intervals, IEEE Transactions on Reliability R-19:42-49, doi:10.1109/TR.1970.5216389;
        dispersion: McCullagh, Nelder (1989), Generalized Linear Models, section 6.2.3.
    """
    n_days, n = len(per_day), sum(per_day)
    if n_left <= 0:
        return Undefined(reason=NOTHING_LEFT, n=n)
    if n_days < FEWEST_DAYS:
        return Undefined(reason=TOO_SHORT_FOR_PACE.format(fewest=FEWEST_DAYS), n=n)
    if n < FEWEST_COMPLETED:
        return Undefined(reason=TOO_FEW_COMPLETED.format(fewest=FEWEST_COMPLETED), n=n)
    spread = max(1.0, dispersion(per_day))
    degrees, tail = (2 * n_left / spread, 2 * n / spread), (1 - CONFIDENCE) / 2
    days = n_days * n_left / n
    return Estimate(
        value=days,
        low=days * float(fdtri(*degrees, tail)),
        high=days * float(fdtri(*degrees, 1 - tail)),
        confidence=CONFIDENCE,
        n=n,
        unit="days",
        method="Poisson prediction interval, widened by the dispersion of days",
        n_clusters=n_days,
        design_effect=spread,
    )


def dispersion(counts: Sequence[int]) -> float:
    """Return the variance of counts over their mean; 1 for a Poisson process, 0 for equal counts.

    Example:
        >>> dispersion([2, 4, 6])
        1.0
    """
    mean = sum(counts) / len(counts)
    return sum((count - mean) ** 2 for count in counts) / mean / (len(counts) - 1)
