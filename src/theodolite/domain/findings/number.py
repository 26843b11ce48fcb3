"""Numbers that carry what one must know to believe them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from theodolite.domain.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """The account of all planned units; nothing may be missing from it.

    All are counts. `planned` is the sum of the others, by construction of every
    study run; a record where it is not is refused.
    """

    planned: int
    used: int
    missing: int = 0
    failed: int = 0
    refused: int = 0
    unparseable: int = 0
    not_applicable: int = 0

    def __post_init__(self) -> None:
        """Refuse an account that does not add up."""
        parts = (self.used, self.missing, self.failed, self.refused, self.unparseable, self.not_applicable)
        if min(parts) < 0 or sum(parts) != self.planned:
            message = (
                f"`planned` must be the sum of the other counts, none below 0; planned={self.planned}, parts={parts}"
            )
            raise InputError(message)

    @property
    def unmeasured(self) -> int:
        """Units that should have a label and have none; count."""
        return self.planned - self.used - self.not_applicable


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value with its interval.

    Attributes:
        value: The point estimate, in `unit`.
        low: Lower end of the interval; None where the method gives no interval.
        high: Upper end of the interval; None where the method gives no interval.
        confidence: Coverage of the interval; fraction in (0, 1).
        n: Units that the value rests on; count.
        unit: What the value is a number of, e.g. "fraction of dialogues".
        method: Name of the method that gave the interval.
        n_clusters: Groups of units that resemble each other; None where units
            were taken as independent.
        design_effect: Variance relative to independent units; None likewise.
        chance: What unrelated annotators would reach, for agreement.
        count: Units with the property, where the value is a share of units.
    """

    value: float
    low: float | None
    high: float | None
    confidence: float
    n: int
    unit: str
    method: str
    n_clusters: int | None = None
    design_effect: float | None = None
    chance: float | None = None
    count: int | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be printed honestly."""
        numbers = [self.value, self.confidence]
        numbers += [end for end in (self.low, self.high, self.chance) if end is not None]
        if not all(math.isfinite(number) for number in numbers):
            message = f"an estimate needs finite numbers; use `Undefined` instead of {numbers}"
            raise InputError(message)

    @property
    def effective_n(self) -> float:
        """Independent units that would tell as much: n over the design effect; count."""
        return self.n if self.design_effect is None else self.n / self.design_effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Undefined:
    """A statistic that has no value here, and why: neither 0 nor perfect nor poor."""

    reason: str
    n: int = 0
    unit: str = ""
    method: str = ""
    n_clusters: int | None = None
