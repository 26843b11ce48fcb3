"""Lists of a study's dialogues: what is looked for, and what a list says of each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from theodolite.domain.annotating.case import FlagKind, SensitiveCase
from theodolite.domain.annotating.room import RoomState
from theodolite.domain.dialogue import Level


class ItemStage(StrEnum):
    """How far a dialogue has come in one category, as people who look after a queue speak of it."""

    WAITING = "waiting"
    IN_WORK = "in work"
    ANNOTATED = "annotated"
    DISPUTED = "disputed"
    UNDER_REVIEW = "under review"
    FINAL = "final"
    ASIDE = "set aside"


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueFilter:
    """What is looked for among the dialogues of a queue; everything that is left empty is left open.

    Attributes:
        scenario: Name of the scenario.
        level: Level of testing; only for those who may know it.
        stage: How far the dialogue has come in the category, or in any where none is named.
        category: Name of a category that the dialogue is asked in.
        disputed: Whether passes differ in that category, or in any; None for either.
        flag: What a case that nobody dismissed says of the dialogue.
        annotator: Key of somebody to whom it was offered, who is at it, or who has submitted it.
        group: A group of the dialogue's case: name and value.
        words: Words that stand in the dialogue as annotators see it; letters' case is ignored.
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
    """One category of a listed dialogue.

    Attributes:
        item: Token of the work item.
        category: Name of the category.
        stage: How far it has come.
        passes: Passes wanted; count.
        n_done: Passes submitted; count.
        n_disputed: Questions that the passes did not answer alike; count.
        is_first: Whether it goes before others.
        again: How often the category was asked of the dialogue before, by an earlier version; count.
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
    """One dialogue of a list.

    Attributes:
        name: What one reader's pages call it.
        opening: What was said first, as annotators see it.
        scenario: Name of its scenario.
        level: Level of testing; whoever is blind to it is not shown it.
        items: Its categories, in the order in which they were opened.
        flags: What cases that nobody dismissed say of it, each kind once.
    """

    name: str
    opening: str
    scenario: str
    level: Level
    items: tuple[ListedItem, ...]
    flags: tuple[FlagKind, ...] = ()

    @property
    def token(self) -> str:
        """Token of its first item, by which a page names the dialogue."""
        return self.items[0].item


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCase:
    """One sensitive place of a list.

    Attributes:
        case: The case.
        name: What one reader's pages call its dialogue.
        scenario: Name of the scenario.
        words: What stands around the words that are hidden, which are not told; empty where none are hidden.
    """

    case: SensitiveCase
    name: str
    scenario: str
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRoom:
    """One calibration room of a list.

    Attributes:
        token: Opaque.
        category: Name of the category.
        state: Where it stands.
        name: What one reader's pages call its dialogue.
        scenario: Name of the scenario.
        opening: What was said first, as annotators see it.
        n_voted: People who have voted; count.
        opened: When; UTC.
    """

    token: str
    category: str
    state: RoomState
    name: str
    scenario: str
    opening: str
    n_voted: int
    opened: datetime
