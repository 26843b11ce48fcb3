"""Sensitive cases of dialogues, and lists of dialogues with their state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from theodolite.domain.annotating.discrepancy import RoomState
from theodolite.domain.dialogue import Level


class ItemStage(StrEnum):
    """Stage of a dialogue in one category, in the terms of a queue's seniors."""

    WAITING = "waiting"
    IN_WORK = "in work"
    ANNOTATED = "annotated"
    DISPUTED = "disputed"
    UNDER_REVIEW = "under review"
    FINAL = "final"
    ASIDE = "set aside"


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueFilter:
    """Filter for the dialogues of a queue; empty fields match all.

    Attributes:
        scenario: Name of the scenario.
        level: Level of testing; only for users who may see it.
        stage: Stage of the dialogue in the category, or in any category if none is named.
        category: Name of a category of the dialogue.
        disputed: Whether annotations differ in that category, or in any; None for either.
        flag: Kind of a case about the dialogue that was not dismissed.
        annotator: Key of an annotator who was offered it, is working on it, or submitted it.
        group: A group of the dialogue's case: name and value.
        words: Text in the dialogue as annotators see it; case is ignored.
    """

    scenario: str = ""
    level: Level | None = None
    stage: ItemStage | None = None
    category: str = ""
    disputed: bool | None = None
    flag: FlagKind | None = None
    annotator: str = ""
    group: tuple[str, str] | None = None
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedItem:
    """A category of a listed dialogue.

    Attributes:
        item: Token of the work item.
        category: Name of the category.
        stage: Its stage.
        passes: Required annotations; count.
        n_done: Submitted annotations; count.
        n_disputed: Questions with different answers; count.
        is_first: Whether it is prioritised.
        again: Number of earlier versions with answers to the category on this dialogue; count.
    """

    item: str
    category: str
    stage: ItemStage
    passes: int
    n_done: int
    n_disputed: int
    is_first: bool
    again: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDialogue:
    """A dialogue of a list.

    Attributes:
        name: Name on one reader's pages.
        opening: First text, as annotators see it.
        scenario: Name of its scenario.
        level: Level of testing; hidden from people who are blinded to it.
        items: Its categories, in the order in which they were opened.
        flags: Kinds of its cases that were not dismissed, each once.
    """

    name: str
    opening: str
    scenario: str
    level: Level
    items: tuple[ListedItem, ...]
    flags: tuple[FlagKind, ...] = ()

    @property
    def token(self) -> str:
        """Token of its first item, by which pages identify the dialogue."""
        return self.items[0].item


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCase:
    """A sensitive position in a list.

    Attributes:
        case: The case.
        name: Name of its dialogue on one reader's pages.
        scenario: Name of the scenario.
        words: Context of the redacted words, without them; empty if there are none.
    """

    case: SensitiveCase
    name: str
    scenario: str
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRoom:
    """A calibration session in a list.

    Attributes:
        token: Opaque.
        category: Name of the category.
        state: State of the calibration session.
        name: Name of its dialogue on one reader's pages.
        scenario: Name of the scenario.
        opening: First text, as annotators see it.
        n_voted: People who have voted; count.
        opened: Time of creation; UTC.
    """

    token: str
    category: str
    state: RoomState
    name: str
    scenario: str
    opening: str
    n_voted: int
    opened: datetime


class FlagKind(StrEnum):
    """Kind of a flag in a dialogue."""

    PII = "personal data"
    SELF_IDENTIFICATION = "self-identification"
    WELLBEING = "wellbeing"
    TECHNICAL = "technical fault"


class CaseAct(StrEnum):
    """One step in handling a case."""

    OPENED = "opened"
    FLAGGED = "flagged again"
    CONFIRMED = "confirmed"
    DISMISSED = "dismissed"
    RESTRICTED = "restricted"
    REDACTED = "redacted"
    NOTIFIED = "notified"
    CLOSED = "closed"


class CaseView(StrEnum):
    """Selection of cases in a list."""

    SUGGESTED = "suggested by programs"
    OPEN = "open"
    CLOSED = "closed"


class TurnText(StrEnum):
    """Side of a turn."""

    PROMPT = "prompt"
    RESPONSE = "response"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """Finding of a person or a detector in a dialogue.

    Attributes:
        kind: Its kind.
        turn: Number of the turn; None for the dialogue as a whole.
        words: The flagged words; empty for none.
        note: Note of the person who flags.
        by_detector: Whether a program created it.
    """

    kind: FlagKind
    turn: int | None = None
    words: str = ""
    note: str = ""
    by_detector: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """A span of text that is hidden from annotators; the original is unchanged.

    Attributes:
        turn: Number of the turn.
        side: Side of the turn.
        start: Index of its first character, from 0.
        end: Index after its last character; exclusive.
        shown_in: Categories whose annotators see the words because they judge them.
    """

    turn: int
    side: TurnText
    start: int
    end: int
    shown_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStep:
    """One step in handling a case: action, person, time, note."""

    act: CaseAct
    by: str
    at: datetime
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveCase:
    """A sensitive position of a dialogue with its whole history.

    Attributes:
        token: Opaque.
        dialogue: Key of the dialogue.
        flag: The flag that opened it.
        steps: The steps, in order.
        redactions: Parts hidden from annotators.
    """

    token: str
    dialogue: str
    flag: Flag
    steps: tuple[CaseStep, ...]
    redactions: tuple[Redaction, ...] = ()

    @property
    def is_closed(self) -> bool:
        """Whether it is closed or dismissed, without a later flag."""
        return bool(self.steps) and self.steps[-1].act in {CaseAct.CLOSED, CaseAct.DISMISSED}

    @property
    def is_suggestion(self) -> bool:
        """Whether a program opened it and no person has decided it yet."""
        return self.flag.by_detector and all(step.act is CaseAct.OPENED for step in self.steps)

    @property
    def is_restricted(self) -> bool:
        """Whether the dialogue is hidden from annotators: restricted, and neither redacted nor closed since."""
        ends = {CaseAct.RESTRICTED, CaseAct.REDACTED, CaseAct.CLOSED, CaseAct.DISMISSED}
        acts = [step.act for step in self.steps if step.act in ends]
        return bool(acts) and acts[-1] is CaseAct.RESTRICTED


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalAccess:
    """One access to the original of a dialogue with a case: person, time and reason."""

    by: str
    at: datetime
    reason: str
