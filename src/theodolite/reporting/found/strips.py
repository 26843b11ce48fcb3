"""Strips: where an interval lies on an axis that all rows of a table share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from theodolite.reporting.found.rates import Rate

_AXES = (0.05, 0.10, 0.25, 0.50, 0.75, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """Where a rate and its interval lie; fractions of the axis, 0 to 1.

    Attributes:
        low: Left end of the interval.
        value: The rate itself.
        high: Right end of the interval.
        is_zero: Whether no defect was found, so that the interval is a bound.
    """

    low: float
    value: float
    high: float
    is_zero: bool


def axis_end(rates: Iterable[Rate]) -> float:
    """Return the smallest round end of an axis that holds all these intervals; fraction."""
    highest = max((_ends(rate)[2] for rate in rates if rate.estimate is not None), default=0.0)
    return next((end for end in _AXES if end >= highest), 1.0)


def _ends(rate: Rate) -> tuple[float, float, float]:
    estimate = rate.estimate
    if estimate is None:
        return 0.0, 0.0, 0.0
    low = estimate.low if estimate.low is not None else estimate.value
    high = estimate.high if estimate.high is not None else estimate.value
    if rate.defects == 0 and rate.ceiling is not None:
        return 0.0, 0.0, rate.ceiling
    return low, estimate.value, high


def strip_of(rate: Rate, end: float) -> Strip:
    """Return where a rate lies on an axis from 0 to `end`."""
    low, value, high = (min(at / end, 1.0) for at in _ends(rate))
    return Strip(low=low, value=value, high=high, is_zero=rate.defects == 0)
