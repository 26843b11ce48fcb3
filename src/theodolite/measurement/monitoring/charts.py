"""Control charts: the familiar views of a series, CUSUM and EWMA."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.domain.errors import InputError
from theodolite.measurement.order.sequence import Floats, as_scores


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlChart:
    """A statistic at each observation, and the limits that it should stay within.

    Attributes:
        upper: The statistic, or its upper side; in units of the observations.
        lower: Its lower side; the same as `upper` for an EWMA.
        high: Upper limit at each observation.
        low: Lower limit at each observation.
        signals: Places of observations outside the limits, from 0.
    """

    upper: tuple[float, ...]
    lower: tuple[float, ...]
    high: tuple[float, ...]
    low: tuple[float, ...]
    signals: tuple[int, ...]


def cusum(observations: Sequence[float], *, target: float, slack: float, limit: float) -> ControlChart:
    """Return the cumulative sums of deviations above and below a target.

    High: S = max(0, S + x - target - slack); low: S = max(0, S + target - slack
    - x). A familiar view: how often it signals falsely depends on the
    distribution, so alerts come from the detectors and not from here.

    Args:
        observations: In order of time; shape (n,).
        target: Mean of the good times.
        slack: Half the shift that matters; 0 or more.
        limit: Sum from which it signals; above 0.

    Raises:
        InputError: If `slack` is below 0 or `limit` is not above 0.

    Example:
        >>> chart = cusum([0, 0, 2, 2, 2], target=0, slack=0.5, limit=4)
        >>> chart.upper, chart.signals
        ((0.0, 0.0, 1.5, 3.0, 4.5), (4,))

    Source:
        Page (1954), Continuous inspection schemes, Biometrika 41:100-115;
        NIST/SEMATECH e-Handbook of Statistical Methods, section 6.3.2.3.
        Golden values: tests/golden/monitoring.json.
    """
    row = as_scores(observations, "observations")
    if slack < 0 or limit <= 0:
        message = f"`slack` must be 0 or more and `limit` above 0; got slack={slack}, limit={limit}"
        raise InputError(message)
    upper, lower = (tuple(one_sided_sums(sign * (row - target) - slack).tolist()) for sign in (1.0, -1.0))
    signals = np.flatnonzero((np.array(upper) > limit) | (np.array(lower) > limit))
    return ControlChart(
        upper=upper,
        lower=lower,
        high=(float(limit),) * len(row),
        low=(0.0,) * len(row),
        signals=tuple(signals.tolist()),
    )


def one_sided_sums(steps: Floats) -> Floats:
    """Return a running sum that never falls below 0: the sum less its lowest value so far; shape (n,)."""
    running = np.concatenate(([0.0], np.cumsum(steps)))
    sums: Floats = (running - np.minimum.accumulate(running))[1:]
    return sums


def ewma(
    observations: Sequence[float], *, target: float, sd: float, weight: float = 0.2, width: float = 3.0
) -> ControlChart:
    """Return the exponentially weighted moving average with its control limits.

    z = weight * x + (1 - weight) * z, from the target on; limits target -+ width
    * sd * sqrt(weight / (2 - weight) * (1 - (1 - weight)**(2 t))).

    Args:
        observations: In order of time; shape (n,).
        target: Mean of the good times.
        sd: Standard deviation of one observation in the good times; 0 or more.
        weight: Of the newest observation; fraction in (0, 1].
        width: Of the limits; standard errors.

    Raises:
        InputError: If `weight` is outside (0, 1] or `sd` is below 0.

    Example:
        >>> ewma([1.0, 1.0], target=0.0, sd=1.0, weight=0.5).upper
        (0.5, 0.75)

    Source:
        Roberts (1959), Control chart tests based on geometric moving averages,
        Technometrics 1:239-250; NIST/SEMATECH e-Handbook of Statistical
        Methods, section 6.3.2.4. Golden values: tests/golden/monitoring.json.
    """
    row = as_scores(observations, "observations")
    if not 0.0 < weight <= 1.0 or sd < 0:
        message = f"`weight` must lie in (0, 1] and `sd` be 0 or more; got weight={weight}, sd={sd}"
        raise InputError(message)
    averages = moving_averages(row, target=target, weight=weight)
    times = np.arange(1, len(row) + 1)
    step = width * sd * math.sqrt(weight / (2.0 - weight)) * np.sqrt(1.0 - (1.0 - weight) ** (2 * times))
    outside = np.flatnonzero(np.abs(averages - target) > step) if len(row) else np.empty(0, dtype=int)
    path = tuple(averages.tolist())
    return ControlChart(
        upper=path,
        lower=path,
        high=tuple((target + step).tolist()),
        low=tuple((target - step).tolist()),
        signals=tuple(outside.tolist()),
    )


def moving_averages(row: Floats, *, target: float, weight: float) -> Floats:
    """Return z = weight * x + (1 - weight) * z at each observation, from the target on; shape (n,)."""
    averages, average = np.empty(len(row)), target
    for index, observation in enumerate(row):
        average = weight * float(observation) + (1.0 - weight) * average
        averages[index] = average
    return averages
