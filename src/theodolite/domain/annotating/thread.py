"""Threads: questions about a schema and its hard cases, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class AnchorKind(StrEnum):
    """What a thread hangs on."""

    QUESTION = "question"
    TURN = "turn"
    DIALOGUE = "dialogue"
    GUIDELINE = "guideline"


class ThreadEnd(StrEnum):
    """What a thread led to."""

    GUIDELINE = "guideline text"
    FAQ = "answer in the list of questions"
    NOTHING = "nothing to change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The place that a thread is about.

    Attributes:
        kind: What it hangs on.
        category: Name of the category.
        question: Name of the question; empty where it is about none.
        turn: Number of the turn; None where it is about none.
        reservation: Token of the reservation from whose page it was begun; empty for none.
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
        text: What they wrote.
        at: When; UTC.
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
        anchor: What it is about.
        version: Content hash of the guideline at the time.
        posts: Contributions in order; the first one began it.
        end: What it led to; None while it is open.
        text: Words that go into the guideline or the list of questions; empty for none.
    """

    token: str
    anchor: Anchor
    version: str
    posts: tuple[Post, ...]
    end: ThreadEnd | None = None
    text: str = ""
