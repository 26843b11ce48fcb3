"""The ports to the progress of a run, to time, and to the response cache."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.flow import Reply
from theodolite.domain.run import Failure, Spending


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


class Clock(Protocol):
    """Returns the current time and waits."""

    def now(self) -> datetime:
        """Return the present moment; UTC, aware."""
        ...

    def monotonic_s(self) -> float:
        """Return seconds since some fixed moment; never goes back."""
        ...

    async def sleep(self, duration_s: float) -> None:
        """Wait for some seconds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One reply as it was kept, with what it answers: the cache is an audit trail too.

    Attributes:
        key: Content hash of what was sent and of the replicate number; 64 hexadecimal digits.
        request: What was sent, canonical JSON without the key of the account.
        reply: What came back.
        since: When it came; UTC.
    """

    key: str
    request: str
    reply: Reply
    since: datetime


class Cache(Protocol):
    """Replies by content hash of what was sent; it may lose anything at any time, but never fail a call."""

    async def find(self, key: str) -> Kept | None:
        """Return what was kept under a key, or None."""
        ...

    async def keep(self, kept: Kept) -> None:
        """Keep a reply; an earlier one under the same key makes room."""
        ...

    def close(self) -> None:
        """Let go of the file; finding and keeping do nothing afterwards."""
        ...
