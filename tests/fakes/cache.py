"""A cache in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from theodolite.ports.progress import Kept


@dataclass
class FakeCache:
    """Implements `ports.cache.Cache`."""

    replies: dict[str, Kept] = field(default_factory=dict)
    is_closed: bool = False

    async def find(self, key: str) -> Kept | None:
        return None if self.is_closed else self.replies.get(key)

    async def keep(self, kept: Kept) -> None:
        if not self.is_closed:
            self.replies[kept.key] = kept

    def close(self) -> None:
        self.is_closed = True
