"""Sessions: one sitting of one tester with one application."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from theodolite.domain.dialogue import HeldBy, Level


class SessionState(StrEnum):
    """Where a session stands."""

    WAITING = "waiting"
    ACTIVE = "active"
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One sitting of one tester with one application version.

    Attributes:
        key: Key of the unit.
        application: Name of the application.
        level: Level of testing.
        held_by: Who holds the tester's side.
        state: Where it stands.
        participant: Opaque key of the person; empty for scripts and simulated users.
        dialogues: Keys of its dialogues; a reset starts a new one.
        started: When it began; UTC.
        ended: When it ended; UTC, None while it goes on.
    """

    key: str
    application: str
    level: Level
    held_by: HeldBy
    state: SessionState
    participant: str = ""
    dialogues: tuple[str, ...] = ()
    started: datetime | None = None
    ended: datetime | None = None
