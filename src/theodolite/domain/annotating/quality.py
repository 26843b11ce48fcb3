"""Quality: what senior annotators look at, sampled by a plan, and what they find."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ReviewVerdict(StrEnum):
    """What a senior annotator says of an annotation."""

    ACCEPTED = "accepted"
    RETURNED = "returned"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCandidate:
    """An annotation that might be drawn for a review.

    Attributes:
        key: Token of the reservation.
        stratum: What it is drawn among, e.g. category and annotator.
    """

    key: str
    stratum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReview:
    """One look of a senior annotator at one annotation.

    Attributes:
        reservation: Token of the reservation.
        revision: Revision of the annotation that was looked at.
        verdict: What they say.
        comment: In their words; never empty for a returned one.
        by: Opaque key of the senior annotator.
        at: When; UTC.
    """

    reservation: str
    revision: int
    verdict: ReviewVerdict
    comment: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Conscientiousness:
    """How one annotator's work looks from above; shown to seniors, never used by the program.

    Attributes:
        participant: Opaque key of the annotator.
        n_submitted: Submitted items; count.
        median_minutes: Time from reserving to submitting in the middle; minutes, None without any.
        gold_right: Answers to gold items that are right; count.
        gold_asked: Answers to gold items; count.
        early_alike: Answers of the first half of their work that the others gave too; count.
        early_asked: Answers of that half that others gave as well; count.
        late_alike: The same for the second half; count.
        late_asked: The same for the second half; count.
        n_returned: Annotations that a review returned; count.
    """

    participant: str
    n_submitted: int
    median_minutes: float | None
    gold_right: int = 0
    gold_asked: int = 0
    early_alike: int = 0
    early_asked: int = 0
    late_alike: int = 0
    late_asked: int = 0
    n_returned: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """The value that is known to be right for one question, of the dialogue or (by its number) a turn."""

    question: str
    turn: int | None
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldItem:
    """A work item of which answers are known; shown to seniors, never used by the program.

    Attributes:
        item: Token of the work item.
        category: Name of the category.
        known: What is right.
        reason: Why, in the words of who said so.
        met: Opaque key of each annotator who submitted it, their right answers and all that are known; counts.
    """

    item: str
    category: str
    known: tuple[KnownAnswer, ...]
    reason: str
    met: tuple[tuple[str, int, int], ...] = ()
