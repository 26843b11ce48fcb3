"""The port to observers: metrics, logs and traces of the units and calls of this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from theodolite.domain.flow import Reply, Request
from theodolite.domain.run import Run, Unit


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
