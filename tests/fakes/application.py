"""An application without a network: replies and failures are given beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from theodolite.domain.errors import GatewayError
from theodolite.domain.flow import Reply, SayToApplication
from theodolite.ports.application import EndpointCheck, OnChunk

Said = str | GatewayError


def echo(request: SayToApplication) -> Said:
    """Say what was said."""
    return f"You said: {request.prompt}"


@dataclass
class FakeApplication:
    """Answers by a function and remembers every prompt with its session, in order."""

    answer: Callable[[SayToApplication], Said] = echo
    name: str = "fake"
    alive: bool = True
    asked: list[tuple[str, SayToApplication]] = field(default_factory=list)
    closed: int = 0

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        self.asked.append((session, request))
        said = self.answer(request)
        if isinstance(said, GatewayError):
            raise said
        if on_chunk:
            on_chunk(said)
        return Reply(text=said, latency_s=0.01)

    async def check_endpoint(self) -> EndpointCheck:
        answer = "ok, 0.0 s" if self.alive else "nobody answers (refused, 3 tries, 1.0 s)"
        return EndpointCheck(name=self.name, host="", alive=self.alive, answer=answer)

    async def close(self) -> None:
        self.closed += 1
