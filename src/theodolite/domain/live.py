"""Live dialogues: what a person says to an application, and how its replies end."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.dialogue import TurnState
from theodolite.domain.failure import FailureKind
from theodolite.domain.flow import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEnding:
    """How one reply ended that a person was waiting for.

    Attributes:
        state: Complete, interrupted (by the person, or as the program ended) or error.
        text: What was shown of it.
        reply: What the application gave, and what it took; None where it gave nothing or not all.
        kind: What went wrong; None unless the state is error.
        cause: The cause of an error in words, for organisers only; empty otherwise.
        latency_s: Time from sending to the application's last word; seconds.
        waited_s: Time from sending to the first word shown; seconds, None where none was shown.
    """

    state: TurnState
    text: str
    reply: Reply | None = None
    kind: FailureKind | None = None
    cause: str = ""
    latency_s: float = 0.0
    waited_s: float | None = None
