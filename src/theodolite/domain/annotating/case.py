"""Cases: sensitive or unblinding things in dialogues, and how they were handled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class FlagKind(StrEnum):
    """What a flag says about a place in a dialogue."""

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
    """Which cases a list shows."""

    SUGGESTED = "suggested by programs"
    OPEN = "open"
    CLOSED = "closed"


class TurnText(StrEnum):
    """Which text of a turn is meant."""

    PROMPT = "prompt"
    RESPONSE = "response"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """What somebody, or a detector, saw in a dialogue.

    Attributes:
        kind: What it says.
        turn: Number of the turn; None for the dialogue as a whole.
        words: The words that are meant; empty for none.
        note: What the one who flags adds.
        by_detector: Whether a program saw it.
    """

    kind: FlagKind
    turn: int | None = None
    words: str = ""
    note: str = ""
    by_detector: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """A stretch of text that annotators do not see; the original stays as it is.

    Attributes:
        turn: Number of the turn.
        side: Which of its texts.
        start: Where it begins; characters, from 0.
        end: Where it ends; characters, exclusive.
        shown_in: Categories whose annotators see the words, since they have to judge them.
    """

    turn: int
    side: TurnText
    start: int
    end: int
    shown_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStep:
    """One step in handling a case: what, by whom, when, in which words."""

    act: CaseAct
    by: str
    at: datetime
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveCase:
    """Everything about one sensitive place of a dialogue.

    Attributes:
        token: Opaque.
        dialogue: Key of the dialogue.
        flag: The flag that opened it.
        steps: What was done, in order.
        redactions: What annotators do not see.
    """

    token: str
    dialogue: str
    flag: Flag
    steps: tuple[CaseStep, ...]
    redactions: tuple[Redaction, ...] = ()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed or dismissed, and not flagged again since."""
        return bool(self.steps) and self.steps[-1].act in {CaseAct.CLOSED, CaseAct.DISMISSED}

    @property
    def is_suggestion(self) -> bool:
        """Whether a program opened it and no person has said anything of it yet."""
        return self.flag.by_detector and all(step.act is CaseAct.OPENED for step in self.steps)

    @property
    def is_restricted(self) -> bool:
        """Whether annotators are kept from the dialogue: restricted, and neither redacted nor closed since."""
        ends = {CaseAct.RESTRICTED, CaseAct.REDACTED, CaseAct.CLOSED, CaseAct.DISMISSED}
        acts = [step.act for step in self.steps if step.act in ends]
        return bool(acts) and acts[-1] is CaseAct.RESTRICTED


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalAccess:
    """One look at the original of a dialogue that has a case: by whom, when and why."""

    by: str
    at: datetime
    reason: str
