"""The port to applications under test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from theodolite.domain.flow import Reply, SayToApplication
from theodolite.domain.network import NetworkUse

OnChunk = Callable[[str], None]
"""Called with each piece of a streamed reply; pieces are never replayed."""


class ApplicationClient(Protocol):
    """One application under test."""

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return what the application answers.

        Args:
            request: The prompt, with the dialogue so far.
            session: Opaque key of the session, the same for all its turns.
            on_chunk: Receives pieces as they arrive, where the application streams.

        Raises:
            GatewayError: If no reply came; the subclass says why.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


@runtime_checkable
class Conversing(Protocol):
    """An application that keeps something for each session until it is told that the session is over."""

    async def end(self, session: str) -> None:
        """Let go of what belongs to a session; an unknown session is none."""
        ...


@runtime_checkable
class Admitting(Protocol):
    """An application that bounds how many sessions are open at one time."""

    async def begin(self, session: str) -> None:
        """Wait until one more session may be open, and hold it open until its end."""
        ...


@runtime_checkable
class Resettable(Protocol):
    """An application whose sessions can begin a new dialogue on what they already hold."""

    async def restart(self, session: str) -> None:
        """Begin a new dialogue that should know nothing of the one before.

        Raises:
            GatewayError: If the application does not do it.
        """
        ...


@runtime_checkable
class Lenient(Protocol):
    """An application whose gateway lets some breaches of its interface pass, and says so."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was let pass so far, each once."""
        ...


@runtime_checkable
class Networked(Protocol):
    """An application that is code, whose connections are observed."""

    @property
    def network(self) -> NetworkUse:
        """What its code has done on the network so far."""
        ...


@runtime_checkable
class Stoppable(Protocol):
    """An application with processes of its own that can be ended at once, from anywhere."""

    def stop(self) -> None:
        """End its processes; nobody waits for what they do."""
        ...
