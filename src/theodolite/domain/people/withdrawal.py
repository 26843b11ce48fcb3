"""Withdrawals: what becomes of a person's words when the person takes part no more."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Withdrawal(StrEnum):
    """What a person who withdraws wants to happen to what was said and answered."""

    REMOVE = "remove"
    """Words and answers are deleted, and estimates leave the dialogues out."""
    ANONYMISE = "anonymise"
    """Words and answers stay, and nothing leads from them to the person any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """What is left of a withdrawal in logs that only grow: that there was one, and no content.

    Attributes:
        study: Name of the study.
        kind: What was asked for.
        at: When; UTC.
        sessions: Sessions that it reached; count.
        dialogues: Dialogues that it reached; count.
        answers: Answers in questionnaires and annotations that it reached; count.
    """

    study: str
    kind: Withdrawal
    at: datetime
    sessions: int = 0
    dialogues: int = 0
    answers: int = 0
