"""Rewordings: people's answers affected by a new version of a schema, and the resulting shift."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined


class Touch(StrEnum):
    """Kind of change to a question in a new version.

    Attributes:
        NEW: It was not asked before.
        GONE: It was removed.
        WORDS: Its text or explanation has changed.
        ANSWERS: Its possible values or defect rules have changed.
        PLACE: Its subject or its condition has changed.
        THROUGH: Only a question that it depends on has changed.
    """

    NEW = "new"
    GONE = "gone"
    WORDS = "other words"
    ANSWERS = "other answers"
    PLACE = "asked elsewhere"
    THROUGH = "follows a changed one"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionTouch:
    """A question affected by a new version.

    Attributes:
        question: Its name.
        kinds: Kinds of change; never empty.
        differences: The differences, as text.
        through: Changed questions on which it depends, directly or through others.
    """

    question: str
    kinds: tuple[Touch, ...]
    differences: tuple[str, ...] = ()
    through: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAnswers:
    """Amount of answers to one question in one version of its category.

    Attributes:
        version: Content hash of the guideline.
        question: Name of the question.
        n_answers: Answers, including those without a value; latest revisions; count.
        n_dialogues: Dialogues with these answers; count.
    """

    version: str
    question: str
    n_answers: int
    n_dialogues: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueAnswers:
    """People's answers to one question about one dialogue in one version.

    Attributes:
        dialogue: Key of the dialogue.
        scenario: Its scenario.
        cluster: Common property of similar dialogues: their tester.
        said: Annotator, turn (None for the whole dialogue) and value (None without one) of each answer.
    """

    dialogue: str
    scenario: str
    cluster: str
    said: tuple[tuple[str, int | None, str | None], ...]

    @property
    def stratum(self) -> str:
        """Its scenario with all answers; no answer is preferred to another."""
        values = sorted({value if value is not None else "no value" for _, _, value in self.said})
        return f"{self.scenario}: {', '.join(values)}"


class SampleAim(StrEnum):
    """Purpose of a repeated annotation.

    Attributes:
        SHIFT: To detect a shift of the defect rate.
        AGREEMENT: To estimate the agreement of old and new answers.
    """

    SHIFT = "shift"
    AGREEMENT = "agreement"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleWish:
    """Required precision of a sample.

    Attributes:
        aim: Its purpose.
        size: The shift to detect, or the half-width of the agreement's interval; fraction.
        power: Power to detect the shift; fraction.
        confidence: Coverage of the interval; fraction.
    """

    aim: SampleAim = SampleAim.SHIFT
    size: float = 0.1
    power: float = 0.8
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Reject values that are neither a fraction nor a difference."""
        if not (0.0 < self.size < 0.5 and 0.0 < self.power < 1.0 and 0.0 < self.confidence < 1.0):
            message = (
                "a sample needs a size between 0 and 0.5, and power and confidence between 0 and 1; "
                f"got {self.size}, {self.power}, {self.confidence}"
            )
            raise InputError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePlan:
    """Number of dialogues to annotate again.

    Attributes:
        wish: The required precision.
        n_needed: Required dialogues; count.
        n_there: Dialogues with a value in the old version; count.
        changing: Share of answers that differ between two people with the same wording; fraction.
        is_assumed: Whether the share was assumed, because no answers show it.
        n_pairs: Pairs of answers behind it; count.
        reached: Precision with all existing dialogues, in the unit of the requirement; None if they suffice.
    """

    wish: SampleWish
    n_needed: int
    n_there: int
    changing: float
    is_assumed: bool
    n_pairs: int
    reached: float | None = None

    @property
    def n_drawn(self) -> int:
        """Sampled dialogues; count."""
        return min(self.n_needed, self.n_there)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredShift:
    """Shift between two versions, on dialogues answered in both.

    Attributes:
        question: Name of the question.
        shift: Defect rate in the new version minus that in the old one.
        alike: Share of equal pairs of an old and a new answer, dialogue by dialogue.
        n_both: Dialogues with a value in both versions; count.
        n_missing: Dialogues of the sample without a value in the new version yet; count.
    """

    question: str
    shift: Estimate | Undefined
    alike: Estimate | Undefined
    n_both: int
    n_missing: int
