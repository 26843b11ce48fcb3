"""The ports to applications under test, language models, labelling functions and endpoint checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from theodolite.domain.flow import AskFunction, AskModel, Reply, SayToApplication
from theodolite.domain.network import NetworkUse
from theodolite.domain.run import Spending

OnChunk = Callable[[str], None]
"""Called with each piece of a streamed reply; pieces are never replayed."""


class ApplicationClient(Protocol):
    """One application under test."""

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return the application's answer.

        Args:
            request: The prompt, with the dialogue so far.
            session: Opaque key of the session, the same for all its turns.
            on_chunk: Receives pieces as they arrive, if the application streams.

        Raises:
            GatewayError: If there was no reply; the subclass states why.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


@runtime_checkable
class Conversing(Protocol):
    """An application that keeps state for each session until the session ends."""

    async def end(self, session: str) -> None:
        """Release the state of a session; an unknown session is ignored."""
        ...


@runtime_checkable
class Admitting(Protocol):
    """An application that bounds how many sessions are open at one time."""

    async def begin(self, session: str) -> None:
        """Wait until one more session may be open, and keep it open until its end."""
        ...


@runtime_checkable
class Resettable(Protocol):
    """An application with sessions that can start another dialogue on their state."""

    async def restart(self, session: str) -> None:
        """Start a new dialogue without knowledge of the previous one.

        Raises:
            GatewayError: If the application does not support it.
        """
        ...


@runtime_checkable
class Lenient(Protocol):
    """An application with a gateway that tolerates some breaches of its interface, and reports them."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Breaches that were tolerated so far, each once."""
        ...


@runtime_checkable
class Networked(Protocol):
    """An application that runs as code, with observed network connections."""

    @property
    def network(self) -> NetworkUse:
        """Network use of its code so far."""
        ...


@runtime_checkable
class Stoppable(Protocol):
    """An application with processes of its own that can be ended at once, from anywhere."""

    def stop(self) -> None:
        """End its processes at once, without waiting for running work."""
        ...


class Model(Protocol):
    """One language model behind one endpoint."""

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return the model's answer.

        Args:
            request: The request.
            on_chunk: Receives pieces as they arrive; the whole reply if it does not stream.

        Raises:
            GatewayError: If there was no reply; the subclass states why.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class Labeller(Protocol):
    """One function that answers a guideline's questions about a dialogue."""

    async def reply(self, request: AskFunction) -> Reply:
        """Return the result of the function, as JSON.

        Raises:
            GatewayError: If it raised, took too long or returned a value that JSON cannot represent.
        """
        ...

    async def close(self) -> None:
        """Release the resources of its calls."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointCheck:
    """Answer of an endpoint to one test request.

    Attributes:
        name: Name of the model or application in the study.
        host: Host and port; empty if nothing leaves the program.
        alive: Whether it can be used.
        answer: Text for people, e.g. `ok, 0.4 s, answers as gpt-5.2-2026-01-15`.
        hint: Suggested next step, e.g. a command line; empty if no step is needed.
        spent: Cost of the call.
        reached: Whether there was an answer at all.
    """

    name: str
    host: str
    alive: bool
    answer: str
    hint: str = ""
    spent: Spending = field(default_factory=Spending)
    reached: bool = True


@runtime_checkable
class Endpoint(Protocol):
    """An endpoint that can be tested for a connection."""

    async def check_endpoint(self) -> EndpointCheck:
        """Call once, within 4 seconds; never raises a `GatewayError`."""
        ...


class HostResolver(Protocol):
    """Resolves host names."""

    def addresses(self, host: str) -> tuple[str, ...]:
        """Return the numeric addresses of a host name; none if it cannot be resolved."""
        ...
