"""A model without a network: replies and failures are given beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from theodolite.domain.errors import GatewayError
from theodolite.domain.flow import AskModel, Reply, Speaker
from theodolite.domain.run import Spending
from theodolite.ports.application import EndpointCheck, OnChunk

Said = str | GatewayError


def in_turn(texts: Sequence[Said]) -> Callable[[AskModel], Said]:
    """Return an answer function: one text further for each assistant message so far and each replicate."""

    def answer(request: AskModel) -> Said:
        said = sum(message.speaker is Speaker.ASSISTANT for message in request.messages)
        return texts[(said + request.replicate - 1) % len(texts)]

    return answer


def echo(request: AskModel) -> Said:
    """Say what was said."""
    return f"You said: {request.messages[-1].text}"


@dataclass
class FakeModel:
    """Answers by a function and remembers every request, in order."""

    answer: Callable[[AskModel], Said] = echo
    name: str = "fake"
    alive: bool = True
    cost_microusd: int | None = None
    asked: list[AskModel] = field(default_factory=list)
    closed: int = 0

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        self.asked.append(request)
        said = self.answer(request)
        if isinstance(said, GatewayError):
            raise said
        if on_chunk is not None:
            on_chunk(said)
        return Reply(
            text=said, answered_as="fake-1", tokens_in=10, tokens_out=5, cost_microusd=self.cost_microusd, finish="stop"
        )

    async def check_endpoint(self) -> EndpointCheck:
        answer = "ok, 0.0 s, answers as fake-1" if self.alive else "nobody answers (refused, 3 tries, 1.0 s)"
        return EndpointCheck(
            name=self.name,
            host="127.0.0.1:1",
            alive=self.alive,
            answer=answer,
            hint="" if self.alive else "curl http://127.0.0.1:1/v1/models",
            spent=Spending(calls=1, attempts=1),
        )

    async def close(self) -> None:
        self.closed += 1
