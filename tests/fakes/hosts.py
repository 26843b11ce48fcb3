"""A resolver of host names that asks no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FakeHostResolver:
    """Resolves the names that it is given; implements `HostResolver`.

    Attributes:
        known: Numeric addresses by host name; other names do not resolve.
    """

    known: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def addresses(self, host: str) -> tuple[str, ...]:
        """Return the addresses of a name."""
        return tuple(self.known.get(host, ()))
