"""Significance: how surprising data are if there is no difference."""

from __future__ import annotations

import math
from dataclasses import dataclass

from theodolite.domain.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Significance:
    """The outcome of a test of a hypothesis of no difference.

    Attributes:
        p_value: Probability of data as far from the hypothesis, if it is true; fraction.
        statistic: What the test computed; its meaning is the method's.
        method: Name of the test.
        n: Units that it rests on; count.
        degrees: Degrees of freedom, where the statistic has them.
        effect: Size of the effect that the statistic stands for, where there is one.
        effect_name: What kind of size that is.
        n_clusters: Clusters; None where units were taken as independent.
    """

    p_value: float
    statistic: float
    method: str
    n: int
    degrees: float | None = None
    effect: float | None = None
    effect_name: str = ""
    n_clusters: int | None = None

    def __post_init__(self) -> None:
        """Refuse a probability that is none."""
        if not 0.0 <= self.p_value <= 1.0 or not math.isfinite(self.statistic):
            message = f"a test needs a p-value of 0..1 and a finite statistic; got {self.p_value}, {self.statistic}"
            raise InputError(message)
