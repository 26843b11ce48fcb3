"""Conditions that stop a run: its budget, shared with other processes, and endpoints that fail again and again."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from theodolite.domain.application import ModelEndpoint, PromptedModel, RecordedFile
from theodolite.domain.errors import GatewayError, Rejected, RunStopped, Unreachable
from theodolite.domain.flow import CONTENT_FILTER, AskModel, Reply, Request, SayToApplication
from theodolite.domain.run import Spending
from theodolite.domain.study import Budget, Study
from theodolite.domain.text import MICROS, cost_text, dollars

if TYPE_CHECKING:
    from theodolite.ports.limits import Allowance, SharedLimits

BYTES_A_TOKEN = 3
"""Bytes of text per token; English has about four, so estimates err on the high side."""


def _tokens(text: str) -> int:
    return len(text.encode()) // BYTES_A_TOKEN


_NOTHING = Spending()


def _reports_cost(reply: Reply) -> bool:
    """Return whether a reply reports its cost or was free."""
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
"""Pause before requesting again a part of the budget that other processes have leased; seconds."""

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
        spent: Cost of the run so far, including earlier processes.
        reason: Why the run stops; empty while it continues.
        remedy: Action needed before the run can resume; empty if none.
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
        """Wait until the budget covers a call in addition to those in flight, and reserve its expected cost.

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
        """Lease a part of the budget again before the next call."""
        self._allowance = None

    def _cost(self, request: Request, reply: Reply) -> Spending:
        return spent_with(Spending(), reply) + self.unreported_cost(request, reply)

    async def _lease(self, expected: Spending) -> bool:
        """Lease a part of a shared budget; return whether no other process has leased a part of it."""
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
        self._allowance = None  # no reservation during an exchange of shares
        self._allowance = await limits.allow(self.budget, self._reserved + self._unstored, expected)
        # Replies not yet in the journal count in the new part until they are stored.
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
            endpoint: Name of the model or application, by which consecutive failures are counted.
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
        """Return why the budget does not cover a call in addition to those in flight; empty if it does."""
        if self.limits is None:
            return _short_of(self.budget, self.spent, self._reserved, expected)
        if self._allowance is None:
            return "no part of the budget is leased yet"
        if self._allowance.covers(self._used_of_allowance + self._reserved + expected):
            return ""
        missing = _short_of(self.budget, self.spent, self._reserved, expected)
        return missing or _short_of(self.budget, self.spent + self._unstored, self._reserved, expected) or _SHARED


def _spent_up(budget: Budget, spent: Spending) -> str:
    """Return the limit of the budget that is reached; empty if none. Estimated costs count like reported ones."""
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
    """Return the number of spent tokens that are estimates."""
    n_tokens = spent.estimated_tokens
    return f" ({n_tokens:,} tokens estimated: replies report no token counts)" if n_tokens else ""


def _remedy(error: GatewayError) -> str:
    """Return the remedy for an endpoint that does not reply."""
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
