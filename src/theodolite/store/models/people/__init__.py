"""What people do in an event, one small file for each noun."""

from theodolite.store.models.people.live import LiveAttemptRow, LiveDialogueRow, LiveTurnRow
from theodolite.store.models.people.person import (
    AcknowledgementRow,
    AvoidedTopicRow,
    GuessRow,
    ProfileEntryRow,
    ProfileRow,
    TombstoneRow,
)
from theodolite.store.models.people.response import ResponseAnswerRow, ResponseRow
from theodolite.store.models.people.session import SeatRow, SessionRow

__all__ = [
    "AcknowledgementRow",
    "AvoidedTopicRow",
    "GuessRow",
    "LiveAttemptRow",
    "LiveDialogueRow",
    "LiveTurnRow",
    "ProfileEntryRow",
    "ProfileRow",
    "ResponseAnswerRow",
    "ResponseRow",
    "SeatRow",
    "SessionRow",
    "TombstoneRow",
]
