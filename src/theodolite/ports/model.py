"""The port to language models."""

from __future__ import annotations

from typing import Protocol

from theodolite.domain.flow import AskModel, Reply
from theodolite.ports.application import OnChunk


class Model(Protocol):
    """One language model behind one endpoint."""

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return what the model answers.

        Args:
            request: What it is asked.
            on_chunk: Receives pieces as they arrive; the whole reply where it comes at once.

        Raises:
            GatewayError: If no reply came; the subclass says why.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
