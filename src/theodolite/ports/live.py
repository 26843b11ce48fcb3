"""The port to what stores the replies that a participant watches while they arrive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from theodolite.domain.live import LiveEnding


class ReplySink(Protocol):
    """Stores the shown text of replies; what it has acknowledged outlives the process."""

    async def hold(self, partials: Mapping[str, str]) -> None:
        """Store partial replies: key of the turn to the text shown so far.

        Raises:
            StoreError: If they could not be stored; the next call repeats them.
        """
        ...

    async def end(self, key: str, ending: LiveEnding) -> None:
        """Store how the reply of a turn ended.

        Raises:
            StoreError: If it could not be stored.
        """
        ...
