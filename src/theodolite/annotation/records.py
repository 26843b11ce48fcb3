"""Records by content hash, and figures that are computed once per state."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

from theodolite.domain.annotating.work import QueueDesign
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.guideline import Guideline
from theodolite.domain.study import Study
from theodolite.store.contents import Contents, record_of
from theodolite.store.dialogues import dialogues_of

R = TypeVar("R")
T = TypeVar("T")

MOST = 256
"""Records that are remembered; the oldest goes first. Count."""

MOST_FIGURES = 32
"""Figures that are remembered, some megabytes each at most; what was asked for longest ago goes first. Count."""


class Library:
    """Designs, guidelines and studies by their versions, which never change, and dialogues."""

    def __init__(self, contents: Contents) -> None:
        """Say where they are kept."""
        self.contents = contents
        self._designs: dict[str, QueueDesign] = {}
        self._guidelines: dict[str, Guideline] = {}
        self._studies: dict[str, Study] = {}
        self._figures: OrderedDict[Hashable, tuple[Hashable, Any]] = OrderedDict()
        self._lock = Lock()
        self._turns: defaultdict[Hashable, Lock] = defaultdict(Lock)

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

    def remembered(self, key: Hashable, state: Hashable, make: Callable[[T | None], T]) -> T:
        """Return what was worked out under a key, or work it out; nothing of it is kept beyond the process.

        Whoever asks while somebody else works the same out waits for that, and does not begin anew.

        Args:
            key: Says of what the figures are.
            state: Says everything that they rest on; they are worked out again where it is another one.
            make: Works them out, from what was remembered of an earlier state if that helps; None where nothing was.
        """
        with self._lock:
            turn = self._turns[key]
        with turn:
            before, last = self._kept(key)
            if before != state:
                last = make(last)
                self._keep(key, state, last)
            found: T = last
            return found

    def _kept(self, key: Hashable) -> tuple[Hashable, Any]:
        with self._lock:
            if key in self._figures:
                self._figures.move_to_end(key)
            return self._figures.get(key, (None, None))

    def _keep(self, key: Hashable, state: Hashable, made: object) -> None:
        with self._lock:
            self._figures[key] = (state, made)
            self._figures.move_to_end(key)
            while len(self._figures) > MOST_FIGURES:
                self._figures.popitem(last=False)

    def _found(self, kind: type[R], known: dict[str, R], version: str) -> R:
        if version not in known:
            known[version] = record_of(kind, self.contents.texts([version])[version])
            while len(known) > MOST:
                known.pop(next(iter(known)))
        return known[version]
