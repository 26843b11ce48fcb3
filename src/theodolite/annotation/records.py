"""Cached records by content hash, and figures that are computed once per state."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from pathlib import Path
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
"""Maximum number of cached records; the oldest is dropped first. Count."""

MOST_FIGURES = 32
"""Maximum number of cached figures, some megabytes each; the least recently used is dropped first. Count."""


class RecordCache:
    """Caches designs, guidelines and studies by content hash, and figures by state; reads dialogues.

    The server holds one for each workspace; the store itself caches nothing.
    """

    @classmethod
    def at(cls, folder: Path) -> RecordCache:
        """Return an empty cache over the contents of a workspace; long texts are in the folder."""
        return cls(Contents(folder))

    def __init__(self, contents: Contents) -> None:
        """Start with an empty cache over stored contents."""
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
        """Return the dialogue of a unit."""
        return dialogues_of([unit_id], self.contents)[0]

    def figure(self, key: Hashable, state: Hashable, make: Callable[[T | None], T]) -> T:
        """Return the figure for this state, computed if necessary; the cache ends with the process.

        A second caller waits while a first one computes the same figure.

        Args:
            key: Name of the figure.
            state: Everything that the figure depends on; another state computes it again.
            make: Computes the figure; its argument is the figure of an earlier state, None if there is none.
        """
        with self._lock:
            turn = self._turns[key]
        with turn:
            before, last = self._cached(key)
            if before != state:
                last = make(last)
                self._keep(key, state, last)
            result: T = last
            return result

    def latest(self, key: Hashable) -> Any:
        """Return the latest figure without waiting for its computation; None if there is none."""
        return self._cached(key)[1]

    def _cached(self, key: Hashable) -> tuple[Hashable, Any]:
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
