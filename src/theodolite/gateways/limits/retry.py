"""Retrying: trying again as long as the retry policy allows, whatever an attempt consists of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from theodolite.domain.errors import GatewayError
from theodolite.gateways.attempt_error import Again, AttemptError
from theodolite.gateways.limits.retry_policy import RetryPolicy
from theodolite.ports.clock import Clock

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetriesExhausted:
    """A request that brought no answer, after all tries."""

    attempt_error: AttemptError
    tries: int
    elapsed_s: float

    def error(self, *, endpoint: str, host: str = "") -> GatewayError:
        """Return the error that people read, with the effort that was made."""
        return self.attempt_error.error(endpoint=endpoint, host=host, tries=self.tries, elapsed_s=self.elapsed_s)


async def retry(
    attempt: Callable[[float], Awaitable[tuple[T | AttemptError, float]]],
    *,
    retry_policy: RetryPolicy,
    clock: Clock,
    key: Callable[[], str],
) -> tuple[T, int] | RetriesExhausted:
    """Try as often as the retry policy allows.

    Args:
        attempt: Makes one try; is told how many seconds attempts and pauses have taken so far, and
            returns how it ended and how many seconds it took, waiting for its turn not counted.
        retry_policy: Bounds of the call.
        clock: Tells the time and waits between tries.
        key: Tells what makes this call different from others; asked for only where a try failed.

    Returns:
        What came and the number of tries, or what it was given up for.
    """
    begun = clock.monotonic_s()
    tries, refused, spent_s = 0, 0, 0.0
    while True:
        tries += 1
        outcome, took_s = await attempt(spent_s)
        if not isinstance(outcome, AttemptError):
            return outcome, tries
        spent_s += took_s
        refused += outcome.again is Again.WHEN_ASKED
        wait_s = retry_policy.wait_s(outcome, tries, key(), spent_s=spent_s, refused=refused)
        if wait_s is None:
            return RetriesExhausted(attempt_error=outcome, tries=tries, elapsed_s=clock.monotonic_s() - begun)
        spent_s += wait_s
        await clock.sleep(wait_s)
