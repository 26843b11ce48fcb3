"""Brought dialogues: what was held elsewhere and comes into a study with its words."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.dialogue import Dialogue, Level, TesterType
from theodolite.domain.live import LiveDialogueSummary
from theodolite.domain.recording import RecordedTurn
from theodolite.domain.run import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtDialogue:
    """One dialogue that was held elsewhere, and where it belongs in a study.

    Attributes:
        item: The file's identifier; the same for all applications that were asked the same.
        application: Name of an application of the study.
        scenario: Name of a scenario of the study.
        level: Level of testing.
        held_by: Who held the tester's side: a person, or a recording of which no more is known.
        turns: What was said.
        tester: Whom the file names as the tester; empty where it names nobody.
        repeat: Number among dialogues of the same item and application, from 1.
        line: Line of its first row in the file.
    """

    item: str
    application: str
    scenario: str
    level: Level
    held_by: TesterType
    turns: tuple[RecordedTurn, ...]
    tester: str = ""
    repeat: int = 1
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtResult:
    """One of them as a run keeps it.

    Attributes:
        held: How it is counted beside the dialogues of people.
        unit: The unit of work that it is.
        dialogue: The dialogue.
    """

    held: LiveDialogueSummary
    unit: Unit
    dialogue: Dialogue


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtIn:
    """What came of bringing dialogues in.

    Attributes:
        new: Labels of those that are new, in order of the file.
        known: Those that were there already; count.
    """

    new: tuple[str, ...]
    known: int
