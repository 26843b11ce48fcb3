"""The port that tells people how far a run is."""

from __future__ import annotations

from typing import Protocol

from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.failure import Failure
from theodolite.domain.run import Spending


class Progress(Protocol):
    """Watches a run; must not fail and must not take long."""

    def begin(self, *, sessions: int, annotations: int, done: int, annotated: int) -> None:
        """Learn how much there is to do and how much of it is done; counts."""
        ...

    def session(self, result: Dialogue | Failure) -> None:
        """Learn that a session ended."""
        ...

    def annotation(self, result: Annotation | Failure) -> None:
        """Learn that an annotation was given."""
        ...

    def over(self, *, sessions: int, annotations: int) -> None:
        """Learn how many units are over, whichever process did them; comes several times a minute. Counts."""
        ...

    def spent(self, total: Spending) -> None:
        """Learn what has been spent in this run so far; comes every second at least, so that time is seen to pass."""
        ...

    def end(self) -> None:
        """Learn that nothing more will come."""
        ...
