"""Calls under a dialogue of the page: prompts and raw replies, as far as the file has room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from theodolite.domain.call import Call
from theodolite.domain.identity import Json
from theodolite.reporting.words.calls import call_texts, spent_text

_AROUND_LINE = 6
"""Letters that a line takes where a text names it by its number, about; count."""


@dataclass(slots=True)
class CallTexts:
    """The texts of calls in one file; equal lines of all prompts stand there once.

    Prompts of one guideline differ in little more than the dialogue, and those of
    several readings in an order.

    Attributes:
        room: Letters that further texts may take; count.
        lines: All lines so far, each with its number.
    """

    room: int
    lines: dict[str, int] = field(default_factory=dict)

    def entry(self, calls: Sequence[Call]) -> dict[str, Json]:
        """Return what the page holds of a judge's calls; empty where none was made."""
        if not calls:
            return {}
        entry: dict[str, Json] = {"spent": spent_text(calls)}
        texts = [(name, text.split("\n")) for name, text in call_texts(calls)]
        new = {line for _, lines in texts for line in lines if line not in self.lines}
        letters = sum(map(len, new)) + _AROUND_LINE * sum(len(lines) for _, lines in texts)
        if letters > self.room:
            return {**entry, "leftOut": True}
        self.room -= letters
        said: list[Json] = [[name, [self._number(line) for line in lines]] for name, lines in texts]
        return {**entry, "texts": said}

    def _number(self, line: str) -> int:
        return self.lines.setdefault(line, len(self.lines))
