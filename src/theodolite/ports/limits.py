"""The port to limits that several workers share: requests per minute, calls in flight, and the budget of a run.

Each worker leases a block of a limit and uses it without another call to the database. The
database compares moments by its own clock, so workers whose clocks differ agree. A block that
its worker does not return ends by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from theodolite.domain.run import Spending
from theodolite.domain.study import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class StartReport:
    """Use of a block of requests so far.

    Attributes:
        number: Number of the block.
        requests: Requests that were sent or may still be sent; count.
        tokens: Tokens that they took or are expected to take; count.
        age_s: Time since the last request arrived; seconds, None while its arrival is unknown.
    """

    number: int
    requests: int
    tokens: int
    age_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRequest:
    """Request for a block of requests per minute.

    Attributes:
        key: Hash of host, name of the key and model; 64 hexadecimal digits.
        requests: Requests in any window at most; count, None for no limit.
        tokens: Tokens in any window at most; count, None for no limit.
        span_s: Length of the window; seconds.
        valid_s: Time until the last request of the block has arrived; seconds.
        wanted: Requests that the block should have; count.
        tokens_each: Tokens that one request is expected to take; count.
        reports: Use of earlier blocks.
    """

    key: str
    requests: int | None
    tokens: int | None
    span_s: float
    valid_s: float
    wanted: int
    tokens_each: int
    reports: tuple[StartReport, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StartBlock:
    """Answer to a request for a block.

    Attributes:
        number: Number of the block; 0 if none was granted.
        requests: Requests in it; count, 0 if none was granted.
        tokens: Tokens in it; count, None for no limit.
        wait_s: Time until the next request may be granted; seconds, 0 if a block was granted.
        n_workers: Workers that use the limit, this one included; count.
    """

    number: int = 0
    requests: int = 0
    tokens: int | None = None
    wait_s: float = 0.0
    n_workers: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotLease:
    """Calls to one account that a worker may have in flight.

    Attributes:
        slots: Calls in flight at most; count.
        n_workers: Workers that use the account, this one included; count.
    """

    slots: int
    n_workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Part of a run's budget that a worker may use, calls in flight included.

    Attributes:
        calls: Calls; count, None for no limit.
        tokens: Tokens; count, None for no limit.
        microusd: Cost in millionths of a US dollar; None for no limit.
        spent: Cost of the run so far, as stored.
        is_contested: Whether other workers have a part of the budget that may return.
    """

    calls: int | None
    tokens: int | None
    microusd: int | None
    spent: Spending
    is_contested: bool

    def covers(self, cost: Spending) -> bool:
        """Return whether the part covers a cost; kinds of which the cost is zero are not compared."""
        amounts = amounts_of(cost)
        limits = (self.calls, self.tokens, self.microusd)
        return all(limit is None or not n or n <= limit for n, limit in zip(amounts, limits, strict=True))


def amounts_of(cost: Spending) -> tuple[int, int, int]:
    """Return calls, tokens and cost in millionths of a US dollar; estimated ones count like reported ones."""
    return cost.calls, cost.tokens + cost.estimated_tokens, cost.cost_microusd + cost.estimated_microusd


class SharedLimits(Protocol):
    """The limits of one worker among others on the same database."""

    async def take_block(self, request: BlockRequest) -> StartBlock:
        """Report the use of earlier blocks and lease another one.

        Raises:
            StoreError: If the database cannot be used.
        """
        ...

    async def lease_slots(self, account: str, parallel: int, in_flight: int) -> SlotLease:
        """Lease a fair share of the slots of an account; calls in flight count against the others' shares.

        Args:
            account: Hash of host and name of the key; 64 hexadecimal digits.
            parallel: Calls in flight at most over all workers; count.
            in_flight: Calls of this worker in flight; count.
        """
        ...

    async def allow(self, budget: Budget, committed: Spending, expected: Spending) -> Allowance:
        """Lease a part of the run's budget for this worker.

        Args:
            budget: Limits of the study.
            committed: Cost of calls in flight and of replies that are not stored yet.
            expected: Cost of the next call; zero to return everything that is not needed now.
        """
        ...

    async def n_other_workers(self) -> int:
        """Return the number of other workers on this database; count."""
        ...

    async def give_back(self) -> None:
        """Return slots and the part of the budget; blocks are returned by their reports."""
        ...


class LimitShares(Protocol):
    """A process's leases of shared limits."""

    async def renew(self) -> None:
        """Adapt leases to the number of workers."""
        ...

    async def give_back(self) -> None:
        """Return everything that is leased; a later call leases again."""
        ...
