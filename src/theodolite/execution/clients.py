"""Clients of a run (models, applications, functions), and the conditions that stop the run."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import ParamSpec, TypeVar, cast

from theodolite.domain.application import ModelEndpoint, PromptedModel, RecordedFile
from theodolite.domain.errors import (
    ContentRefused,
    EmptyReply,
    GatewayError,
    MalformedReply,
    RateLimited,
    Rejected,
    ReplayError,
    RunStopped,
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
from theodolite.domain.study import Budget, Study
from theodolite.domain.text import MICROS, cost_text, dollars
from theodolite.ports.application import Admitting, ApplicationClient, Conversing, Labeller, Lenient, Model, Networked
from theodolite.ports.limits import Allowance, LimitShares, SharedLimits
from theodolite.ports.store import Journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """Clients by name, with the stop conditions that every call passes.

    Attributes:
        models: Models by name.
        applications: Applications by name.
        stop_conditions: Checked before each call and updated after it.
        labellers: Labelling functions by the name of their annotator.
        slots: Limits the calls in flight; no limit by default.
        shares: Shares of limits that several processes have; None for limits of this process alone.
    """

    models: Mapping[str, Model]
    applications: Mapping[str, ApplicationClient]
    stop_conditions: StopConditions
    labellers: Mapping[str, Labeller] = field(default_factory=dict)
    slots: AbstractAsyncContextManager[None] = field(default_factory=nullcontext)
    shares: LimitShares | None = None

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
                reply = await self._call_and_record(request, unit)
            finally:
                self.stop_conditions.settle(request, reserved, reply)
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
        """Wait until an application can bear one more session; no call's place is held meanwhile."""
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
    """Tell whether applications of a type bound their sessions."""
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
        """Return what a blocking function returns."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: function(*args, **kwargs))

    def close(self) -> None:
        """Wait for the running call, then end the thread."""
        self._pool.shutdown(wait=True)


BYTES_A_TOKEN = 3
"""Bytes of text per token; English has about four, so estimates err on the high side."""


def _tokens(text: str) -> int:
    return len(text.encode()) // BYTES_A_TOKEN


_NOTHING = Spending()


def _reports_cost(reply: Reply) -> bool:
    """Return whether a reply reports its cost, or cost nothing."""
    is_reported = reply.tokens_in or reply.tokens_out or reply.cost_microusd is not None
    return bool(is_reported) or not reply.attempts or reply.finish == CONTENT_FILTER


@dataclass(slots=True)
class _ReplyLengths:
    """Number of replies of one model and their tokens; counts."""

    n: int = 0
    tokens_out: int = 0


@dataclass(slots=True)
class CostEstimator:
    """Estimates the cost of a call from the length of its texts and the mean length of earlier replies.

    Before the first reply of a model the estimate uses the longest reply that its `params`
    allow. Without a price, or without knowledge of the model of an application, only the call counts.

    Attributes:
        study: Defines the models and applications.
    """

    study: Study
    _models: dict[str, ModelEndpoint] = field(init=False)
    _prompted_models: dict[str, PromptedModel] = field(init=False)
    _recorded: frozenset[str] = field(init=False)
    _reply_lengths: dict[str, _ReplyLengths] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Index models and applications by name."""
        self._models = {model.name: model for model in self.study.models}
        connections = {application.name: application.connection for application in self.study.applications}
        self._prompted_models = {name: one for name, one in connections.items() if isinstance(one, PromptedModel)}
        self._recorded = frozenset(name for name, one in connections.items() if isinstance(one, RecordedFile))

    def expected(self, request: Request) -> Spending:
        """Return the expected cost of a call; one attempt is assumed."""
        if isinstance(request, SayToApplication) and request.application in self._recorded:
            return Spending()
        model = self._model(request)
        if model is None or model.is_scripted:
            return Spending(calls=1)
        return self._cost(model, request, tokens_out=self._reply_tokens(model))

    def unreported_cost(self, request: Request, reply: Reply) -> Spending:
        """Return the cost of a call estimated from its texts; zero if the reply reports its tokens."""
        model = None if _reports_cost(reply) else self._model(request)
        if model is None or model.is_scripted:
            return _NOTHING
        cost = self._cost(model, request, tokens_out=_tokens(reply.text))
        return Spending(estimated_tokens=cost.tokens, estimated_microusd=cost.cost_microusd)

    def learn(self, request: Request, reply: Reply) -> None:
        """Record the length of a reply; estimated from its text if it reports no tokens."""
        model = self._model(request)
        n_tokens = reply.tokens_out or (0 if reply.finish == CONTENT_FILTER else _tokens(reply.text))
        if model is not None and reply.attempts and n_tokens:
            lengths = self._reply_lengths.setdefault(model.name, _ReplyLengths())
            lengths.n += 1
            lengths.tokens_out += n_tokens

    def _cost(self, model: ModelEndpoint, request: Request, *, tokens_out: int) -> Spending:
        tokens_in = sum(_tokens(text) for text in self._texts(request))
        cost = model.price.cost_microusd(tokens_in, tokens_out) if model.price else 0
        return Spending(calls=1, tokens_in=tokens_in, tokens_out=tokens_out, cost_microusd=cost)

    def _model(self, request: Request) -> ModelEndpoint | None:
        """Return the model that answers a request; None if no model does or it is unknown."""
        if isinstance(request, AskModel):
            return self._models.get(request.model)
        application = self._prompted_models.get(request.application) if isinstance(request, SayToApplication) else None
        return self._models.get(application.model) if application else None

    def _texts(self, request: Request) -> Iterable[str]:
        if isinstance(request, AskModel):
            return [message.text for message in request.messages]
        if not isinstance(request, SayToApplication):
            return []
        application = self._prompted_models[request.application]
        said = [text for exchange in request.history for text in (exchange.prompt, exchange.response)]
        return [application.system, *application.context.values(), request.context, *said, request.prompt]

    def _reply_tokens(self, model: ModelEndpoint) -> int:
        lengths = self._reply_lengths.get(model.name)
        return math.ceil(lengths.tokens_out / lengths.n) if lengths else model.longest_reply


BUDGET_POLL_S = 0.2
"""Pause before a part of the budget is requested again that other processes have; seconds."""

_SHARED = "the budget does not cover another call beside those of other processes"

FAILURES_IN_A_ROW = 20
"""Consecutive failed calls to one endpoint that stop a run; count."""

_RAISE = "raise `budget` in the study"

_KEY_REFUSED = frozenset({401, 403})


@dataclass(slots=True)
class StopConditions:
    """Guards the budget of a run and counts consecutive failures of each endpoint.

    When a condition holds, calls in flight finish and are stored. An unfinished
    unit keeps its journal and resumes with the next run.

    Attributes:
        budget: Limits of the study.
        spent: Cost of the run so far, earlier processes included.
        reason: Why the run stops; empty while it continues.
        remedy: What the user does before the run can resume; empty if nothing.
        cost_estimator: Estimates the cost of calls in flight; None to count finished calls only.
        limits: Leases parts of the budget that several processes share; None for a budget of this process alone.
    """

    budget: Budget
    spent: Spending = field(default_factory=Spending)
    reason: str = ""
    remedy: str = ""
    cost_estimator: CostEstimator | None = None
    limits: SharedLimits | None = None
    _allowance: Allowance | None = None
    _used_of_allowance: Spending = field(default_factory=Spending)
    _unstored: Spending = field(default_factory=Spending)
    _next_lease_s: float = -math.inf
    _leasing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _reserved: Spending = field(default_factory=Spending)
    _n_in_flight: int = 0
    _settled: asyncio.Event = field(default_factory=asyncio.Event)
    _streaks: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _endpoint_failures: set[str] = field(default_factory=set)

    def check(self) -> None:
        """Check the budget.

        Raises:
            RunStopped: If a stop condition holds.
        """
        self._check_budget()
        if self.reason:
            raise RunStopped(self.reason)

    async def reserve(self, request: Request) -> Spending | None:
        """Wait until the budget covers a call beside those in flight, and reserve its expected cost.

        The caller must call `settle` when the call has ended, failed or not.

        Raises:
            RunStopped: If a stop condition holds, or the budget covers no further call.
        """
        self.check()
        if self.cost_estimator is None or not self.budget.is_limited:
            return None
        expected = self.cost_estimator.expected(request)
        while self._shortage(expected):
            is_final = await self._lease(expected)
            if not (short := self._shortage(expected)):
                break
            if is_final and not self._n_in_flight:
                self.stop(short, _RAISE)
            else:
                await self._pause()
            self.check()
            expected = self.cost_estimator.expected(request)
        self._reserved += expected
        self._n_in_flight += 1
        return expected

    def settle(self, request: Request, reserved: Spending | None, reply: Reply | None) -> None:
        """Release the reservation of a call that has ended.

        Args:
            request: The request of the call.
            reserved: Result of `reserve`.
            reply: The reply; None if the call failed.
        """
        if reserved is None or self.cost_estimator is None:
            return
        self._reserved -= reserved
        self._n_in_flight -= 1
        if reply is not None:
            self.cost_estimator.learn(request, reply)
            self.spent += self.cost_estimator.unreported_cost(request, reply)
            self._unstored += self._cost(request, reply)
            self._used_of_allowance += self._cost(request, reply)
        back, self._settled = self._settled, asyncio.Event()
        back.set()

    def stored(self, request: Request, reply: Reply) -> None:
        """Record that a reply is in the journal, where other processes see its cost."""
        if self.limits is not None and self.cost_estimator is not None and self.budget.is_limited:
            self._unstored -= self._cost(request, reply)

    async def renew_allowance(self) -> None:
        """Return the part of the budget that is not needed now, if other processes work on the run."""
        if self.limits is not None and self._allowance is not None and await self.limits.n_other_workers():
            async with self._leasing:
                await self._lease_part(self.limits, Spending())

    def forget_allowance(self) -> None:
        """Lease a part of the budget anew before the next call."""
        self._allowance = None

    def _cost(self, request: Request, reply: Reply) -> Spending:
        return spent_with(Spending(), reply) + self.unreported_cost(request, reply)

    async def _lease(self, expected: Spending) -> bool:
        """Lease a part of a shared budget; return whether no more can come from other processes."""
        if self.limits is None:
            return True
        async with self._leasing:
            if not self._shortage(expected):
                return False
            now_s = asyncio.get_running_loop().time()
            if now_s < self._next_lease_s:
                return False
            self._next_lease_s = now_s + BUDGET_POLL_S
            allowance = await self._lease_part(self.limits, expected)
            return not allowance.is_contested

    async def _lease_part(self, limits: SharedLimits, expected: Spending) -> Allowance:
        used_before = self._used_of_allowance - self._unstored
        self._allowance = None  # nothing may be reserved from a part that is being exchanged
        self._allowance = await limits.allow(self.budget, self._reserved + self._unstored, expected)
        # Replies that were on their way to the journal count in the new part until they are stored.
        self._used_of_allowance -= used_before
        self.learn(self._allowance.spent)
        return self._allowance

    async def _pause(self) -> None:
        """Wait until a call has ended; other processes may return a part of the budget meanwhile."""
        with suppress(TimeoutError):
            async with asyncio.timeout(None if self.limits is None else BUDGET_POLL_S):
                await self._settled.wait()

    def unreported_cost(self, request: Request, reply: Reply) -> Spending:
        """Return the estimated cost of a call whose reply reports none.

        It is stored with the reply even without a budget, because a budget may be set before the run resumes.
        """
        return self.cost_estimator.unreported_cost(request, reply) if self.cost_estimator else Spending()

    def stop(self, reason: str, remedy: str = "") -> None:
        """Stop the run; the first reason is kept."""
        if not self.reason:
            self.reason, self.remedy = reason, remedy

    def record_reply(self, endpoint: str, reply: Reply) -> None:
        """Record a reply and its cost."""
        self._streaks.pop(endpoint, None)
        self.spent = spent_with(self.spent, reply)

    def record_failure(self, endpoint: str, error: GatewayError, unit: str) -> None:
        """Record a failed call and its cost. Missing rows of a recording are not counted.

        Args:
            endpoint: Name of the model or application; consecutive failures are counted by it.
            error: The error; it may name the model that an application uses.
            unit: Key of the unit of work.
        """
        if not error.tries:
            return
        streak = self._streaks[endpoint]
        streak.append(unit)
        error.spent = replace(error.spent, calls=1, attempts=error.tries)
        self.spent += error.spent
        self._used_of_allowance += error.spent
        if len(streak) >= FAILURES_IN_A_ROW:
            self._endpoint_failures.update(streak)
            outcome = "were rejected:" if isinstance(error, Rejected) else "failed; the last error:"
            self.stop(
                f"{len(streak)} consecutive calls to `{error.endpoint or endpoint}` {outcome} {error}", _remedy(error)
            )

    def learn(self, spent: Spending) -> None:
        """Update the cost of the run with the calls of other processes."""
        if spent.calls > self.spent.calls:
            self.spent = spent

    def endpoint_failures(self) -> frozenset[str]:
        """Return units that failed only because their endpoint was down; the next run retries them.

        A late reply to a call in flight does not remove them.
        """
        return frozenset(self._endpoint_failures)

    def _check_budget(self) -> None:
        if reason := _spent_up(self.budget, self.spent):
            self.stop(reason, _RAISE)

    def _shortage(self, expected: Spending) -> str:
        """Return why the budget does not cover a call beside those in flight; empty if it does."""
        if self.limits is None:
            return _short_of(self.budget, self.spent, self._reserved, expected)
        if self._allowance is None:
            return "no part of the budget is leased yet"
        if self._allowance.covers(self._used_of_allowance + self._reserved + expected):
            return ""
        missing = _short_of(self.budget, self.spent, self._reserved, expected)
        return missing or _short_of(self.budget, self.spent + self._unstored, self._reserved, expected) or _SHARED


def _spent_up(budget: Budget, spent: Spending) -> str:
    """Return which limit of the budget is reached; empty if none. Estimated costs count like reported ones."""
    if budget.usd is not None and spent.cost_microusd + spent.estimated_microusd >= budget.usd * MICROS:
        return f"the budget of {dollars(budget.usd)} is spent{_estimated(spent)}"
    if budget.tokens is not None and spent.tokens + spent.estimated_tokens >= budget.tokens:
        return f"the budget of {budget.tokens:,} tokens is spent{_estimated(spent)}"
    if budget.calls is not None and spent.calls >= budget.calls:
        return f"the budget of {budget.calls:,} calls is spent"
    return ""


def _short_of(budget: Budget, spent: Spending, reserved: Spending, expected: Spending) -> str:
    """Return which limit a further call would exceed; empty if none."""
    after = spent + reserved + expected
    usd, tokens = after.cost_microusd + after.estimated_microusd, after.tokens + after.estimated_tokens
    if budget.usd is not None and expected.cost_microusd and usd > budget.usd * MICROS:
        costs = f"about {cost_text(expected.cost_microusd)}"
        return f"the budget of {dollars(budget.usd)} does not cover another call ({costs}){_estimated(spent)}"
    if budget.tokens is not None and expected.tokens and tokens > budget.tokens:
        about = f"about {expected.tokens:,}"
        return f"the budget of {budget.tokens:,} tokens does not cover another call ({about}){_estimated(spent)}"
    if budget.calls is not None and expected.calls and after.calls > budget.calls:
        return f"the budget of {budget.calls:,} calls is spent"
    return ""


def _estimated(spent: Spending) -> str:
    """Return how many of the spent tokens are estimates."""
    n_tokens = spent.estimated_tokens
    return f" ({n_tokens:,} tokens estimated: replies report no token counts)" if n_tokens else ""


def _remedy(error: GatewayError) -> str:
    """Return what to do about an endpoint that does not reply."""
    if error.status in _KEY_REFUSED:
        return "correct the API key"
    return "start the endpoint" if isinstance(error, Unreachable) else "fix the endpoint"


def spent_with(spent: Spending, reply: Reply) -> Spending:
    """Return the cost including one more reply."""
    unpriced = reply.cost_microusd is None and reply.tokens_in + reply.tokens_out > 0
    return replace(
        spent,
        calls=spent.calls + (not reply.recorded and not reply.cached),
        attempts=spent.attempts + reply.attempts,
        tokens_in=spent.tokens_in + reply.tokens_in,
        tokens_out=spent.tokens_out + reply.tokens_out,
        cost_microusd=spent.cost_microusd + (reply.cost_microusd or 0),
        unpriced_calls=spent.unpriced_calls + unpriced,
    )
