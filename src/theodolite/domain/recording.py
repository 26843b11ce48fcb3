"""Recordings: dialogues that were held before, as a file brings them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """One row of a recorded file.

    Attributes:
        prompt: What the tester said; empty where it is withheld.
        response: What the application said; empty where it is withheld.
        withheld: Why the texts are not there; empty where they are.
        context: Source material that the application had for this turn; empty for none.
    """

    prompt: str
    response: str
    withheld: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedDialogue:
    """One dialogue of a recorded file, with everything else that its rows say.

    Attributes:
        key: The file's identifier of the item; the same for all applications.
        application: Name of the application.
        turns: What was said.
        columns: Column to value of the dialogue's first row: labels and groups.
        turn_columns: The same of each row, in order of the turns; empty where the dialogue has one row.
        line: Line of the first row in the file.
        repeat: Number among rows of the same item and application, from 1.
        labelled: Whether a person labelled it although a response is empty; then the empty response
            is what the application answered, and no failure.
    """

    key: str
    application: str
    turns: tuple[RecordedTurn, ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    turn_columns: tuple[Mapping[str, str], ...] = ()
    line: int = 0
    repeat: int = 1
    labelled: bool = False

    @property
    def rows(self) -> tuple[Mapping[str, str], ...]:
        """Columns of each row, in order of the turns."""
        return self.turn_columns or (self.columns,)
