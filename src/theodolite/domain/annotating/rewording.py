"""Rewordings: people's answers that a new version of a schema affects, and the shift that it caused."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined


class Touch(StrEnum):
    """Change of a question in another version.

    Attributes:
        NEW: It was not asked before.
        GONE: It was removed.
        WORDS: It is put, or explained, in other words.
        ANSWERS: Other values answer it, or others of them are defects.
        PLACE: It is asked of something else, or after another answer.
        THROUGH: Nothing of it has changed but a question that it follows.
    """

    NEW = "new"
    GONE = "gone"
    WORDS = "other words"
    ANSWERS = "other answers"
    PLACE = "asked elsewhere"
    THROUGH = "follows a changed one"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionTouch:
    """One question that another version touches.

    Attributes:
        question: Its name.
        kinds: How; never empty.
        told: The differences, in words.
        through: Changed questions on which it depends, directly or through others.
    """

    question: str
    kinds: tuple[Touch, ...]
    told: tuple[str, ...] = ()
    through: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAnswers:
    """How much people have answered to one question by one version of its category.

    Attributes:
        version: Content hash of the guideline.
        question: Name of the question.
        n_answers: Answers, those without a value too; latest revisions; count.
        n_dialogues: Dialogues that they are about; count.
    """

    version: str
    question: str
    n_answers: int
    n_dialogues: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueAnswers:
    """People's answers to one question about one dialogue by one version.

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
        """Its scenario with everything that was answered about it; no answer is preferred to another."""
        values = sorted({value if value is not None else "no value" for _, _, value in self.said})
        return f"{self.scenario}: {', '.join(values)}"


class SampleAim(StrEnum):
    """Purpose of a repeated annotation.

    Attributes:
        SHIFT: To find a shift of the defect rate, if there is one.
        AGREEMENT: To know how often old and new answers are the same.
    """

    SHIFT = "shift"
    AGREEMENT = "agreement"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleWish:
    """Required precision of a sample.

    Attributes:
        aim: Its purpose.
        size: The shift that should be found, or half the width of the agreement's interval; fraction.
        power: Chance to find the shift; fraction.
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
    """How many dialogues are to be annotated again.

    Attributes:
        wish: What for.
        n_needed: Dialogues that it takes; count.
        n_there: Dialogues with a value by the old version; count.
        changing: Share of answers that two people give differently by the same words; fraction.
        is_assumed: Whether no answers show that share, so that it was assumed.
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
        """Dialogues that are drawn; count."""
        return min(self.n_needed, self.n_there)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredShift:
    """Shift between two versions, on dialogues that were answered by both.

    Attributes:
        question: Name of the question.
        shift: Defect rate by the new version minus that by the old one.
        alike: Share of pairs of an old and a new answer that are the same, dialogue by dialogue.
        n_both: Dialogues with a value by both; count.
        n_missing: Dialogues of the sample that have no value by the new version yet; count.
    """

    question: str
    shift: Estimate | Undefined
    alike: Estimate | Undefined
    n_both: int
    n_missing: int
