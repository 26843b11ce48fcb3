"""Annotation work: queues, items, reservations, and the blind view that annotators get of a dialogue."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from theodolite.domain.annotation import Answer
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import OpenQuestion
from theodolite.domain.shown_order import NOT_VARIED, ShownOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindTurn:
    """One turn as an annotator sees it.

    Attributes:
        number: Number in the dialogue, from 1.
        prompt: The tester's prompt, masked.
        response: The application's reply, masked.
    """

    number: int
    prompt: str
    response: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindReference:
    """The scenario's permitted and withheld content, for annotators' reference.

    Attributes:
        situation: The tester's task, in the words of the scenario.
        permitted: Permitted content.
        prohibited: Content to withhold.
        facts: Title and text of each piece of ground truth.
    """

    situation: str = ""
    permitted: tuple[str, ...] = ()
    prohibited: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindDialogue:
    """A dialogue without any trace of its source.

    It has no level, application, tester, time, interruption, script or label;
    its name differs from annotator to annotator.

    Attributes:
        name: Name on this annotator's page.
        turns: The turns.
        material: Source material of the application; empty for none.
        withheld: Reason why texts are not shown; empty if they are.
        reference: The reference given by the scenario.
    """

    name: str
    turns: tuple[BlindTurn, ...]
    material: str = ""
    withheld: str = ""
    reference: BlindReference = BlindReference()


class BulkAct(StrEnum):
    """Action on many dialogues of a queue."""

    OFFER = "offer"
    FIRST = "first"
    BACK = "back"
    ROOM = "room"
    CHECK = "check"
    REVIEW = "review"

    @property
    def is_undoable(self) -> bool:
        """Whether it can be withdrawn as a whole."""
        return self is not BulkAct.BACK


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkLine:
    """Result for one work item.

    Attributes:
        item: Token of the work item.
        made: Token of the result: a reservation, a calibration session, or the item itself; empty if it was refused.
        refused: Reason of the refusal, as text; empty if it was done.
    """

    item: str
    made: str = ""
    refused: str = ""


class ItemState(StrEnum):
    """State of a work item."""

    OPEN = "open"
    COMPLETE = "complete"
    FROZEN = "frozen"
    ASIDE = "set aside"


class ReservationState(StrEnum):
    """State of an annotator's reservation of a work item."""

    OFFERED = "offered"
    RESERVED = "reserved"
    SUBMITTED = "submitted"
    RELEASED = "released"
    EXPIRED = "expired"
    VOIDED = "voided"

    @property
    def is_live(self) -> bool:
        """Whether it counts as one of the item's required annotations."""
        return self in {ReservationState.RESERVED, ReservationState.SUBMITTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCategory:
    """One category of a queue.

    Attributes:
        name: Name of its guideline.
        version: Content hash of its guideline.
    """

    name: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDesign:
    """Categories and rules of a queue; a changed design is a new version, and both are kept.

    Attributes:
        study: Name of the study.
        categories: The questions, in order.
        process: Overlap, routing, reservation times, tests and shares.
        first: Category that decides the route of a dialogue; empty if all are asked at once.
        on_violation: Categories that follow if the first one detects a violation.
        otherwise: Categories that follow if it detects none.
        background: Text that annotators read before they start.
        rules: The impartiality rules that they acknowledge.
        criteria: How annotators are recruited, selected and assigned, for the documentation.
    """

    study: str
    categories: tuple[QueueCategory, ...]
    process: AnnotationProcess = field(default_factory=AnnotationProcess)
    first: str = ""
    on_violation: tuple[str, ...] = ()
    otherwise: tuple[str, ...] = ()
    background: str = ""
    rules: tuple[str, ...] = ()
    criteria: str = ""

    def category(self, name: str) -> QueueCategory | None:
        """Return the category of that name; None if the queue has none."""
        return next((category for category in self.categories if category.name == name), None)

    def after(self, *, violation: bool) -> tuple[str, ...]:
        """Return the categories that follow the first one."""
        others = tuple(category.name for category in self.categories if category.name != self.first)
        return (self.on_violation or others) if violation else self.otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """A dialogue with a number of required annotators in one category.

    Attributes:
        key: Opaque key of the item.
        dialogue: Key of the dialogue.
        category: Name of the guideline.
        passes: Required different annotators; count.
        n_live: Reserved or submitted annotations; count.
        is_first: Whether it is prioritised.
        draw: Random rank among items with equally many annotations; number in [0, 1).
        tester: Key of the tester; empty for none.
        scenario: Name of the scenario of the dialogue.
        is_heavy: Whether the scenario touches a heavy topic.
        state: State of the item in the queue.
    """

    key: str
    dialogue: str
    category: str
    passes: int
    n_live: int = 0
    is_first: bool = False
    draw: float = 0.0
    tester: str = ""
    scenario: str = ""
    is_heavy: bool = False
    state: ItemState = ItemState.OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorState:
    """Data of one annotator for the assignment of work.

    Attributes:
        participant: Opaque key of the annotator.
        qualified: Categories that they may annotate.
        had: Keys of items that are not offered to the annotator again: submitted, voided, or skipped with a reason.
        met: Categories that the annotator has annotated or reserved, by dialogue.
        n_taken: Items that the annotator has annotated or reserved, by category; counts.
        n_items: Items by category; counts.
        offered: Keys of items offered to the annotator.
        backwards: Whether the annotator works through the queue from its end.
        avoided: Scenarios with topics that the annotator avoids.
    """

    participant: str
    qualified: frozenset[str]
    had: frozenset[str] = frozenset()
    met: dict[str, frozenset[str]] = field(default_factory=dict)
    n_taken: dict[str, int] = field(default_factory=dict)
    n_items: dict[str, int] = field(default_factory=dict)
    offered: frozenset[str] = frozenset()
    backwards: bool = False
    avoided: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """An annotator's reservation of a work item.

    Attributes:
        token: Opaque identifier for addresses.
        category: Name of the guideline.
        version: Content hash of the guideline.
        state: State of the reservation.
        until: Time at which it ends unless renewed; UTC, None unless reserved.
        submitted: Time of the last submission; UTC, None if never.
        reason: Reason for its release, in the annotator's words; empty if none was given.
        is_open: Whether its answers may still be changed.
    """

    token: str
    category: str
    version: str
    state: ReservationState
    until: datetime | None = None
    submitted: datetime | None = None
    reason: str = ""
    is_open: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorTask:
    """Complete content of the page for one annotator's reservation.

    Attributes:
        reservation: The reservation.
        guideline: The questions.
        dialogue: The blinded dialogue.
        answers: Current answers.
        saved: Time of the last saved answer; UTC, None if never.
        open: Questions that are still open.
        order: The displayed order.
        suggestions: Answers of a judge that the page shows as suggestions; none is preset.
        is_following: Whether the unsubmitted answers of another category lead to this one; its answers are then
            drafts of that category's reservation.
    """

    reservation: Reservation
    guideline: Guideline
    dialogue: BlindDialogue
    answers: tuple[Answer, ...] = ()
    saved: datetime | None = None
    open: tuple[OpenQuestion, ...] = ()
    order: ShownOrder = NOT_VARIED
    suggestions: tuple[Answer, ...] = ()
    is_following: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """Route of a dialogue after its first category has been annotated.

    Attributes:
        violation: Whether it continues as a violation; None until a review decides.
        disputed: Whether the annotations disagree, or a review found no consensus.
        reason: The rule and the counts behind it, as text.
    """

    violation: bool | None
    disputed: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """Result of an attempt to submit.

    Attributes:
        open: Questions that must be answered first; empty if it was submitted.
        revision: Number of the stored revision; 0 if nothing was stored.
    """

    open: tuple[OpenQuestion, ...] = ()
    revision: int = 0
