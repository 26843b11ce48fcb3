"""Sliding windows: limits on starts and tokens in any minute."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from theodolite.ports.limits import BlockRequest, SharedLimits, StartReport
from theodolite.ports.progress import Clock

SPAN_S = 60.0
"""Length of the window that providers mean by "per minute"; seconds."""

_MARGIN = 0.01
"""Fraction by which our window is longer than the provider's, because two clocks never agree."""

_UNDER_WAY = 0.05
"""Fraction of a window that a call may take to arrive; it counts from its arrival, which is unknown here."""

_SHORTEST_WAIT_S = 0.001


@dataclass(slots=True)
class Start:
    """One start within a window.

    Attributes:
        moment_s: Latest possible time of its arrival; seconds on the caller's clock.
        tokens: Actual or estimated use; count.
        is_past: Whether it has left the window.
    """

    moment_s: float
    tokens: int = 0
    is_past: bool = False


class Window:
    """Records starts and computes how long the next one has to wait.

    This is not a token bucket: a bucket lets nearly twice its size pass
    within one window. Here every start within the last window counts.
    The number of tokens is known only from the answer, so a start is recorded
    with an estimate and corrected afterwards.
    """

    __slots__ = ("_requests", "_span_s", "_starts", "_tokens", "_tokens_in_window", "_under_way_s")

    def __init__(self, *, requests: int | None = None, tokens: int | None = None, span_s: float = SPAN_S) -> None:
        """Start with an empty cache.

        Args:
            requests: Maximum number of starts in any window; count, None for no limit.
            tokens: Maximum number of tokens in any window; count, None for no limit.
            span_s: Length of the window; seconds.
        """
        self._requests = requests
        self._tokens = tokens
        self._span_s = span_s * (1 + _MARGIN)
        self._under_way_s = span_s * _UNDER_WAY
        self._starts: deque[Start] = deque()
        self._tokens_in_window = 0

    def keep_to(self, *, requests: int | None = None, tokens: int | None = None) -> None:
        """Observe these limits as well; the smallest of each applies.

        Args:
            requests: Maximum number of starts in any window; count, None for no further limit.
            tokens: Maximum number of tokens in any window; count, None for no further limit.
        """
        self._requests = _smallest(self._requests, requests)
        self._tokens = _smallest(self._tokens, tokens)

    def wait_s(self, now_s: float, tokens: int = 0) -> float:
        """Return how long a start has to wait; seconds, 0 if it is possible now.

        A call that exceeds the window on its own waits until the window is empty.

        Args:
            now_s: The present moment; seconds.
            tokens: Estimated tokens of the call; count.
        """
        self._forget(now_s)
        n_over = len(self._starts) + 1 - self._requests if self._requests is not None else 0
        tokens_over = self._tokens_in_window + tokens - self._tokens if self._tokens is not None else 0
        if n_over <= 0 and tokens_over <= 0:
            return 0.0
        free_at_s = now_s
        for start in self._starts:
            if n_over <= 0 and tokens_over <= 0:
                break
            n_over, tokens_over = n_over - 1, tokens_over - start.tokens
            free_at_s = max(free_at_s, start.moment_s + self._span_s)  # each is forgotten after those before it
        return max(_SHORTEST_WAIT_S, free_at_s - now_s) if self._starts else 0.0

    def has_room(self, now_s: float, tokens: int = 0) -> bool:
        """Return whether a start is possible now."""
        return self.wait_s(now_s, tokens) <= 0

    async def prepare(self, now_s: float, tokens: int = 0) -> float:
        """Return how long a start has to wait; seconds, 0 if it is possible now."""
        return self.wait_s(now_s, tokens)

    async def give_back(self) -> None:
        """Do nothing: this window belongs to one process."""

    def start(self, now_s: float, tokens: int = 0) -> Start:
        """Record a start and return it, to be settled later."""
        started = Start(now_s + self._under_way_s, tokens)
        self._starts.append(started)
        self._tokens_in_window += tokens
        return started

    def settle(self, start: Start, now_s: float, tokens: int | None = None) -> None:
        """Correct a start's estimate after its call has ended.

        Args:
            start: The return value of `start`.
            now_s: The present moment, at which it has arrived; seconds.
            tokens: Actual use; count, None if unknown.
        """
        start.moment_s = min(start.moment_s, now_s)
        if tokens is not None and not start.is_past:
            self._tokens_in_window += tokens - start.tokens
            start.tokens = tokens

    def _forget(self, now_s: float) -> None:
        while self._starts and now_s - self._starts[0].moment_s > self._span_s:
            oldest = self._starts.popleft()
            oldest.is_past = True
            self._tokens_in_window -= oldest.tokens


def _smallest(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


BLOCK_S = 2.0
"""Time in which the requests of a block must be sent; seconds."""

DENIED_POLL_S = 1.0
"""Longest pause before a denied block is requested again; seconds. Other workers may return theirs early."""


@dataclass(slots=True)
class _Block:
    """A leased block of requests.

    Attributes:
        number: Its number in the database.
        requests: Requests that may still be sent; count.
        tokens: Tokens that may still be taken; count, None for no limit.
        ends_s: Moment after which no request of it is sent; seconds on this process's clock.
        n_sent: Requests that were sent; count.
        n_under_way: Requests that have not ended; count.
        tokens_sent: Tokens that they took or are expected to take; count.
        arrived_s: Moment by which the last one had arrived; seconds.
    """

    number: int
    requests: int
    tokens: int | None
    ends_s: float
    n_sent: int = 0
    n_under_way: int = 0
    tokens_sent: int = 0
    arrived_s: float = 0.0


@dataclass(slots=True)
class SharedStart(Start):
    """One start of a block."""

    block: _Block | None = None


class SharedWindow:
    """A window that all workers of a database share: each leases blocks of requests from it.

    A block counts in full until its last request has left the window. A block that is used up or
    has ended is reported with the next request for a block: requests that were not sent return
    to the window at once, the others leave it a window after the last arrival.
    """

    __slots__ = (
        "_block",
        "_clock",
        "_key",
        "_limits",
        "_requests",
        "_to_report",
        "_tokens",
        "_wait_until_s",
        "_wanted",
    )

    def __init__(self, limits: SharedLimits, clock: Clock, key: str) -> None:
        """Start without leases.

        Args:
            limits: Leases blocks.
            clock: Returns the current time of this process.
            key: Hash of host, name of the key and model.
        """
        self._limits = limits
        self._clock = clock
        self._key = key
        self._requests: int | None = None
        self._tokens: int | None = None
        self._wanted = 1
        self._block: _Block | None = None
        self._to_report: list[_Block] = []
        self._wait_until_s = float("-inf")

    def keep_to(self, *, requests: int | None = None, tokens: int | None = None) -> None:
        """Observe these limits as well; the smallest of each applies."""
        self._requests = _smallest(self._requests, requests)
        self._tokens = _smallest(self._tokens, tokens)

    def has_room(self, now_s: float, tokens: int = 0) -> bool:
        """Return whether the present block has a request within the remaining tokens."""
        block = self._block
        if block is None or not block.requests or now_s >= block.ends_s:
            return False
        return block.tokens is None or tokens <= block.tokens

    async def prepare(self, now_s: float, tokens: int = 0) -> float:
        """Lease a block unless the current one has room, and return how long a start has to wait; seconds."""
        if self.has_room(now_s, tokens):
            return 0.0
        if now_s < self._wait_until_s:
            return self._wait_until_s - now_s
        self._close_block(now_s)
        done = [block for block in self._to_report if not block.n_under_way]
        answer = await self._limits.take_block(self._request(now_s, tokens))
        self._to_report = [block for block in self._to_report if block not in done]
        if answer.requests:
            # The age of the block counts from before the request: the database's moment is later.
            self._block = _Block(answer.number, answer.requests, answer.tokens, now_s + BLOCK_S)
            return 0.0
        self._wait_until_s = self._clock.monotonic_s() + min(answer.wait_s, DENIED_POLL_S)
        return min(answer.wait_s, DENIED_POLL_S)

    def start(self, now_s: float, tokens: int = 0) -> SharedStart:
        """Take a request of the present block, to be settled later."""
        block = self._block
        if block is None:
            message = "no block is leased; call `prepare` first"
            raise RuntimeError(message)
        block.requests -= 1
        block.tokens = None if block.tokens is None else block.tokens - tokens
        block.n_sent, block.n_under_way = block.n_sent + 1, block.n_under_way + 1
        block.tokens_sent += tokens
        return SharedStart(now_s + SPAN_S * _UNDER_WAY, tokens, block=block)

    def settle(self, start: Start, now_s: float, tokens: int | None = None) -> None:
        """Correct a start once its call has ended."""
        block = start.block if isinstance(start, SharedStart) else None
        if block is None:
            return
        start.moment_s = min(start.moment_s, now_s)
        block.arrived_s = max(block.arrived_s, start.moment_s)
        block.n_under_way -= 1
        if tokens is not None:
            block.tokens_sent += tokens - start.tokens
            start.tokens = tokens

    async def give_back(self) -> None:
        """Report the use of all blocks without leasing another one."""
        now_s = self._clock.monotonic_s()
        self._close_block(now_s)
        if self._to_report:
            await self._limits.take_block(replace(self._request(now_s, 0), wanted=0))
            self._to_report = [block for block in self._to_report if block.n_under_way]

    def _close_block(self, now_s: float) -> None:
        """End the present block; the next one has twice its size if it was used up in time, else half of it."""
        block, self._block = self._block, None
        if block is None:
            return
        is_used_up = not block.requests and now_s < block.ends_s
        self._wanted = 2 * (block.n_sent or 1) if is_used_up else max(1, block.n_sent)
        self._to_report.append(block)

    def _request(self, now_s: float, tokens: int) -> BlockRequest:
        return BlockRequest(
            key=self._key,
            requests=self._requests,
            tokens=self._tokens,
            span_s=SPAN_S * (1 + _MARGIN),
            valid_s=BLOCK_S + SPAN_S * _UNDER_WAY,
            wanted=self._wanted,
            tokens_each=tokens,
            reports=tuple(_report(block, now_s) for block in self._to_report),
        )


def _report(block: _Block, now_s: float) -> StartReport:
    age_s = None if block.n_under_way else now_s - block.arrived_s
    return StartReport(number=block.number, requests=block.n_sent, tokens=block.tokens_sent, age_s=age_s)
