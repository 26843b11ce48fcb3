"""Acts on many dialogues at once, each told of by itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class BulkAct(StrEnum):
    """What is done with many dialogues of a queue."""

    OFFER = "offer"
    FIRST = "first"
    BACK = "back"
    ROOM = "room"
    CHECK = "check"
    REVIEW = "review"

    @property
    def is_undoable(self) -> bool:
        """Whether it can be taken back as a whole."""
        return self is not BulkAct.BACK


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkLine:
    """What became of one work item.

    Attributes:
        item: Token of the work item.
        made: Token of what came of it: a reservation, a room, or the item itself; empty where nothing was done.
        refused: Why nothing was done, in words; empty where it was.
    """

    item: str
    made: str = ""
    refused: str = ""
