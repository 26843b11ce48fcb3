"""The library: what queues refer to by content hash."""

from __future__ import annotations

from typing import TypeVar

from theodolite.domain.dialogue import Dialogue
from theodolite.domain.guideline import Guideline
from theodolite.domain.study import Study
from theodolite.domain.work import QueueDesign
from theodolite.store.contents import Contents, record_of
from theodolite.store.dialogues import dialogues_of

R = TypeVar("R")

MOST = 256
"""Records that are remembered; the oldest goes first. Count."""


class Library:
    """Designs, guidelines and studies by their versions, which never change, and dialogues."""

    def __init__(self, contents: Contents) -> None:
        """Say where they are kept."""
        self.contents = contents
        self._designs: dict[str, QueueDesign] = {}
        self._guidelines: dict[str, Guideline] = {}
        self._studies: dict[str, Study] = {}

    def design(self, version: str) -> QueueDesign:
        """Return a queue's design."""
        return self._found(QueueDesign, self._designs, version)

    def guideline(self, version: str) -> Guideline:
        """Return a guideline."""
        return self._found(Guideline, self._guidelines, version)

    def study(self, version: str) -> Study:
        """Return a study."""
        return self._found(Study, self._studies, version)

    def dialogue(self, unit_id: int) -> Dialogue:
        """Return the dialogue that a unit brought."""
        return dialogues_of([unit_id], self.contents)[0]

    def _found(self, kind: type[R], known: dict[str, R], version: str) -> R:
        if version not in known:
            known[version] = record_of(kind, self.contents.texts([version])[version])
            while len(known) > MOST:
                known.pop(next(iter(known)))
        return known[version]
