"""The rate limiter of one endpoint: its share of an account's slots and its limits per minute."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from theodolite.domain.errors import RateLimited
from theodolite.gateways.attempt_error import AttemptError
from theodolite.gateways.limits.account import Account
from theodolite.ports.clock import Clock

if TYPE_CHECKING:  # endpoints without a limit per minute wait for neither
    from theodolite.gateways.limits.start_log import StartLog
    from theodolite.gateways.limits.window import Start, Window

_PATIENT = 0.3
_RECALLED = 1.1  # a little more than a window: what began before it may have arrived within it

_BUSY = frozenset({503})
"""Statuses beside "too many requests" by which servers say that they have too much to do."""


@dataclass(frozen=True, slots=True)
class Permit:
    """The right to make one attempt.

    Attributes:
        ticket: What the account wants to see again.
        start: What the window remembers; None where there is no window.
        foreseen: What the caller expected it to take; count of tokens.
    """

    ticket: int
    start: Start | None = None
    foreseen: int = 0


class RateLimiter:
    """Says when an attempt may begin, and learns how it ended.

    What callers foresee of tokens is a guess; the share of it that calls have
    really taken is learned: upwards at once, downwards with the retry policy.
    """

    def __init__(
        self, account: Account, clock: Clock, *, window: Window | None = None, log: StartLog | None = None
    ) -> None:
        """Recall what an earlier process has started within the window, unless another rate limiter has done so.

        Args:
            account: Hands out slots.
            clock: Tells the time and waits.
            window: Limits per minute; None for none.
            log: Remembers starts for the next process; None to forget them.
        """
        self._account = account
        self._clock = clock
        self._window = window
        self._log = log
        self._share_taken = 1.0
        self._queue: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None
        if window is not None and log is not None and window.is_empty:
            now_s = clock.monotonic_s()
            window.recall((now_s - age_s, tokens) for age_s, tokens in log.recall(_RECALLED * window.span_s))

    async def begin(self, tokens: int = 0) -> Permit:
        """Wait until an attempt may begin.

        Args:
            tokens: What it is expected to take; count.
        """
        if self._window is None:
            return Permit(await self._account.enter())
        async with self._first_come():
            return await self._through(self._window, tokens)

    def wait_s(self, tokens: int = 0) -> float:
        """Return how long an attempt would wait for its minute, were it made now; seconds.

        Args:
            tokens: What it is expected to take; count.
        """
        if self._window is None:
            return 0.0
        return self._window.wait_s(self._clock.monotonic_s(), math.ceil(tokens * self._share_taken))

    def end(
        self, permit: Permit, attempt_error: AttemptError | None, *, answered: bool, tokens: int | None = None
    ) -> None:
        """Learn how an attempt ended.

        Args:
            permit: What `begin` returned.
            attempt_error: What came in place of an answer; None also where the attempt was broken off.
            answered: Whether an answer came.
            tokens: What it has really taken; count, None where unknown.
        """
        if self._window is not None and permit.start is not None:
            self._window.settle(permit.start, self._clock.monotonic_s(), tokens)
        if tokens is not None:
            self._learn(tokens / max(1, permit.foreseen))
        if answered:
            self._account.answered(permit.ticket)
        elif attempt_error is not None and (attempt_error.kind is RateLimited or attempt_error.status in _BUSY):
            self._account.refused(permit.ticket, attempt_error.asked_wait_s)
        else:
            self._account.leave()

    def _learn(self, share: float) -> None:
        retry_policy = 1.0 if share > self._share_taken else _PATIENT
        self._share_taken += retry_policy * (share - self._share_taken)

    async def _through(self, window: Window, foreseen: int) -> Permit:
        """Take a slot and a place in the window at one moment; nobody sleeps on a slot."""
        while True:
            tokens = math.ceil(foreseen * self._share_taken)
            wait_s = window.wait_s(self._clock.monotonic_s(), tokens)
            if wait_s > 0:
                await self._clock.sleep(wait_s)
                continue
            ticket = await self._account.enter()
            now_s = self._clock.monotonic_s()
            if window.wait_s(now_s, tokens) > 0:
                self._account.leave()
                continue
            if self._log is not None:
                self._log.note(tokens, span_s=_RECALLED * window.span_s)
            return Permit(ticket, window.start(now_s, tokens), foreseen)

    def _first_come(self) -> asyncio.Lock:
        """Return the queue of this event loop: without one, those who wait would all wake for one place."""
        loop = asyncio.get_running_loop()
        if self._queue is None or self._queue[0] is not loop:
            self._queue = (loop, asyncio.Lock())
        return self._queue[1]
