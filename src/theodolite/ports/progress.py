"""The ports to the progress of a run, to its observers, to time, and to the response cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.flow import Reply, Request
from theodolite.domain.run import Failure, Run, Spending, Unit


class Progress(Protocol):
    """Watches a run; must not fail and must not take long."""

    def begin(self, *, sessions: int, annotations: int, done: int, annotated: int) -> None:
        """Receive the number of units to do and the number done; counts."""
        ...

    def session(self, result: Dialogue | Failure) -> None:
        """Called when a session ends."""
        ...

    def annotation(self, result: Annotation | Failure) -> None:
        """Called when an annotation is complete."""
        ...

    def over(self, *, sessions: int, annotations: int) -> None:
        """Receive the finished units of all processes, several times a minute; counts."""
        ...

    def spent(self, total: Spending) -> None:
        """Receive the cost of this run so far, at least every second, so that the clock on the screen advances."""
        ...

    def end(self) -> None:
        """Called when the run ends."""
        ...


class Clock(Protocol):
    """Returns the current time and waits."""

    def now(self) -> datetime:
        """Return the present moment; UTC, aware."""
        ...

    def monotonic_s(self) -> float:
        """Return the seconds since a fixed moment; monotonic."""
        ...

    async def sleep(self, duration_s: float) -> None:
        """Wait for some seconds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One stored reply, with its request: the cache is an audit trail too.

    Attributes:
        key: Content hash of the request and of the replicate number; 64 hexadecimal digits.
        request: The request, canonical JSON without the key of the account.
        reply: The reply.
        since: Time of its arrival; UTC.
    """

    key: str
    request: str
    reply: Reply
    since: datetime


class Cache(Protocol):
    """Replies by content hash of their requests; entries may be lost, but no call fails because of the cache."""

    async def find(self, key: str) -> Kept | None:
        """Return the value stored under a key, or None."""
        ...

    async def keep(self, kept: Kept) -> None:
        """Store a reply, replacing an earlier one with the same key."""
        ...

    def close(self) -> None:
        """Close the file; later reads and writes do nothing."""
        ...


class Observer(Protocol):
    """Observes units of work and calls; an error inside a block is its outcome and propagates.

    Observers run in the event loop of the work, so they never wait.
    """

    def unit(self, run: Run, unit: Unit, *, owner: str) -> AbstractContextManager[Callable[[object], None]]:
        """Observe one unit of a run; the block passes its result, a `Failure` or a record."""
        ...

    def call(self, request: Request, unit: str) -> AbstractContextManager[Callable[[Reply], None]]:
        """Observe one call with all its attempts; the block passes the reply.

        Args:
            request: The request.
            unit: Key of the unit or of the session that makes the call.
        """
        ...


class Sample(NamedTuple):
    """One number of a database that a monitoring system reads."""

    name: str
    labels: Mapping[str, str]
    value: float
