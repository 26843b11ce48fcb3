"""Leaves of measurement trees: single answers, with what is needed to know whom they speak of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError

TESTER = "tester"
"""Who answers a questionnaire, beside the kinds of annotators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One answer of one annotator or tester to one question about one dialogue.

    Attributes:
        question: The question, as `instrument.question`.
        session: Label of the dialogue.
        value: The answer; None unless the outcome is `ANSWERED`.
        outcome: What became of the question.
        by: Name of the annotator, or opaque key of the tester.
        kind: `person`, `model`, `rule`, `tester`, or `reference` for a final label.
        turn: Number of the turn; None for the dialogue as a whole.
        replicate: Number of the repetition by the same annotator, from 1.
        cluster: What resembling dialogues share; the dialogue itself where empty.
        level: Level of testing.
        held_by: Who held the tester's side.
        groups: Group name to value.
    """

    question: str
    session: str
    value: str | None = None
    outcome: Outcome = Outcome.ANSWERED
    by: str = ""
    kind: str = ""
    turn: int | None = None
    replicate: int = 1
    cluster: str = ""
    level: str = ""
    held_by: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a value without an answer, and an answer without a value."""
        if (self.outcome is Outcome.ANSWERED) != (self.value is not None):
            message = (
                f"leaf `{self.question}` of `{self.session}`: only an `answered` one carries a value;"
                f" outcome={self.outcome.value!r}, value={self.value!r}"
            )
            raise InputError(message)
