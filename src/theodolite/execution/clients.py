"""Clients of a run: models, applications and functions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from theodolite.domain.errors import (
    ContentRefused,
    EmptyReply,
    GatewayError,
    MalformedReply,
    RateLimited,
    Rejected,
    ReplayError,
    ServerFault,
    TemplateError,
    TimedOut,
    Unreachable,
)
from theodolite.domain.flow import (
    CONTENT_FILTER,
    FILTERED_TEXT,
    AskFunction,
    AskModel,
    Flow,
    JournalEntry,
    Reply,
    Request,
    SayToApplication,
    Waiting,
    advance,
    answered_by,
    begin,
)
from theodolite.domain.identity import version_of
from theodolite.domain.network import NetworkUse
from theodolite.domain.run import Failure, FailureKind, FailureSource, Spending, Unit
from theodolite.execution.stop_conditions import StopConditions
from theodolite.ports.application import Admitting, ApplicationClient, Conversing, Labeller, Lenient, Model, Networked
from theodolite.ports.progress import Observer
from theodolite.ports.store import Journal

if TYPE_CHECKING:
    from theodolite.ports.limits import LimitShares


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """Clients by name, with the stop conditions that every call passes.

    Attributes:
        models: Models by name.
        applications: Applications by name.
        stop_conditions: Checked before each call and updated after it.
        labellers: Labelling functions by the name of their annotator.
        slots: Limits the calls in flight; no limit by default.
        shares: Shares of limits among several processes; None for limits of this process alone.
        observer: Receives units and calls for metrics, logs and traces; None for no observer.
    """

    models: Mapping[str, Model]
    applications: Mapping[str, ApplicationClient]
    stop_conditions: StopConditions
    labellers: Mapping[str, Labeller] = field(default_factory=dict)
    slots: AbstractAsyncContextManager[None] = field(default_factory=nullcontext)
    shares: LimitShares | None = None
    observer: Observer | None = None

    async def renew_shares(self) -> None:
        """Adapt the shares of limits and of the budget to the number of processes."""
        if self.shares is not None:
            await self.shares.renew()
        await self.stop_conditions.renew_allowance()

    async def give_back_shares(self) -> None:
        """Return the shares of limits and of the budget; no call may be in flight."""
        if self.shares is not None:
            await self.shares.give_back()
        self.stop_conditions.forget_allowance()

    def within(self, parallel: int) -> Clients:
        """Return the same clients with at most `parallel` calls in flight; count."""
        return replace(self, slots=asyncio.Semaphore(parallel))

    async def answer(self, request: Request, unit: str) -> Reply:
        """Return the reply to a request.

        A reply that the content filter of an endpoint withheld counts as a reply:
        the refusal is the observed behaviour, not missing data.

        Args:
            request: The request of a flow.
            unit: Key of its unit; applications identify sessions by it.

        Raises:
            GatewayError: If the call fails.
            RunStopped: If a stop condition holds.
        """
        async with self.slots:
            reserved, reply = await self.stop_conditions.reserve(request), None
            try:
                reply = await self._observe_call(request, unit)
            finally:
                self.stop_conditions.settle(request, reserved, reply)
            return reply

    async def _observe_call(self, request: Request, unit: str) -> Reply:
        if self.observer is None:
            return await self._call_and_record(request, unit)
        with self.observer.call(request, unit) as end:
            reply = await self._call_and_record(request, unit)
            end(reply)
        return reply

    async def _call_and_record(self, request: Request, unit: str) -> Reply:
        """Return the reply to a request and record its cost."""
        endpoint = _endpoint(request)
        try:
            reply = await self._call(request, unit)
        except ContentRefused as refusal:
            reply = paid_reply(refusal, FILTERED_TEXT, finish=CONTENT_FILTER)
        except GatewayError as error:
            error.endpoint = error.endpoint or endpoint
            self.stop_conditions.record_failure(endpoint, error, unit)
            raise
        self.stop_conditions.record_reply(endpoint, reply)
        return reply

    async def _call(self, request: Request, unit: str) -> Reply:
        if isinstance(request, AskModel):
            return await self.models[request.model].reply(request)
        if isinstance(request, AskFunction):
            return await self.labellers[request.annotator].reply(request)
        return await self.applications[request.application].reply(request, session=unit)

    async def begin_session(self, application: str, unit: str) -> None:
        """Wait until an application can accept one more session; no call slot is occupied meanwhile."""
        line = self.applications.get(application)
        if line is not None and _admits(type(line)):
            await cast("Admitting", line).begin(unit)

    async def end_session(self, application: str, unit: str) -> None:
        """Notify a stateful application that a session ended."""
        client = self.applications.get(application)
        if client is not None and _is_stateful(type(client)):
            await cast("Conversing", client).end(unit)

    def tolerated_deviations(self) -> dict[str, tuple[str, ...]]:
        """Return the tolerated deviations from an interface, by application."""
        lenient = {name: client.remarks for name, client in self.applications.items() if isinstance(client, Lenient)}
        return {name: remarks for name, remarks in lenient.items() if remarks}

    def network_uses(self) -> tuple[NetworkUse, ...]:
        """Return the network use of each application whose code used the network."""
        uses = (client.network for client in self.applications.values() if isinstance(client, Networked))
        return tuple(use for use in uses if use.connections or use.refused or use.programs)

    async def close(self) -> None:
        """Return shares of limits and close all clients."""
        await self.give_back_shares()
        for application in self.applications.values():
            await application.close()
        for labeller in self.labellers.values():
            await labeller.close()
        for model in self.models.values():
            await model.close()


@cache
def _is_stateful(kind: type) -> bool:
    """Return whether a type of application is stateful; cached because the check costs as much as the notification."""
    return issubclass(kind, Conversing)


@cache
def _admits(kind: type) -> bool:
    """Return whether applications of a type bound their sessions."""
    return issubclass(kind, Admitting)


def _endpoint(request: Request) -> str:
    """Return the name of the endpoint that a request addresses."""
    if isinstance(request, AskModel):
        return request.model
    return request.annotator if isinstance(request, AskFunction) else request.application


Result = TypeVar("Result")


async def drive(
    flow: Flow[Result], unit: Unit, stored: Sequence[JournalEntry], *, clients: Clients, journal: Journal
) -> Result | Failure:
    """Run a flow to its end.

    Each reply is stored before the next request, so a killed process loses
    at most the calls in flight.

    Args:
        flow: A flow that has not been started.
        unit: The unit of work of the flow.
        stored: The journal of the unit so far, in order of position.
        clients: Answer the requests that the journal does not.
        journal: Stores new replies.

    Returns:
        The result of the flow, or the failure that ended it.

    Raises:
        RunStopped: If the run stops before the flow ends.
        StoreError: If a reply could not be stored.
    """
    request: Request | None = None
    try:
        state = begin(flow)
        for entry in stored:
            waiting = answered_by(entry, state)
            request = waiting.request
            state = advance(flow, waiting, entry.reply)
        while isinstance(state, Waiting):
            request = state.request
            reply = await clients.answer(request, unit.key)
            if not reply.recorded:  # its file is its journal
                await journal.append(unit.key, _entry(state, reply, clients))
                clients.stop_conditions.stored(request, reply)
            state = advance(flow, state, reply)
    except (GatewayError, ReplayError, TemplateError) as error:
        return failure_of(unit, error, request)
    return state.result


def _entry(state: Waiting, reply: Reply, clients: Clients) -> JournalEntry:
    unreported_cost = clients.stop_conditions.unreported_cost(state.request, reply)
    return JournalEntry(
        position=state.position,
        request_hash=version_of(state.request),
        reply=reply,
        estimated_tokens=unreported_cost.estimated_tokens,
        estimated_microusd=unreported_cost.estimated_microusd,
    )


UnitError = GatewayError | ReplayError | TemplateError
"""Errors that end one unit of work and leave the run going."""

_KINDS: dict[type[Exception], FailureKind] = {
    Unreachable: FailureKind.UNREACHABLE,
    TimedOut: FailureKind.TIMED_OUT,
    RateLimited: FailureKind.RATE_LIMITED,
    Rejected: FailureKind.REJECTED,
    ServerFault: FailureKind.SERVER_FAULT,
    MalformedReply: FailureKind.MALFORMED_REPLY,
    EmptyReply: FailureKind.EMPTY_REPLY,
    ContentRefused: FailureKind.CONTENT_REFUSED,
    TemplateError: FailureKind.TEMPLATE,
    ReplayError: FailureKind.REPLAY,
}


def failure_of(unit: Unit, error: UnitError, request: Request | None) -> Failure:
    """Return the failure record of a unit that an error ended.

    Args:
        unit: The failed unit of work.
        error: The error.
        request: The last request of the flow; None before the first one.
    """
    at_call = isinstance(error, GatewayError)
    return Failure(
        unit=unit.key,
        label=unit.label,
        application=unit.application,
        party=_party(request) if at_call else FailureSource.MACHINERY,
        kind=kind_of(error),
        message=str(error),
        turn=request.turn if isinstance(request, SayToApplication) else None,
        annotator=unit.annotator,
        endpoint=error.endpoint if isinstance(error, GatewayError) else "",
        tries=error.tries if isinstance(error, GatewayError) else 1,
        spent=error.spent if isinstance(error, GatewayError) else Spending(),
    )


def paid_reply(error: GatewayError, text: str, *, finish: str = "") -> Reply:
    """Return a substitute for an unusable reply, with the cost of the original.

    Args:
        error: The error that the unusable reply caused.
        text: Text of the substitute.
        finish: Finish reason of the substitute.
    """
    spent = error.spent
    is_priced = spent.tokens_in + spent.tokens_out > 0 and not spent.unpriced_calls
    return Reply(
        text=text,
        finish=finish,
        attempts=error.tries,
        tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out,
        cost_microusd=spent.cost_microusd if is_priced else None,
    )


def kind_of(error: UnitError) -> FailureKind:
    """Return the kind of an error; an error class of a plugin counts as its known base class."""
    known = (_KINDS[kin] for kin in type(error).__mro__ if kin in _KINDS)
    return next(known, FailureKind.SERVER_FAULT)


def _party(request: Request | None) -> FailureSource:
    if isinstance(request, AskModel):
        return request.party
    if isinstance(request, AskFunction):
        return FailureSource.JUDGE
    return FailureSource.APPLICATION if isinstance(request, SayToApplication) else FailureSource.MACHINERY


Arguments = ParamSpec("Arguments")


class BlockingExecutor:
    """Runs blocking calls one at a time on a dedicated thread."""

    def __init__(self, prepare: Callable[[], None] | None = None) -> None:
        """Create the executor; its thread starts with the first call.

        Args:
            prepare: Called in the thread before its first call; None for nothing.
        """
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="blocking", initializer=prepare)

    async def call(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Return the result of a blocking function."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: function(*args, **kwargs))

    def close(self) -> None:
        """Wait for the running call, then end the thread."""
        self._pool.shutdown(wait=True)
