"""Accounts: who a host counts calls for, and how many may be in flight there."""

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.gateways.limits.adaptive_limit import START, AdaptiveLimit
from theodolite.gateways.limits.limit_log import LimitLog, limit_log
from theodolite.ports.clock import Clock

if TYPE_CHECKING:  # endpoints without a limit per minute have none
    from theodolite.gateways.limits.window import Window

PARALLEL = 256
"""Calls in flight at most where nobody says otherwise; count."""

START_PRICED = 4
"""Calls in flight before anything is known of an account whose calls cost money; count."""

MOST_AT_FIRST_PRICED = 32
"""Calls in flight at first where an earlier run knows that such an account bears more; count."""


class Account:
    """Hands out slots, first come first served, as many as the adaptive limit allows."""

    def __init__(
        self,
        clock: Clock,
        *,
        parallel: int = PARALLEL,
        start: int = START,
        most_at_first: int | None = None,
        log: LimitLog | None = None,
    ) -> None:
        """Have all slots free.

        Args:
            clock: Tells the time.
            parallel: Calls in flight at most; count.
            start: Calls in flight at most at first, where no log knows better; count.
            most_at_first: Calls in flight at most at first, whatever the log knows; count, None for no bound.
            log: Remembers for the next process what the account bears; None to forget it.
        """
        self._clock = clock
        self._log = log
        start = (log.recall() if log is not None else None) or start
        start = start if most_at_first is None else min(start, most_at_first)
        self._limit = AdaptiveLimit(parallel, start=start)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """Calls that may be in flight now; count."""
        return self._limit.limit

    def share(self, parallel: int) -> None:
        """Let one more model use the account; the largest wish is the bound for all."""
        self._limit.raise_ceiling(parallel)

    async def enter(self) -> int:
        """Wait for a slot and return what `leave` has to be told."""
        if self._waiting or self._in_flight >= self._limit.limit:
            await self._wait()
        else:
            self._in_flight += 1
        return self._limit.began(self._in_flight)

    def answered(self, ticket: int) -> None:
        """Give a slot back after an answer."""
        self._limit.answered(ticket, self._in_flight, now_s=self._clock.monotonic_s())
        self._remember()
        self.leave()

    def refused(self, ticket: int, asked_wait_s: float | None) -> None:
        """Give a slot back after "too many requests"."""
        now_s = self._clock.monotonic_s()
        self._limit.refused(ticket, self._in_flight, now_s=now_s, asked_wait_s=asked_wait_s)
        self._remember()
        self.leave()

    def leave(self) -> None:
        """Give a slot back after something that says nothing about the limit."""
        self._in_flight -= 1
        self._wake()

    def _remember(self) -> None:
        if self._log is not None and self._log.noted != self._limit.limit:
            self._log.note(self._limit.limit)

    async def _wait(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the slot came at the very moment of the cancellation
                self.leave()
            raise

    def _wake(self) -> None:
        while self._waiting and self._in_flight < self._limit.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)


class Accounts:
    """All accounts of a run: models with one host and one key share one.

    Attributes:
        windows: Limits per minute by host, name of the key and model; whoever makes one enters it.
    """

    def __init__(self, clock: Clock, *, folder: Path | None = None) -> None:
        """Know of none yet.

        Args:
            clock: Tells the time.
            folder: Where what each account bears is remembered; None to forget it.
        """
        self._clock = clock
        self._folder = folder
        self._accounts: dict[tuple[str, str], Account] = {}
        self.windows: dict[tuple[str, str, str], Window] = {}

    def of(self, host: str, variable: str, *, parallel: int = PARALLEL, is_priced: bool = False) -> Account:
        """Return the account of a host and the name of a key.

        Args:
            host: Host, with the port where the address names one.
            variable: Environment variable that holds the key; empty for none.
            parallel: Calls in flight at most that the study allows; count.
            is_priced: Whether calls cost money: few are in flight at first, so that an early kill repeats few.
        """
        account = self._accounts.get((host, variable))
        if account is None:
            log = limit_log(self._folder, self._clock, host, variable) if self._folder is not None else None
            start, most = (START_PRICED, MOST_AT_FIRST_PRICED) if is_priced else (START, None)
            account = Account(self._clock, parallel=parallel, start=start, most_at_first=most, log=log)
            self._accounts[host, variable] = account
        account.share(parallel)
        return account
