"""Histories: scores in the order of time, with everything that may have changed meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError


class Worse(StrEnum):
    """Which end of a scale is the bad one."""

    LOW = "low"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One score at one moment, under the instruments of that moment.

    Attributes:
        value: In points of the scale; None unless the outcome is `ANSWERED`.
        outcome: What became of it.
        defect: Whether it is a defect; None where no rule says so, or there is no value.
        at: When, in the zone in which it was written; None where the history has an order but no times.
        application: What was scored; empty where there is one only.
        item: What was asked, so that anchors can be found again.
        session: Scores of one session resemble each other and count once.
        batch: Run, or other sitting, that the score belongs to.
        instruments: Part of the instrument to its version, e.g. judge, data, schema.
        human: What people gave; None where nobody did.
        is_anchor: Whether it belongs to the frozen set that is judged again each time.
        is_repeat: Whether it publishes an earlier measurement again and is no new one.
    """

    value: float | None
    outcome: Outcome = Outcome.ANSWERED
    defect: bool | None = None
    at: datetime | None = None
    application: str = ""
    item: str = ""
    session: str = ""
    batch: str = ""
    instruments: Mapping[str, str] = field(default_factory=dict)
    human: float | None = None
    is_anchor: bool = False
    is_repeat: bool = False

    def __post_init__(self) -> None:
        """Refuse a value without an answer, and an answer without a value."""
        if (self.outcome is Outcome.ANSWERED) != (self.value is not None):
            message = f"only an `answered` score has a value; outcome={self.outcome.value!r}, value={self.value!r}"
            raise InputError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Scores in the order of time.

    Attributes:
        name: What people call it.
        scores: In order of time.
        lowest: Lower end of the scale.
        highest: Upper end of the scale.
        worse: Which end is the bad one.
        source: Where it was read from, in words.
    """

    name: str
    scores: tuple[Score, ...]
    lowest: float
    highest: float
    worse: Worse = Worse.LOW
    source: str = ""

    def __post_init__(self) -> None:
        """Refuse a scale without length, and scores outside it."""
        if not self.lowest < self.highest:
            message = f"a scale needs a lower and a higher end; got {self.lowest} and {self.highest}"
            raise InputError(message)
        strange = [s.value for s in self.scores if s.value is not None and not self.lowest <= s.value <= self.highest]
        if strange:
            message = (
                f"{len(strange):,} of {len(self.scores):,} scores lie outside the scale {self.lowest:g} to"
                f" {self.highest:g}, e.g. {strange[0]:g}. State the whole scale"
            )
            raise InputError(message)

    def badness(self, value: float) -> float:
        """Return a value as a fraction of the scale, 0 the good end and 1 the bad one."""
        share = (value - self.lowest) / (self.highest - self.lowest)
        return share if self.worse is Worse.HIGH else 1.0 - share


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
