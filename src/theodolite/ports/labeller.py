"""The port to Python functions that label dialogues."""

from __future__ import annotations

from typing import Protocol

from theodolite.domain.flow import AskFunction, Reply


class Labeller(Protocol):
    """One function that answers a guideline's questions about a dialogue."""

    async def reply(self, request: AskFunction) -> Reply:
        """Return what the function returned, as JSON.

        Raises:
            GatewayError: If it raised, took too long or returned what JSON cannot hold.
        """
        ...

    async def close(self) -> None:
        """Let go of what its calls needed."""
        ...
