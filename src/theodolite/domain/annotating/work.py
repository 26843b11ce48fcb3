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
        number: Place in the dialogue, from 1.
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
        material: Source material that the application was given; empty for none.
        withheld: Why texts are not shown; empty if they are.
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
        made: Token of the result: a reservation, a room, or the item itself; empty if nothing was done.
        refused: Why nothing was done, in words; empty if it was.
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
    """State of one annotator's claim on a work item."""

    OFFERED = "offered"
    RESERVED = "reserved"
    SUBMITTED = "submitted"
    RELEASED = "released"
    EXPIRED = "expired"
    VOIDED = "voided"

    @property
    def is_live(self) -> bool:
        """Whether it uses one of the item's passes."""
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
    """Categories and annotators of a queue; a changed design is another version, and both stay stored.

    Attributes:
        study: Name of the study.
        categories: The questions, in order.
        process: Passes, routing, expiry, tests and shares.
        first: Category that decides the route of a dialogue; empty if all are asked at once.
        on_violation: Categories that follow where the first one sees a violation.
        otherwise: Categories that follow where it sees none.
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
    """One dialogue with a number of required annotators in one category.

    Attributes:
        key: Opaque key of the item.
        dialogue: Key of the dialogue.
        category: Name of the guideline.
        passes: Different annotators wanted; count.
        n_live: Passes that are reserved or submitted; count.
        is_first: Whether it comes before others.
        draw: Its place among items with equally many passes; number in [0, 1).
        tester: Key of the participant who tested; empty if there was none.
        scenario: Name of the scenario of the dialogue.
        is_heavy: Whether the scenario touches a heavy topic.
        state: Status of the study.
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
        had: Keys of items that are not offered to them again: submitted, voided, or skipped with a reason.
        met: Dialogue to the categories that they have annotated or hold.
        n_taken: Category to the items that they have annotated or hold; counts.
        n_items: Category to its items; counts.
        offered: Keys of items that were offered to them.
        backwards: Whether they get the queue from its end.
        avoided: Scenarios with topics that they prefer to avoid.
        after_heavy: Whether the dialogue that they submitted last touched a heavy topic.
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
    after_heavy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """One annotator's claim on one work item.

    Attributes:
        token: Opaque identifier for addresses.
        category: Name of the guideline.
        version: Content hash of the guideline.
        state: Status of the study.
        until: When it ends unless it is renewed; UTC, None unless reserved.
        submitted: When it was submitted last; UTC, None if never.
        reason: Why it was given back, in the annotator's words; empty if no reason was given.
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
    """Everything that the page of one annotator shows of one reservation, and nothing else.

    Attributes:
        reservation: The claim.
        guideline: The questions.
        dialogue: The blinded dialogue.
        answers: Current answers.
        saved: When an answer was saved last; UTC, None if never.
        open: Questions that are still open.
        order: The order in which all of it is shown.
    """

    reservation: Reservation
    guideline: Guideline
    dialogue: BlindDialogue
    answers: tuple[Answer, ...] = ()
    saved: datetime | None = None
    open: tuple[OpenQuestion, ...] = ()
    order: ShownOrder = NOT_VARIED


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """Route of a dialogue after its first category has been annotated.

    Attributes:
        violation: Whether it continues as a violation; None until a review decides.
        disputed: Whether the passes disagree, or a review found no consensus.
        reason: The rule and the counts that it rests on, in words.
    """

    violation: bool | None
    disputed: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """Result of an attempt to submit.

    Attributes:
        open: Questions that must be answered first; empty if it was submitted.
        revision: Number of the revision of the annotation; 0 if nothing was stored.
    """

    open: tuple[OpenQuestion, ...] = ()
    revision: int = 0
