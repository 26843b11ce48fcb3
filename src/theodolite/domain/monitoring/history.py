"""Histories: scores in the order of time, with everything that may have changed meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from theodolite.domain.errors import InputError
from theodolite.domain.monitoring.score import Score
from theodolite.domain.monitoring.score_columns import ScoreColumns

__all__ = ["History", "InstrumentChange", "ScaleDirection", "Score"]


class ScaleDirection(StrEnum):
    """Which end of a scale is the bad one."""

    LOW = "low"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Scores in the order of time.

    Attributes:
        name: What people call it.
        scores: In order of time; any sequence becomes columns.
        lowest: Lower end of the scale.
        highest: Upper end of the scale.
        worse: Which end is the bad one.
        source: Where it was read from, in words.
    """

    name: str
    scores: Sequence[Score]
    lowest: float
    highest: float
    worse: ScaleDirection = ScaleDirection.LOW
    source: str = ""

    def __post_init__(self) -> None:
        """Refuse a scale without length, and scores outside it."""
        if not self.lowest < self.highest:
            message = f"a scale needs a lower and a higher end; got {self.lowest} and {self.highest}"
            raise InputError(message)
        object.__setattr__(self, "scores", _columns(self.scores))
        strange = [value for value in self.columns.value if value < self.lowest or value > self.highest]
        if strange:
            message = (
                f"{len(strange):,} of {len(self.scores):,} scores lie outside the scale {self.lowest:g} to"
                f" {self.highest:g}, e.g. {strange[0]:g}. State the whole scale"
            )
            raise InputError(message)

    @property
    def columns(self) -> ScoreColumns:
        """The scores, column by column."""
        return _columns(self.scores)

    def badness(self, value: float) -> float:
        """Return a value as a fraction of the scale, 0 the good end and 1 the bad one."""
        share = (value - self.lowest) / (self.highest - self.lowest)
        return share if self.worse is ScaleDirection.HIGH else 1.0 - share


def _columns(scores: Sequence[Score]) -> ScoreColumns:
    return scores if isinstance(scores, ScoreColumns) else ScoreColumns(scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentChange:
    """A place in a history where the instrument changed, and what moved there.

    Attributes:
        part: What changed, e.g. judge, data, schema.
        before: Its version until then.
        after: Its version from then on.
        at: When; None where the history has no times.
        position: Place of the first score after it, from 0.
        n_lower: Applications whose mean score is lower after it; count.
        n_higher: Applications whose mean score is higher after it; count.
        n_equal: Applications that did not move; count.
        median_shift: Median of these moves; points of the scale, None where no application was scored on both sides.
        p_value: Of moves as one-sided as these, or for a suspected change as many; None likewise.
        is_suspected: Whether nobody declared it: applications moved all at once.
    """

    part: str
    before: str
    after: str
    at: datetime | None
    position: int
    n_lower: int = 0
    n_higher: int = 0
    n_equal: int = 0
    median_shift: float | None = None
    p_value: float | None = None
    is_suspected: bool = False
