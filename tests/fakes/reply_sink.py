"""A keeper of live replies in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.errors import StorageUnavailable
from theodolite.domain.live import LiveEnding


@dataclass
class FakeReplySink:
    """Remembers every saving in order; fails as often as it is told to."""

    held: list[dict[str, str]] = field(default_factory=list)
    ended: dict[str, LiveEnding] = field(default_factory=dict)
    failures: int = 0

    async def hold(self, partials: Mapping[str, str]) -> None:
        self._fail()
        self.held.append(dict(partials))

    async def end(self, key: str, ending: LiveEnding) -> None:
        self._fail()
        self.ended[key] = ending

    def _fail(self) -> None:
        if self.failures > 0:
            self.failures -= 1
            message = "database is locked"
            raise StorageUnavailable(message)
