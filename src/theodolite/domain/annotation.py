"""Annotations: answers of annotators (people and models) about a dialogue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from theodolite.domain.errors import InputError
from theodolite.domain.instrument import NOT_APPLICABLE, UNABLE
from theodolite.domain.shown_order import NOT_VARIED, ShownOrder


class Outcome(StrEnum):
    """Outcome of a question; only `ANSWERED` has a value."""

    ANSWERED = "answered"
    MISSING = "missing"
    NOT_APPLICABLE = "not applicable"
    REFUSED = "refused"
    UNPARSEABLE = "unparseable"
    FAILED = "failed"


NON_RESPONSE_OPTIONS = {UNABLE: Outcome.MISSING, NOT_APPLICABLE: Outcome.NOT_APPLICABLE}
"""Words that a person may use instead of a value, with the resulting outcome."""

NON_RESPONSE_NAMES = {outcome: words for words, outcome in NON_RESPONSE_OPTIONS.items()}
"""The inverse mapping."""


class AnnotatorKind(StrEnum):
    """Kind of annotator."""

    PERSON = "person"
    MODEL = "model"
    RULE = "rule"


class AdjudicationOrigin(StrEnum):
    """Origin of a final label."""

    CONSENSUS = "consensus"
    NO_CONSENSUS = "no consensus"
    RECORDED = "recorded in a file"


class Control(StrEnum):
    """A judge's answer to the control question about the material; None without a verdict."""

    NOT_ASKED = "not asked"
    PASSED = "passed"
    FAILED = "failed"
    UNANSWERED = "unanswered"


SOURCE_MATERIAL = 0
"""Turn number that stands for the source material in a quote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A quote from a dialogue that an annotator gives as evidence.

    Attributes:
        turn: Stated turn number; 0 for the source material.
        text: The text.
        verified: Whether the turn contains it.
    """

    turn: int
    text: str
    verified: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An annotator's answer to one question, about the dialogue or a turn.

    Attributes:
        question: Name of the question.
        outcome: Its outcome.
        value: The label; None unless the outcome is `ANSWERED`.
        turn: Number of the turn; None for the dialogue as a whole.
        replicate: Number of the repetition by the same annotator, from 1.
        reasoning: Reason, in the annotator's words.
        evidence: Quotes.
        raw: The annotator's own words, if they differ from the value.
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
        """Reject a value without an answered outcome, and an answered outcome without a value."""
        if (self.outcome is Outcome.ANSWERED) != (self.value is not None):
            message = f"only an `answered` answer carries a value; outcome={self.outcome.value!r}, value={self.value!r}"
            raise InputError(message)

    @property
    def is_ungrounded(self) -> bool:
        """Whether it contains a quote that the stated turn lacks."""
        return any(not quote.verified for quote in self.evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One of several readings of the same dialogue by the same judge.

    Votes are replicates of one annotator, never separate annotators.

    Attributes:
        replicate: Number of the reading, from 1.
        answers: Its answers.
        arrangement: How its request differs from the first one; empty for the first.
        control: Answer to the control question.
    """

    replicate: int
    answers: tuple[Answer, ...]
    arrangement: str = ""
    control: Control = Control.NOT_ASKED


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """An annotator's annotation of one dialogue under one instrument version.

    Attributes:
        unit: Key of the unit of work; empty if a person labelled by hand.
        dialogue: Key of the dialogue.
        annotator: Name of the annotator in the study.
        annotator_version: Content hash of the annotator.
        guideline: Name of the guideline.
        instrument_version: Content hash of the guideline.
        answers: The answers; for a voting judge, those of the majority.
        revision: Number of the revision, from 1; revisions only add.
        scripted: Whether a script answered instead of a model.
        votes: All readings of a voting judge; empty for a single reading.
        control: Answer to the control question: `FAILED` or `UNANSWERED` if that holds for any vote.
        answered_as: Model name reported by the judge's endpoint; several names are on separate lines.
        shown: The displayed order.
        sitting: Number of the annotator's annotation under this guideline, from 1; 0 if unknown.
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
    votes: tuple[Vote, ...] = ()
    control: Control = Control.NOT_ASKED
    answered_as: str = ""
    shown: ShownOrder = NOT_VARIED
    sitting: int = 0

    @property
    def is_ungrounded(self) -> bool:
        """Whether any answer contains a quote that the stated turn lacks."""
        return any(answer.is_ungrounded for answer in self.answers)

    def answer(self, question: str) -> Answer | None:
        """Return the answer about the whole dialogue, or None if it was not asked."""
        return next((a for a in self.answers if a.question == question and a.turn is None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudication:
    """A recorded final label; the answers behind it are unchanged.

    Attributes:
        dialogue: Key of the dialogue.
        guideline: Name of the guideline.
        question: Name of the question.
        outcome: Its outcome.
        value: The label; None unless the outcome is `ANSWERED`.
        origin: Its origin.
        participants: Opaque keys of the people who took part.
        rationale: Reason, in their words.
        decided: Time of the decision; UTC.
        raw: Text of the file, if it matches no label.
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
