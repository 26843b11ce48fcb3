"""The port to whoever keeps the replies that a person watches as they come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from theodolite.domain.live import LiveEnding


class Keeper(Protocol):
    """Keeps what people are shown; what it has acknowledged outlives the process."""

    async def hold(self, partials: Mapping[str, str]) -> None:
        """Store how far replies have come that still go on: key of the turn to the text shown so far.

        Raises:
            StoreError: If they could not be stored; they are handed over again with what came since.
        """
        ...

    async def end(self, key: str, ending: LiveEnding) -> None:
        """Store how the reply of a turn ended.

        Raises:
            StoreError: If it could not be stored.
        """
        ...
