"""Calibration rooms: people vote blindly on one dialogue, see the votes, discuss, and vote again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from theodolite.domain.annotating.blind import BlindDialogue
from theodolite.domain.annotating.discrepancy import Position
from theodolite.domain.annotating.thread import Post
from theodolite.domain.annotation import Answer
from theodolite.domain.guideline import Guideline


class RoomState(StrEnum):
    """Where a calibration room stands."""

    VOTING = "voting"
    REVEALED = "revealed"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRoom:
    """One dialogue in one category, as one person in the room sees it.

    Attributes:
        token: Opaque.
        state: Where it stands.
        version: Content hash of the guideline that is calibrated.
        guideline: What is asked.
        dialogue: What was said, blinded.
        own: The reader's latest answers.
        before: Everybody's first answers by letter; empty until they are revealed.
        after: Everybody's latest answers by letter; empty until they are revealed.
        posts: What was discussed; empty until the answers are revealed.
        n_voted: People who have voted; count.
        opened: When; UTC.
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
    """What one person answered before and after a discussion, for one question of one room.

    Attributes:
        room: Token of the room.
        version: Content hash of the guideline.
        question: Name of the question.
        turn: Number of the turn; None for the dialogue as a whole.
        participant: Opaque key.
        before: First value; None where it was none.
        after: Latest value; None where it was none.
    """

    room: str
    version: str
    question: str
    turn: int | None
    participant: str
    before: str | None
    after: str | None
