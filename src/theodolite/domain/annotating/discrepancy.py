"""Discrepancies between annotators, the calibration sessions that settle them, and threads of questions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from theodolite.domain.annotating.work import BlindDialogue
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.guideline import Guideline


class AnchorKind(StrEnum):
    """Subject of a thread."""

    QUESTION = "question"
    TURN = "turn"
    DIALOGUE = "dialogue"
    GUIDELINE = "guideline"


class ThreadEnd(StrEnum):
    """Outcome of a thread."""

    GUIDELINE = "guideline text"
    FAQ = "answer in the list of questions"
    NOTHING = "nothing to change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The subject of a thread, with its position.

    Attributes:
        kind: Kind of the dependency.
        category: Name of the category.
        question: Name of the question; empty for none.
        turn: Number of the turn; None for none.
        reservation: Token of the reservation whose page started it; empty for none.
    """

    kind: AnchorKind
    category: str
    question: str = ""
    turn: int | None = None
    reservation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One contribution to a thread.

    Attributes:
        author: Opaque key of the participant.
        text: The text.
        at: Time; UTC.
        is_own: Whether the reader wrote it.
    """

    author: str
    text: str
    at: datetime
    is_own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackThread:
    """A question about a schema, a dialogue or a turn, with its answers.

    Attributes:
        token: Opaque.
        anchor: Subject of the thread.
        version: Content hash of the guideline at the time.
        posts: Contributions in order; the first one started it.
        end: Outcome; None while it is open.
        text: Text for the guideline or the list of questions; empty for none.
    """

    token: str
    anchor: Anchor
    version: str
    posts: tuple[Post, ...]
    end: ThreadEnd | None = None
    text: str = ""


class RoomState(StrEnum):
    """State of a calibration session."""

    VOTING = "voting"
    REVEALED = "revealed"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRoom:
    """A dialogue in one category, as one participant of a calibration session sees it.

    Attributes:
        token: Opaque.
        state: State of the calibration session.
        version: Content hash of the guideline.
        guideline: The questions.
        dialogue: The blinded dialogue.
        own: The reader's latest answers.
        before: First answers by letter; empty until they are revealed.
        after: Latest answers by letter; empty until they are revealed.
        posts: The discussion; empty until the answers are revealed.
        n_voted: People who have voted; count.
        opened: Time of creation; UTC.
    """

    token: str
    state: RoomState
    version: str
    guideline: Guideline
    dialogue: BlindDialogue
    own: tuple[Answer, ...]
    before: tuple[Position, ...]
    after: tuple[Position, ...]
    posts: tuple[Post, ...]
    n_voted: int
    opened: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomShift:
    """A participant's answers to one question before and after the discussion.

    Attributes:
        room: Token of the calibration session.
        version: Content hash of the guideline.
        question: Name of the question.
        turn: Number of the turn; None for the dialogue as a whole.
        participant: Opaque key.
        before: First value; None for none.
        after: Latest value; None for none.
    """

    room: str
    version: str
    question: str
    turn: int | None
    participant: str
    before: str | None
    after: str | None


class DissentCause(StrEnum):
    """Reason why a review found no consensus."""

    AMBIGUOUS_GUIDELINE = "ambiguous guideline"
    MISSING_FACT = "missing fact"
    VALUE_DIFFERENCE = "genuine difference of values"


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Answers of one of several annotators, without identity.

    Attributes:
        letter: A, B, C, ...; in an order specific to each dialogue and category.
        answer: The answer, with evidence and note.
        is_model: Whether a promoted judge gave it; this is never hidden.
    """

    letter: str
    answer: Answer
    is_model: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Discrepancy:
    """A question about the dialogue or a turn with different answers.

    Attributes:
        question: Name of the question.
        turn: Number of the turn; None for the dialogue as a whole.
        positions: All answers, including those that agree.
    """

    question: str
    turn: int | None
    positions: tuple[Position, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """Outcome of a formal review for one discrepancy; the answers stay unchanged.

    Attributes:
        question: Name of the question.
        turn: Number of the turn; None for the dialogue as a whole.
        participants: Opaque keys of the people who took part.
        rationale: Reason, in their words.
        outcome: Agreed answer; None without consensus.
        value: The label; None unless the outcome is `ANSWERED`.
        cause: Reason for the dissent; None for a consensus.
        decided: Time of the decision; UTC, None before it is stored.
    """

    question: str
    turn: int | None
    participants: tuple[str, ...]
    rationale: str
    outcome: Outcome | None = None
    value: str | None = None
    cause: DissentCause | None = None
    decided: datetime | None = None

    def __post_init__(self) -> None:
        """Reject a result that is neither a consensus nor a dissent with its cause, and a result without a reason."""
        if (self.outcome is None) != (self.cause is not None):
            message = f"a review records a consensus or a cause; outcome={self.outcome}, cause={self.cause}"
            raise InputError(message)
        if (self.outcome is Outcome.ANSWERED) != (self.value is not None):
            message = f"only an `answered` consensus carries a value; outcome={self.outcome}, value={self.value!r}"
            raise InputError(message)
        if not self.rationale.strip() or not self.participants:
            message = "a review records who took part and why; expected at least one participant and some words"
            raise InputError(message)

    @property
    def is_consensus(self) -> bool:
        """Whether the participants agreed."""
        return self.outcome is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSheet:
    """Everything that a formal review of one dialogue in one category shows.

    Attributes:
        item: Token of the work item.
        guideline: The questions.
        dialogue: The blinded dialogue.
        discrepancies: Questions with different answers.
        resolutions: Resolutions so far; the latest for each question and turn.
        is_frozen: Whether the review has started, which freezes the answers.
    """

    item: str
    guideline: Guideline
    dialogue: BlindDialogue
    discrepancies: tuple[Discrepancy, ...]
    resolutions: tuple[Resolution, ...]
    is_frozen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedItem:
    """A line in the list of discrepancies.

    Attributes:
        item: Token of the work item.
        category: Name of the category.
        dialogue: Name of the dialogue on the reader's pages.
        about: Questions with different answers, in order.
        n_disputed: Questions with different answers, counted per turn or dialogue; count.
        n_resolved: Those resolved by a review; count.
        is_frozen: Whether the review has started.
    """

    item: str
    category: str
    dialogue: str
    about: tuple[str, ...]
    n_disputed: int
    n_resolved: int
    is_frozen: bool
