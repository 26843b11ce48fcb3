"""The port to language models."""

from __future__ import annotations

from typing import Protocol

from theodolite.domain.flow import AskModel, Reply


class Model(Protocol):
    """One language model behind one endpoint."""

    async def reply(self, request: AskModel) -> Reply:
        """Return what the model answers.

        Raises:
            GatewayError: If no reply came; the subclass says why.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
