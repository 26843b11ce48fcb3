"""The port to the response cache."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from theodolite.domain.flow import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One reply as it was kept, with what it answers: the cache is an audit trail too.

    Attributes:
        key: Content hash of what was sent and of the replicate number; 64 hexadecimal digits.
        request: What was sent, canonical JSON without the key of the account.
        reply: What came back.
        since: When it came; UTC.
    """

    key: str
    request: str
    reply: Reply
    since: datetime


class Cache(Protocol):
    """Replies by content hash of what was sent; it may lose anything at any time, but never fail a call."""

    async def find(self, key: str) -> Kept | None:
        """Return what was kept under a key, or None."""
        ...

    async def keep(self, kept: Kept) -> None:
        """Keep a reply; an earlier one under the same key makes room."""
        ...

    def close(self) -> None:
        """Let go of the file; finding and keeping do nothing afterwards."""
        ...
