"""Unpaired differences: two numbers of different cases, each with its interval."""

from __future__ import annotations

import math
from dataclasses import replace

from theodolite.domain.estimate import Estimate, Undefined

UNPAIRED = "square-and-add of both intervals"
"""Name of the interval."""


def unpaired_difference(a: Estimate | Undefined, b: Estimate | Undefined) -> Estimate | Undefined:
    """Estimate `b` minus `a` from the intervals that both have.

    Each interval knows its own clusters and bounds, and so does the difference:
    it needs no normal estimates and no equal spread, only that the cases of
    both are independent of each other.

    Args:
        a: The first number.
        b: The second, in the same unit and with the same confidence.

    Returns:
        In the unit of both; n counts all cases. `Undefined` where one of them is
        undefined or has another unit or confidence; without ends where one of them has none.

    Example:
        >>> from theodolite.measurement.proportion import defect_rate
        >>> change = unpaired_difference(defect_rate(48, 80), defect_rate(56, 70))
        >>> round(change.value, 2), round(change.low, 4), round(change.high, 4)
        (0.2, 0.0524, 0.3339)

    Source:
        Zou, Donner (2008), Construction of confidence limits about effect
        measures: a general approach, Statistics in Medicine 27:1693-1702; for
        two Wilson intervals it is `newcombe_unpaired`.
    """
    n = a.n + b.n
    unit = f"difference of {a.unit}" if a.unit == b.unit else ""
    if isinstance(a, Undefined) or isinstance(b, Undefined):
        return Undefined(reason="One of both has no value.", n=n, unit=unit, method=UNPAIRED)
    if a.unit != b.unit or a.confidence != b.confidence:
        return Undefined(reason="Both differ in unit or confidence.", n=n, method=UNPAIRED)
    value = b.value - a.value
    plain = Estimate(
        value=value,
        low=None,
        high=None,
        confidence=a.confidence,
        n=n,
        unit=unit,
        method=f"{UNPAIRED}; one of both has no interval",
    )
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return plain
    return replace(
        plain,
        low=value - math.hypot(b.value - b.low, a.high - a.value),
        high=value + math.hypot(b.high - b.value, a.value - a.low),
        method=UNPAIRED,
    )
