"""Retrying: trying again as long as the retry policy allows, whatever an attempt consists of."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar, assert_never

from theodolite.domain.application import ModelEndpoint
from theodolite.domain.errors import GatewayError
from theodolite.domain.identity import keyed_draw
from theodolite.gateways.errors import Again, AttemptError
from theodolite.ports.progress import Clock

REFUSALS = 8
"""Refusals for "too many requests" that are borne for each attempt of a call; count."""

_DOUBLINGS = 64  # more than any wait is long; twice as much again would one day be too large for a number

_IN_MILLISECONDS = ("retry-after-ms", "x-ms-retry-after-ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Bounds of one call; nothing is tried without end.

    Attributes:
        timeout_s: For one attempt; seconds.
        deadline_s: For all attempts and the pauses between them; seconds. Waiting
            for a turn under the account's limits is not counted.
        connect_s: For one connection, name look-up included; seconds.
        attempts: Tries at most; count.
        attempts_once: Tries at most where the request may have been worked on
            already, since each of them may be paid for; count.
        refusals: Tries at most that end with "too many requests"; they spend no
            attempt. Count, None for as many as attempts.
        first_wait_s: Pause after the first try, doubled after each further one; seconds.
        longest_wait_s: Longest pause of our own choice; seconds.
        longest_asked_s: Longest pause that an endpoint may ask for; seconds.
    """

    timeout_s: float = 60.0
    deadline_s: float = 600.0
    connect_s: float = 10.0
    attempts: int = 5
    attempts_once: int = 2
    refusals: int | None = None
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    longest_asked_s: float = 120.0

    def attempt_s(self, spent_s: float) -> float:
        """Return how long the next attempt may take; seconds.

        Args:
            spent_s: What attempts and pauses have taken so far; seconds.
        """
        return min(self.timeout_s, self.deadline_s - spent_s)

    def wait_s(
        self, attempt_error: AttemptError, tries: int, key: str, *, spent_s: float = 0.0, refused: int = 0
    ) -> float | None:
        """Return the pause before the next try, or None when it is time to give up; seconds.

        The pause has jitter, so that calls that failed together do not come back
        together. It is drawn by key: the same call waits equally long each time.

        Args:
            attempt_error: How the last try ended.
            tries: Tries so far; count.
            key: What makes this call different from others.
            spent_s: What attempts and pauses have taken so far; seconds.
            refused: Tries among them that ended with "too many requests"; count.
        """
        pause_s = (
            self._pause_s(attempt_error, tries, key) if self._may_try_again(attempt_error, tries, refused) else None
        )
        return None if pause_s is None or spent_s + pause_s >= self.deadline_s else pause_s

    def _may_try_again(self, attempt_error: AttemptError, tries: int, refused: int) -> bool:
        match attempt_error.again:
            case Again.NEVER:
                return False
            case Again.WHEN_ASKED:
                return max(1, refused) < (self.attempts if self.refusals is None else self.refusals)
            case Again.ONCE:
                return tries - refused < min(self.attempts_once, self.attempts)
            case Again.UNTIL_SPENT:
                return tries - refused < self.attempts
            case _:
                assert_never(attempt_error.again)

    def _pause_s(self, attempt_error: AttemptError, tries: int, key: str) -> float | None:
        own = min(self.longest_wait_s, self.first_wait_s * 2.0 ** min(tries - 1, _DOUBLINGS))
        jittered = own * (0.5 + keyed_draw(tries, "backoff", key))
        if attempt_error.asked_wait_s is None:
            return jittered
        if attempt_error.asked_wait_s > self.longest_asked_s:
            return None
        return max(attempt_error.asked_wait_s, 0.0) + jittered * 0.1


def retry_policy_of(endpoint: ModelEndpoint) -> RetryPolicy:
    """Return the bounds of calls to a model; with one attempt nothing is tried twice, refusals included."""
    return RetryPolicy(
        timeout_s=endpoint.timeout_s,
        deadline_s=endpoint.deadline_s,
        attempts=endpoint.attempts,
        refusals=REFUSALS * endpoint.attempts if endpoint.attempts > 1 else 1,
    )


def asked_wait_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return what an answer's headers ask to wait; seconds, None where they do not say.

    Args:
        headers: Name in small letters to value. `Retry-After` holds seconds or an HTTP date; OpenAI and
            Azure tell it in milliseconds beside, which is closer.
        now: The present moment; UTC.
    """
    for name in _IN_MILLISECONDS:
        if (milliseconds := _number(headers.get(name, ""))) is not None:
            return milliseconds / 1000
    header = headers.get("retry-after", "")
    seconds = _number(header)
    return _until(header, now) if seconds is None else seconds


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _until(header: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):  # a year, or a distance from Greenwich, that no clock can show
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


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
