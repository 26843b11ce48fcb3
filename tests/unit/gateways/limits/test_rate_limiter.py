"""A rate limiter brings slots and windows together, and learns what calls really take."""

import asyncio

import pytest

from tests.fakes.clock import FakeClock
from theodolite.domain.errors import RateLimited, ServerFault, TimedOut
from theodolite.gateways.attempt_error import AttemptError
from theodolite.gateways.limits.account import Account
from theodolite.gateways.limits.rate_limiter import RateLimiter
from theodolite.gateways.limits.window import Window


@pytest.mark.parametrize(
    ("attempt_error", "limit"),
    [
        (AttemptError(kind=RateLimited, words="429", status=429), 4),
        (AttemptError(kind=ServerFault, words="503", status=503), 4),
        (AttemptError(kind=ServerFault, words="500", status=500), 8),
        (AttemptError(kind=TimedOut, words="late"), 8),
        (None, 8),
    ],
    ids=["too many requests", "overloaded", "server error", "late", "broken off"],
)
async def test_only_what_speaks_of_overload_cuts_the_limit(attempt_error: AttemptError | None, limit: int) -> None:
    clock = FakeClock()
    account = Account(clock)
    rate_limiter = RateLimiter(account, clock)
    turns = [await rate_limiter.begin() for _ in range(8)]

    for turn in turns:
        rate_limiter.end(turn, attempt_error, answered=False)

    assert account.limit == limit


async def test_a_call_that_waits_for_its_minute_holds_no_slot_of_the_account() -> None:
    clock, sleeping = FakeClock(), asyncio.Event()
    account = Account(clock, parallel=1)

    class Stuck(FakeClock):
        async def sleep(self, duration_s: float) -> None:
            sleeping.set()
            await asyncio.Event().wait()

    rate_limiter = RateLimiter(account, Stuck(), window=Window(requests=1))
    rate_limiter.end(await rate_limiter.begin(), None, answered=True)
    waiting = asyncio.create_task(rate_limiter.begin())
    await sleeping.wait()

    turn = await asyncio.wait_for(RateLimiter(account, clock).begin(), 1)

    assert turn.start is None
    waiting.cancel()


async def test_what_calls_really_take_is_learned() -> None:
    clock = FakeClock()
    window = Window(tokens=100_000)
    rate_limiter = RateLimiter(Account(clock), clock, window=window)
    foreseen = []
    for _ in range(20):
        turn = await rate_limiter.begin(1_000)
        assert turn.start is not None
        foreseen.append(turn.start.tokens)
        rate_limiter.end(turn, None, answered=True, tokens=100)

    assert (foreseen[0], foreseen[1]) == (1_000, 730)
    assert 100 <= foreseen[-1] <= 102


async def test_a_call_that_takes_more_than_foreseen_raises_the_estimate_at_once() -> None:
    clock = FakeClock()
    rate_limiter = RateLimiter(Account(clock), clock, window=Window(tokens=100_000))
    rate_limiter.end(await rate_limiter.begin(1_000), None, answered=True, tokens=3_000)

    turn = await rate_limiter.begin(1_000)

    assert turn.start is not None
    assert turn.start.tokens == 3_000


async def test_a_broken_off_wait_for_the_minute_lets_the_next_one_through() -> None:
    clock = FakeClock()
    rate_limiter = RateLimiter(Account(clock), clock, window=Window(requests=1))
    rate_limiter.end(await rate_limiter.begin(), None, answered=True)
    first, second = (asyncio.create_task(rate_limiter.begin()) for _ in range(2))
    first.cancel()

    turn = await asyncio.wait_for(second, 1)

    assert turn.start is not None
    assert clock.passed_s > 60.0


async def test_how_long_an_attempt_would_wait_is_told_beforehand() -> None:
    clock = FakeClock()
    rate_limiter = RateLimiter(Account(clock), clock, window=Window(tokens=1_000))
    before = rate_limiter.wait_s(1_000)
    rate_limiter.end(await rate_limiter.begin(600), None, answered=True, tokens=600)

    assert (before, rate_limiter.wait_s(400), rate_limiter.wait_s(401)) == (0.0, 0.0, pytest.approx(60.6))
    assert RateLimiter(Account(clock), clock).wait_s(9_999) == 0.0
