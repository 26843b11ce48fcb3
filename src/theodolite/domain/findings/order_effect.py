"""Order effects: whether answers hang on where a question, an answer or a dialogue stood."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from theodolite.domain.findings.number import Estimate, Undefined


class OrderFactor(StrEnum):
    """What stood elsewhere."""

    QUESTIONS = "place of the question"
    OPTIONS = "order of the answers"
    TURNS = "order of the turns"
    QUEUE = "place in the queue"
    PREVIOUS = "dialogue before"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSide:
    """The answers that were given one way.

    Attributes:
        shown: Which way, in words.
        n: Answers with a value; count.
        n_without_value: Answers without one: unable, does not apply, cannot be read; count.
        given: Label to how often it was given, in order of the scale; counts.
    """

    shown: str
    n: int
    n_without_value: int
    given: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEffect:
    """What an order did to the answers to one question; a diagnosis, never a correction.

    Attributes:
        guideline: Name of the guideline.
        question: Name of the question.
        factor: What stood elsewhere.
        annotator: Name of the judge; empty for all people together.
        measured: What the shift is a shift of, in words.
        first: The answers given the one way.
        second: Those given the other way.
        shift: How far the second lie above the first; the unit says of what.
        n_annotators: Who answered either way; count.
        n_dialogues: Dialogues answered about either way; count.
        n_between: Answers that stood in the middle, or of which the way is not known; count, on neither side.
    """

    guideline: str
    question: str
    factor: OrderFactor
    measured: str
    first: OrderSide
    second: OrderSide
    shift: Estimate | Undefined
    n_annotators: int
    n_dialogues: int
    n_between: int
    annotator: str = ""

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the shift leaves out 0; of twenty shifts that are none, one does by chance."""
        shift = self.shift
        if isinstance(shift, Undefined) or shift.low is None or shift.high is None:
            return False
        return shift.low > 0 or shift.high < 0
