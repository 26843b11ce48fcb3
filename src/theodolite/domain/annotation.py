"""Annotations: what annotators, people and models alike, answered about a dialogue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from theodolite.domain.errors import InputError


class Outcome(StrEnum):
    """What became of a question; only `ANSWERED` carries a value."""

    ANSWERED = "answered"
    MISSING = "missing"
    NOT_APPLICABLE = "not applicable"
    REFUSED = "refused"
    UNPARSEABLE = "unparseable"
    FAILED = "failed"


class AnnotatorKind(StrEnum):
    """Who or what an annotator is."""

    PERSON = "person"
    MODEL = "model"
    RULE = "rule"


class AdjudicationOrigin(StrEnum):
    """How a final label came about."""

    CONSENSUS = "consensus"
    NO_CONSENSUS = "no consensus"
    RECORDED = "recorded in a file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words of a dialogue that an annotator gives as evidence.

    Attributes:
        turn: Number of the turn it is said to stand in.
        text: The words.
        verified: Whether they do stand there.
    """

    turn: int
    text: str
    verified: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one annotator answered to one question, for the dialogue or a turn.

    Attributes:
        question: Name of the question.
        outcome: What became of it.
        value: The label; None unless the outcome is `ANSWERED`.
        turn: Number of the turn; None for the dialogue as a whole.
        replicate: Number of the repetition by the same annotator, from 1.
        reasoning: Why, in the annotator's words.
        evidence: Quotes.
        raw: What the annotator really said, where it is not the value.
    """

    question: str
    outcome: Outcome
    value: str | None = None
    turn: int | None = None
    replicate: int = 1
    reasoning: str = ""
    evidence: tuple[Quote, ...] = ()
    raw: str = ""

    def __post_init__(self) -> None:
        """Refuse a value without an answer, and an answer without a value."""
        if (self.outcome is Outcome.ANSWERED) != (self.value is not None):
            message = f"only an `answered` answer carries a value; outcome={self.outcome.value!r}, value={self.value!r}"
            raise InputError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One annotator's sitting on one dialogue under one instrument version.

    Attributes:
        unit: Key of the unit of work; empty where a person labelled by hand.
        dialogue: Key of the dialogue.
        annotator: Name of the annotator in the study.
        annotator_version: Content hash of the annotator.
        guideline: Name of the guideline.
        instrument_version: Content hash of the guideline that was answered.
        answers: The answers.
        revision: Number of the revision, from 1; revisions only add.
        scripted: Whether a script answered in place of a model.
    """

    unit: str
    dialogue: str
    annotator: str
    annotator_version: str
    guideline: str
    instrument_version: str
    answers: tuple[Answer, ...]
    revision: int = 1
    scripted: bool = False

    def answer(self, question: str) -> Answer | None:
        """Return the answer about the whole dialogue, or None if it was not asked."""
        return next((a for a in self.answers if a.question == question and a.turn is None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudication:
    """A recorded final label; the answers behind it stay untouched.

    Attributes:
        dialogue: Key of the dialogue.
        guideline: Name of the guideline.
        question: Name of the question.
        outcome: What became of it.
        value: The label; None unless the outcome is `ANSWERED`.
        origin: How it came about.
        participants: Opaque keys of the people who took part.
        rationale: Why, in their words.
        decided: When; UTC.
        raw: What the file says, where it fits no label.
    """

    dialogue: str
    guideline: str
    question: str
    outcome: Outcome
    origin: AdjudicationOrigin
    value: str | None = None
    participants: tuple[str, ...] = ()
    rationale: str = ""
    decided: datetime | None = None
    raw: str = ""
