"""The rate limiter of one endpoint: its share of an account's slots and its limits per minute."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.domain.errors import RateLimited
from theodolite.domain.identity import digest
from theodolite.gateways.errors import AttemptError
from theodolite.ports.progress import Clock

if TYPE_CHECKING:
    from theodolite.gateways.rate_window import SharedWindow, Start, Window
    from theodolite.ports.limits import SharedLimits


START = 8
"""Initial number of calls in flight for an unknown account; count."""

COOLDOWN_S = 1.0
"""Minimum time between two reductions; seconds."""

LONGEST_COOLDOWN_S = 60.0
"""Maximum cooldown that an endpoint may request; seconds."""

SATURATED = 0.8
"""Share of the limit that must have been used before it may grow: an idle limit proves nothing."""

_FIRST_CUT = 0.5  # back to the value of a round trip ago

_CUT = 0.8

_STEP = 0.05


class AdaptiveLimit:
    """The number of calls that may be in flight, and how it changes.

    Attributes:
        limit: Calls that may be in flight now; count.
        ceiling: Calls that may ever be in flight; count.
    """

    __slots__ = (
        "_clean",
        "_counted_from",
        "_cut_to",
        "_in_flight_at_most",
        "_next_cut_s",
        "_refused_at",
        "_round",
        "_size",
        "_start",
        "ceiling",
        "limit",
    )

    def __init__(self, ceiling: int, *, start: int = START) -> None:
        """Start low.

        Args:
            ceiling: Calls that may ever be in flight; count.
            start: Calls that may be in flight at first; count.
        """
        self.ceiling = ceiling
        self.limit = min(start, ceiling)
        self._start = start
        self._round = 0
        self._counted_from = 0
        self._size = self.limit
        self._clean = 0
        self._in_flight_at_most = 0
        self._refused_at = 0
        self._cut_to = 0
        self._next_cut_s = float("-inf")

    def set_ceiling(self, ceiling: int, *, start: int) -> None:
        """Bound the limit by the leased slots; before the first result nothing is known.

        Args:
            ceiling: Leased slots; count.
            start: Calls that may be in flight at first; count.
        """
        self.ceiling = ceiling
        if not self._round and not self._clean:
            self.limit = self._size = min(start, ceiling)
        self.limit = min(self.limit, ceiling)

    def raise_ceiling(self, ceiling: int) -> None:
        """Allow at least this many calls; one account may serve several models."""
        self.ceiling = max(self.ceiling, ceiling)
        if not self._round and not self._clean:  # only the start value is known
            self.limit = self._size = min(self._start, self.ceiling)

    def began(self, in_flight: int) -> int:
        """Record a call's start, and return the number of its round.

        Args:
            in_flight: Calls in flight, including this one; count.
        """
        self._in_flight_at_most = max(self._in_flight_at_most, in_flight)
        return self._round

    def answered(self, begun_in: int, in_flight: int, *, now_s: float) -> None:
        """Record an answer, after which the limit may grow; after a first refusal, only once per round of answers.

        Args:
            begun_in: Result of `began`.
            in_flight: Calls in flight, including this one; count.
            now_s: The present moment; seconds.
        """
        if begun_in < self._counted_from:
            return
        self._clean += 1
        is_used_up = self._in_flight_at_most >= SATURATED * self._size
        if is_used_up and not self._refused_at:
            self.limit = min(self.ceiling, self.limit + 1)
        if self._clean < self._size:
            return
        if is_used_up and self._refused_at:
            self.limit = max(self.limit, self._grown(now_s))
        self._new_round(in_flight)

    def refused(self, begun_in: int, in_flight: int, *, now_s: float, asked_wait_s: float | None = None) -> None:
        """Record a refusal; it ends the round and usually reduces the limit.

        Calls that started before the last reduction were allowed by an earlier limit,
        so their rejections do not concern the current one.

        Args:
            begun_in: Result of `began`.
            in_flight: Calls in flight, including this one; count.
            now_s: The present moment; seconds.
            asked_wait_s: Requested delay; seconds.
        """
        if begun_in < self._counted_from:
            return
        factor = _CUT if self._refused_at else _FIRST_CUT
        self._refused_at = max(1, min(self.limit, self._in_flight_at_most))
        if now_s >= self._next_cut_s:
            self._cut_to = max(1, int(factor * self._refused_at))
            self._next_cut_s = now_s + min(LONGEST_COOLDOWN_S, max(COOLDOWN_S, asked_wait_s or 0.0))
        self.limit = min(self.limit, self._cut_to)
        self._new_round(in_flight)

    def _grown(self, now_s: float) -> int:
        below = self._refused_at - 1  # the number of accepted calls before the refused one
        grown = max(self.limit + max(1, round(_STEP * self.limit)), (self.limit + below) // 2)
        return min(self.ceiling, grown if now_s >= self._next_cut_s else min(grown, below))

    def _new_round(self, in_flight: int) -> None:
        """Restart the count; once the limit is known, calls under the former limit are not counted."""
        self._round += 1
        self._size = self.limit
        self._clean = 0
        if self._refused_at:
            self._counted_from = self._round
        self._in_flight_at_most = min(in_flight, self.limit)


REMEMBERED_S = 24 * 3600.0
"""Time that an account's last capacity serves as a hint; seconds."""

PAUSE_S = 1.0
"""Shortest time between two entries; seconds."""


class LimitLog:
    """One small file: a moment in seconds since 1970 and a count of calls.

    Attributes:
        noted: The stored value; 0 if there is none.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        """Set the path; the file is created with the first entry."""
        self._path = path
        self._clock = clock
        self.noted = 0
        self._next_s = float("-inf")

    def recall(self) -> int | None:
        """Return the number of concurrent calls that the account accepted; None if unknown or too old."""
        try:
            moment_s, limit = self._path.read_text(encoding="ascii", errors="replace").split()
            age_s = self._clock.now().timestamp() - float(moment_s)
            self.noted = max(0, int(limit))
        except (OSError, ValueError):  # a kill may leave half a line
            return None
        return self.noted if self.noted and age_s <= REMEMBERED_S else None

    def note(self, limit: int) -> None:
        """Record an account's capacity, unless it was just recorded.

        A log that cannot be written is ignored.
        """
        now_s = self._clock.monotonic_s()
        if now_s < self._next_s:
            return
        self.noted, self._next_s = limit, now_s + PAUSE_S
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(f"{self._clock.now().timestamp():.0f} {limit}\n", encoding="ascii")


def limit_log(folder: Path, clock: Clock, *parts: str) -> LimitLog:
    """Return the log of an account; its name is a hash, since hosts may contain any characters."""
    return LimitLog(folder / f"{digest(*parts)[:16]}.limit", clock)


PARALLEL = 256
"""Default limit of calls in flight; count."""

START_PRICED = 4
"""Initial number of calls in flight for an account whose calls cost money; count."""

MOST_AT_FIRST_PRICED = 32
"""Initial number of calls in flight if an earlier run showed that such an account supports more; count."""


ALONE_RENEWAL_S = 4.0
"""Interval at which a process without others renews its leases of slots; seconds."""

NO_SLOT_POLL_S = 0.5
"""Pause before slots are requested again after other workers have leased all of them; seconds."""


@dataclass(frozen=True, slots=True)
class SlotShare:
    """Slots of an account that several workers share.

    Attributes:
        limits: Leases them.
        account: Hash of host and name of the key.
    """

    limits: SharedLimits
    account: str


class SlotPool:
    """Assigns slots, first come first served, as many as the adaptive limit allows."""

    def __init__(
        self,
        clock: Clock,
        *,
        parallel: int = PARALLEL,
        start: int = START,
        most_at_first: int | None = None,
        log: LimitLog | None = None,
        share: SlotShare | None = None,
    ) -> None:
        """Have all slots free.

        Args:
            clock: Returns the current time.
            parallel: Maximum number of calls in flight; count.
            start: Maximum number of calls in flight at first, without a log; count.
            most_at_first: Initial limit of calls in flight, regardless of the log; count, None for no limit.
            log: Stores an account's capacity for the next process; None to discard it.
            share: Leases slots that several processes share; None for an account of this process alone.
        """
        self._clock = clock
        self._log = log
        start = (log.recall() if log is not None else None) or start
        start = start if most_at_first is None else min(start, most_at_first)
        self._limit = AdaptiveLimit(parallel, start=start)
        self._start = start
        self._parallel = parallel
        self._share = share
        self._leasing = asyncio.Lock()
        self._is_used = self._is_leased = False
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """Calls that may be in flight now; count."""
        return self._limit.limit

    def share(self, parallel: int) -> None:
        """Let one more model use the account; the largest requested limit applies to all."""
        self._parallel = max(self._parallel, parallel)
        self._limit.raise_ceiling(parallel)

    async def renew(self, *, is_needed: bool = True) -> None:
        """Adapt the leased slots to the number of workers; nothing happens before the first call.

        Args:
            is_needed: False if a recent lease suffices.
        """
        if self._share is None:
            return
        async with self._leasing:
            if self._is_leased and not is_needed:
                return
            lease = await self._share.limits.lease_slots(self._share.account, self._parallel, self._in_flight)
            self._limit.set_ceiling(lease.slots, start=max(1, self._start // lease.n_workers))
            self._is_used, self._is_leased = True, lease.slots > 0
        self._wake()

    def forget_lease(self) -> None:
        """Lease again before the next call."""
        self._is_used = self._is_leased = False

    @property
    def is_used(self) -> bool:
        """Whether calls were made since the last return of slots."""
        return self._is_used

    async def enter(self) -> int:
        """Wait for a slot and return the argument for `leave`."""
        while self._share is not None and not self._is_leased:
            await self.renew(is_needed=False)
            if not self._is_leased:
                await self._clock.sleep(NO_SLOT_POLL_S)
        if self._waiting or self._in_flight >= self._limit.limit:
            await self._wait()
        else:
            self._in_flight += 1
        return self._limit.began(self._in_flight)

    def answered(self, ticket: int) -> None:
        """Return a slot after an answer."""
        self._limit.answered(ticket, self._in_flight, now_s=self._clock.monotonic_s())
        self._remember()
        self.leave()

    def refused(self, ticket: int, asked_wait_s: float | None) -> None:
        """Return a slot after "too many requests"."""
        now_s = self._clock.monotonic_s()
        self._limit.refused(ticket, self._in_flight, now_s=now_s, asked_wait_s=asked_wait_s)
        self._remember()
        self.leave()

    def leave(self) -> None:
        """Return a slot after an outcome without information about the limit."""
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
            if turn.done() and not turn.cancelled():  # the slot was granted at the moment of the cancellation
                self.leave()
            raise

    def _wake(self) -> None:
        while self._waiting and self._in_flight < self._limit.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)


class SlotPools:
    """All accounts of a run: models with one host and one key share one.

    Attributes:
        windows: Limits per minute by host, name of the key and model; a new limit is added on first use.
    """

    def __init__(self, clock: Clock, *, folder: Path | None = None, limits: SharedLimits | None = None) -> None:
        """Know of none yet.

        Args:
            clock: Returns the current time.
            folder: Folder with each account's capacity; None to drop it.
            limits: Shares limits with other workers; None for limits of this process alone.
        """
        self._clock = clock
        self._folder = folder
        self.limits = limits
        self._n_others = 0
        self._next_renewal_s = clock.monotonic_s() + ALONE_RENEWAL_S
        self._accounts: dict[tuple[str, str], SlotPool] = {}
        self.windows: dict[tuple[str, str, str], Window | SharedWindow] = {}

    async def renew(self) -> None:
        """Adapt the leased slots to other workers; a process that is alone renews its lease less often."""
        if self.limits is None:
            return
        before, self._n_others = self._n_others, await self.limits.n_other_workers()
        now_s = self._clock.monotonic_s()
        if before or self._n_others or now_s >= self._next_renewal_s:
            self._next_renewal_s = now_s + ALONE_RENEWAL_S
            for account in self._accounts.values():
                if account.is_used:
                    await account.renew()

    async def give_back(self) -> None:
        """Return leased slots and requests; no call may be in flight."""
        if self.limits is None:
            return
        for window in self.windows.values():
            await window.give_back()
        for account in self._accounts.values():
            account.forget_lease()
        await self.limits.give_back()

    def of(self, host: str, variable: str, *, parallel: int = PARALLEL, is_priced: bool = False) -> SlotPool:
        """Return the account of a host and the name of a key.

        Args:
            host: Host, with the port where the address names one.
            variable: Environment variable that holds the key; empty for none.
            parallel: Maximum number of calls in flight that the study allows; count.
            is_priced: Whether calls cost money: few are in flight at first, so that an early kill repeats few.
        """
        account = self._accounts.get((host, variable))
        if account is None:
            log = limit_log(self._folder, self._clock, host, variable) if self._folder is not None else None
            start, most = (START_PRICED, MOST_AT_FIRST_PRICED) if is_priced else (START, None)
            share = None if self.limits is None else SlotShare(self.limits, digest("account", host, variable))
            account = SlotPool(self._clock, parallel=parallel, start=start, most_at_first=most, log=log, share=share)
            self._accounts[host, variable] = account
        account.share(parallel)
        return account


_PATIENT = 0.3

_BUSY = frozenset({503})
"""Statuses in addition to "too many requests" that report overload."""


@dataclass(frozen=True, slots=True)
class Permit:
    """The right to make one attempt.

    Attributes:
        ticket: The account's ticket to verify.
        start: Stored state of the window; None if there is no window.
        foreseen: The caller's estimate; count of tokens.
    """

    ticket: int
    start: Start | None = None
    foreseen: int = 0


class RateLimiter:
    """Decides when an attempt may start, and adapts to its outcome.

    The tokens that callers expect are a guess; the share of it that calls
    really take is learned: increases at once, decreases gradually.
    """

    def __init__(
        self,
        account: SlotPool,
        clock: Clock,
        *,
        window: Window | SharedWindow | None = None,
    ) -> None:
        """Wait for nothing yet.

        Args:
            account: Hands out slots.
            clock: Returns the current time and waits.
            window: Limits per minute; None for none.
        """
        self._account = account
        self._clock = clock
        self._window = window
        self._share_taken = 1.0
        self._queue: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    async def begin(self, tokens: int = 0) -> Permit:
        """Wait until an attempt may start.

        Args:
            tokens: Estimated tokens of the attempt; count.
        """
        if self._window is None:
            return Permit(await self._account.enter())
        async with self._first_come():
            return await self._through(self._window, tokens)

    async def wait_s(self, tokens: int = 0) -> float:
        """Return how long an attempt would wait now for its per-minute limit; seconds.

        Args:
            tokens: Estimated tokens of the attempt; count.
        """
        if self._window is None:
            return 0.0
        return await self._window.prepare(self._clock.monotonic_s(), math.ceil(tokens * self._share_taken))

    def end(
        self, permit: Permit, attempt_error: AttemptError | None, *, answered: bool, tokens: int | None = None
    ) -> None:
        """Record how an attempt ended.

        Args:
            permit: Result of `begin`.
            attempt_error: Error of the attempt; None also if it was cancelled.
            answered: Whether there was an answer.
            tokens: Actual use; count, None if unknown.
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

    async def _through(self, window: Window | SharedWindow, foreseen: int) -> Permit:
        """Take a slot and room in the window at the same moment, so that no slot waits."""
        while True:
            tokens = math.ceil(foreseen * self._share_taken)
            wait_s = await window.prepare(self._clock.monotonic_s(), tokens)
            if wait_s > 0:
                await self._clock.sleep(wait_s)
                continue
            ticket = await self._account.enter()
            now_s = self._clock.monotonic_s()
            if not window.has_room(now_s, tokens):
                self._account.leave()
                continue
            return Permit(ticket, window.start(now_s, tokens), foreseen)

    def _first_come(self) -> asyncio.Lock:
        """Return the queue of this event loop: without one, all waiting calls would wake for one slot."""
        loop = asyncio.get_running_loop()
        if self._queue is None or self._queue[0] is not loop:
            self._queue = (loop, asyncio.Lock())
        return self._queue[1]
