"""Brakes: what stops a run cleanly before its plan is done."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field, replace

from theodolite.domain.errors import GatewayError, Rejected, RunStopped, Unreachable
from theodolite.domain.flow import Reply, Request
from theodolite.domain.money import MICROS, cost_text, dollars
from theodolite.domain.run import Spending
from theodolite.domain.study import Budget
from theodolite.execution.foresight import Foresight

REFUSALS_IN_A_ROW = 20
"""Calls to one endpoint that may fail one after the other before a run stops."""

_RAISE = "raise `budget` in the study"
_KEY_REFUSED = frozenset({401, 403})


@dataclass(slots=True)
class Brakes:
    """Watches calls and says when no further one is to be made.

    Calls in flight are let finish and are stored; a unit that stands still
    keeps its journal and goes on when the run does.

    Attributes:
        budget: What the study allows.
        spent: What has been spent in this run, earlier sittings included.
        reason: Why the run is to stop; empty while it goes on.
        remedy: What to do before it goes on, in a few words; empty where nothing is to be done.
        foresight: Says what a call is expected to cost; None where only what was spent counts.
    """

    budget: Budget
    spent: Spending = field(default_factory=Spending)
    reason: str = ""
    remedy: str = ""
    foresight: Foresight | None = None
    _reserved: Spending = field(default_factory=Spending)
    _n_in_flight: int = 0
    _back: asyncio.Event = field(default_factory=asyncio.Event)
    _streaks: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _unjust: set[str] = field(default_factory=set)

    def check(self) -> None:
        """Let a call be made, or not.

        Raises:
            RunStopped: If the run is to stop.
        """
        self._mind_the_budget()
        if self.reason:
            raise RunStopped(self.reason)

    async def reserve(self, request: Request) -> Spending | None:
        """Let a call be made once the budget bears it beside those in flight; return what was reserved for it.

        Whoever was let through calls `settle`, whatever came of it.

        Raises:
            RunStopped: If the run is to stop, or the budget bears no further call.
        """
        self.check()
        if self.foresight is None or not self.budget.is_limited:
            return None
        expected = self.foresight.expected(request)
        while short := self._shortage(expected):
            if not self._n_in_flight:
                self.stop(short, _RAISE)
            else:
                await self._back.wait()
            self.check()
            expected = self.foresight.expected(request)
        self._reserved += expected
        self._n_in_flight += 1
        return expected

    def settle(self, request: Request, reserved: Spending | None, reply: Reply | None) -> None:
        """Give back what was reserved for a call; by now it is known what it cost.

        Args:
            request: What was asked.
            reserved: What `reserve` returned.
            reply: What came; None where nothing did.
        """
        if reserved is None or self.foresight is None:
            return
        self._reserved -= reserved
        self._n_in_flight -= 1
        if reply is not None:
            self.foresight.learn(request, reply)
            self.spent += self.foresight.supposed(request, reply)
        back, self._back = self._back, asyncio.Event()
        back.set()

    def supposed(self, request: Request, reply: Reply) -> Spending:
        """Return what a call must have cost whose reply does not tell; kept with it, since a budget outlasts a sitting.

        It is told of runs without a budget too, for one may be set before they go on.
        """
        return self.foresight.supposed(request, reply) if self.foresight else Spending()

    def stop(self, reason: str, remedy: str = "") -> None:
        """Let no further call be made; the first reason stands."""
        if not self.reason:
            self.reason, self.remedy = reason, remedy

    def answered(self, endpoint: str, reply: Reply) -> None:
        """Take note of a reply and of what it cost."""
        self._streaks.pop(endpoint, None)
        self.spent = spent_with(self.spent, reply)

    def refused(self, endpoint: str, error: GatewayError, unit: str) -> None:
        """Take note of a call that brought nothing, and of what it cost; a gap in a recording is no such call.

        Args:
            endpoint: The model or application that was asked; rows are counted by it.
            error: What came. It may name the model behind an application, which is where to look.
            unit: Key of the unit of work.
        """
        if not error.tries:
            return
        streak = self._streaks[endpoint]
        streak.append(unit)
        error.spent = replace(error.spent, calls=1, attempts=error.tries)
        self.spent += error.spent
        if len(streak) >= REFUSALS_IN_A_ROW:
            self._unjust.update(streak)
            words = "refused," if isinstance(error, Rejected) else "brought no reply; the last:"
            self.stop(f"{len(streak)} calls in a row to `{error.endpoint or endpoint}` {words} {error}", _remedy(error))

    def learn(self, spent: Spending) -> None:
        """Take note of what the whole run has cost, where other processes work on it too."""
        if spent.calls > self.spent.calls:
            self.spent = spent

    def unjust_failures(self) -> frozenset[str]:
        """Return the units that failed in a streak which stopped the run.

        They say nothing about what was tested, so they wait for the next sitting,
        even if a call that was still in flight brought a reply after all.
        """
        return frozenset(self._unjust)

    def _mind_the_budget(self) -> None:
        if reason := _spent_up(self.budget, self.spent):
            self.stop(reason, _RAISE)

    def _shortage(self, expected: Spending) -> str:
        """Return why the budget does not bear a call beside those in flight; empty where it does."""
        return _short_of(self.budget, self.spent, self._reserved, expected)


def _spent_up(budget: Budget, spent: Spending) -> str:
    """Return what of a budget is spent, in words; empty where nothing is. What is supposed counts as what was told."""
    if budget.usd is not None and spent.cost_microusd + spent.supposed_microusd >= budget.usd * MICROS:
        return f"the budget of {dollars(budget.usd)} is spent{_supposed(spent)}"
    if budget.tokens is not None and spent.tokens + spent.supposed_tokens >= budget.tokens:
        return f"the budget of {budget.tokens:,} tokens is spent{_supposed(spent)}"
    if budget.calls is not None and spent.calls >= budget.calls:
        return f"the budget of {budget.calls:,} calls is spent"
    return ""


def _short_of(budget: Budget, spent: Spending, reserved: Spending, expected: Spending) -> str:
    """Return why a budget does not bear a call beside all that counts already; empty where it does."""
    after = spent + reserved + expected
    usd, tokens = after.cost_microusd + after.supposed_microusd, after.tokens + after.supposed_tokens
    if budget.usd is not None and expected.cost_microusd and usd > budget.usd * MICROS:
        costs = f"about {cost_text(expected.cost_microusd)}"
        return f"the budget of {dollars(budget.usd)} does not bear a further call ({costs}){_supposed(spent)}"
    if budget.tokens is not None and expected.tokens and tokens > budget.tokens:
        about = f"about {expected.tokens:,}"
        return f"the budget of {budget.tokens:,} tokens does not bear a further call ({about}){_supposed(spent)}"
    if budget.calls is not None and expected.calls and after.calls > budget.calls:
        return f"the budget of {budget.calls:,} calls is spent"
    return ""


def _supposed(spent: Spending) -> str:
    """Return what people must know of a budget that is spent by supposition."""
    n_tokens = spent.supposed_tokens
    return f", {n_tokens:,} tokens of it supposed, since replies told none" if n_tokens else ""


def _remedy(error: GatewayError) -> str:
    """Return what to do about an endpoint that does not answer."""
    if error.status in _KEY_REFUSED:
        return "put the key right"
    return "start it again" if isinstance(error, Unreachable) else "put it right"


def spent_with(spent: Spending, reply: Reply) -> Spending:
    """Return what has been spent with one reply more."""
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
