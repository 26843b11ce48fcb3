"""Lines without a network: functions answer, and everything that was asked is remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.fakes.builders import verdict
from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import GatewayError
from theodolite.domain.flow import (
    AskModel,
    Flow,
    JournalEntry,
    Reply,
    Request,
    Returned,
    SayToApplication,
    Waiting,
    advance,
    begin,
)
from theodolite.domain.identity import version_of
from theodolite.domain.run import Failure, Spending
from theodolite.domain.study import Budget
from theodolite.execution.clients import BlockingExecutor, Clients
from theodolite.execution.stop_conditions import StopConditions

Said = str | Reply | GatewayError
Answering = Callable[[Request], Said]


@dataclass
class Jitter:
    """Gives way to other tasks as often as a list of draws says, again and again."""

    draws: Sequence[int] = (0,)
    drawn: int = 0

    async def __call__(self) -> None:
        times = self.draws[self.drawn % len(self.draws)]
        self.drawn += 1
        for _ in range(times):
            await asyncio.sleep(0)


def usual_answer(request: Request) -> Said:
    """Answer as a simulated user, an application or a judge of the usual study would."""
    if isinstance(request, SayToApplication):
        return f"{request.application} on {request.prompt} ({request.turn})"
    if request.model == "user":
        return f"question {len(request.messages)}"
    return verdict(label="no")


@dataclass
class Switchboard:
    """Answers every endpoint by one function and remembers each request with its unit."""

    answer: Answering = usual_answer
    jitter: Jitter = field(default_factory=Jitter)
    asked: list[Request] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    closed: int = 0

    async def take(self, request: Request) -> Reply:
        self.asked.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self.jitter()
        finally:
            self.in_flight -= 1
        said = self.answer(request)
        if isinstance(said, GatewayError):
            raise said
        return Reply(text=said) if isinstance(said, str) else said


@dataclass
class FakeLine:
    """One endpoint of a switchboard: a model and an application at once."""

    board: Switchboard

    async def reply(self, request: Request, **_: object) -> Reply:
        return await self.board.take(request)

    async def close(self) -> None:
        self.board.closed += 1


def clients_for(
    board: Switchboard,
    *,
    models: Sequence[str] = ("user", "large"),
    applications: Sequence[str] = ("bot",),
    budget: Budget | None = None,
) -> Clients:
    """Return lines on which a switchboard answers everything."""
    return Clients(
        models={name: FakeLine(board) for name in models},
        applications={name: FakeLine(board) for name in applications},
        stop_conditions=StopConditions(budget=budget or Budget()),
    )


class InlineExecutor(BlockingExecutor):
    """An aside without a thread, so that only the jitter decides who comes first."""

    def __init__(self, jitter: Jitter | None = None) -> None:
        super().__init__()
        self.jitter = jitter or Jitter()

    async def call(self, function, *args, **kwargs):
        await self.jitter()
        result = function(*args, **kwargs)
        await self.jitter()
        return result


@dataclass
class Watcher:
    """Implements `ports.progress.Progress` and remembers what it learned."""

    begun: dict[str, int] = field(default_factory=dict)
    sessions: list[Dialogue | Failure] = field(default_factory=list)
    annotations: list[Annotation | Failure] = field(default_factory=list)
    total: Spending = field(default_factory=Spending)
    ended: int = 0

    def begin(self, **counts: int) -> None:
        self.begun = counts

    def session(self, result: Dialogue | Failure) -> None:
        self.sessions.append(result)

    def annotation(self, result: Annotation | Failure) -> None:
        self.annotations.append(result)

    def over(self, **counts: int) -> None:
        self.begun |= counts

    def spent(self, total: Spending) -> None:
        self.total = total

    def end(self) -> None:
        self.ended += 1


@dataclass(frozen=True)
class Held:
    """A flow that was driven to its end: what it returned, asked and was told."""

    result: object
    requests: tuple[Request, ...]
    journal: tuple[JournalEntry, ...]


def held_by_hand(flow: Flow[object], answer: Answering = usual_answer) -> Held:
    """Drive a flow without an event loop, with answers by a function."""
    return gone_on(flow, begin(flow), answer)


def gone_on(flow: Flow[object], state: Waiting | Returned[object], answer: Answering = usual_answer) -> Held:
    """Drive a flow on from where it stands."""
    requests: list[Request] = []
    journal: list[JournalEntry] = []
    while isinstance(state, Waiting):
        said = answer(state.request)
        if isinstance(said, GatewayError):
            raise said
        reply = Reply(text=said) if isinstance(said, str) else said
        requests.append(state.request)
        journal.append(JournalEntry(position=state.position, request_hash=version_of(state.request), reply=reply))
        state = advance(flow, state, reply)
    return Held(state.result, tuple(requests), tuple(journal))


def to_model(request: Request) -> bool:
    return isinstance(request, AskModel)
