"""Scores: what one annotator gave one unit at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError


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
        reason: Why, in the annotator's words; empty where none is given.
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
    reason: str = ""

    def __post_init__(self) -> None:
        """Refuse a value without an answer, and an answer without a value."""
        if (self.outcome is Outcome.ANSWERED) != (self.value is not None):
            message = f"only an `answered` score has a value; outcome={self.outcome.value!r}, value={self.value!r}"
            raise InputError(message)
