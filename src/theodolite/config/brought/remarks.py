"""Remarks: what several voices said in conversations that another tool kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.config.diagnostics import LocatedDiagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What one voice said at once.

    Attributes:
        key: Names it in its file.
        conversation: Names what it is part of.
        speaker: Names the voice.
        text: The words.
        line: Where it stands in the file, from 1.
        answers: Key of the remark that it answers; empty for none.
        at: When it was said; seconds from any day, 0 where nobody knows.
        told: Field to value, of the remark and of its voice.
    """

    key: str
    conversation: str
    speaker: str
    text: str
    line: int
    answers: str = ""
    at: float = 0.0
    told: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remarks:
    """What a file of conversations holds.

    Attributes:
        file: Its name, as people are shown it.
        remarks: What was said, in order of the file.
        about: Conversation to what is told of it, field to value.
        notes: How it was read, where that is not plain.
        faults: Everything that is wrong.
        sha256: Hash of the file's bytes.
    """

    file: str
    remarks: tuple[Remark, ...] = ()
    about: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    faults: tuple[LocatedDiagnostic, ...] = ()
    sha256: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """What may tell who speaks, in order of appearance."""
        return tuple(dict.fromkeys(name for one in self.remarks for name in one.told))

    def values(self, name: str) -> Counter[str]:
        """Return how often a field has each value; remarks without one are not counted."""
        return Counter(value for one in self.remarks if (value := one.told.get(name, "")))


def scalars(entry: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    """Return the words, numbers and truths of a JSON object as text; what holds others is left out.

    Example:
        >>> scalars({"role": "bot", "score": 2, "is_staff": False, "parsed": [1]}, "speaker.")
        {'speaker.role': 'bot', 'speaker.score': '2', 'speaker.is_staff': 'false'}
    """
    plain = {name: str(value).lower() if isinstance(value, bool) else value for name, value in entry.items()}
    return {f"{prefix}{name}": str(value) for name, value in plain.items() if isinstance(value, str | int | float)}
