"""A rate limiter brings slots and windows together, and learns what calls really take."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.fakes.clock import FakeClock
from theodolite.domain.errors import RateLimited, ServerFault, TimedOut
from theodolite.gateways.errors import AttemptError
from theodolite.gateways.rate_limiter import (
    COOLDOWN_S,
    PAUSE_S,
    REMEMBERED_S,
    START,
    AdaptiveLimit,
    LimitLog,
    RateLimiter,
    SlotPool,
    SlotPools,
    limit_log,
)
from theodolite.gateways.rate_window import Window


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
async def test_only_overload_errors_reduce_the_limit(attempt_error: AttemptError | None, limit: int) -> None:
    clock = FakeClock()
    account = SlotPool(clock)
    rate_limiter = RateLimiter(account, clock)
    turns = [await rate_limiter.begin() for _ in range(8)]

    for turn in turns:
        rate_limiter.end(turn, attempt_error, answered=False)

    assert account.limit == limit


async def test_a_call_waiting_for_its_minute_takes_no_slot_of_the_account() -> None:
    clock, sleeping = FakeClock(), asyncio.Event()
    account = SlotPool(clock, parallel=1)

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


async def test_the_estimate_follows_the_actual_usage() -> None:
    clock = FakeClock()
    window = Window(tokens=100_000)
    rate_limiter = RateLimiter(SlotPool(clock), clock, window=window)
    foreseen = []
    for _ in range(20):
        turn = await rate_limiter.begin(1_000)
        assert turn.start is not None
        foreseen.append(turn.start.tokens)
        rate_limiter.end(turn, None, answered=True, tokens=100)

    assert (foreseen[0], foreseen[1]) == (1_000, 730)
    assert 100 <= foreseen[-1] <= 102


async def test_a_call_above_its_estimate_raises_the_estimate_at_once() -> None:
    clock = FakeClock()
    rate_limiter = RateLimiter(SlotPool(clock), clock, window=Window(tokens=100_000))
    rate_limiter.end(await rate_limiter.begin(1_000), None, answered=True, tokens=3_000)

    turn = await rate_limiter.begin(1_000)

    assert turn.start is not None
    assert turn.start.tokens == 3_000


async def test_a_cancelled_wait_for_the_minute_admits_the_next_call() -> None:
    clock = FakeClock()
    rate_limiter = RateLimiter(SlotPool(clock), clock, window=Window(requests=1))
    rate_limiter.end(await rate_limiter.begin(), None, answered=True)
    first, second = (asyncio.create_task(rate_limiter.begin()) for _ in range(2))
    first.cancel()

    turn = await asyncio.wait_for(second, 1)

    assert turn.start is not None
    assert clock.passed_s > 60.0


async def test_the_delay_of_an_attempt_is_known_in_advance() -> None:
    clock = FakeClock()
    rate_limiter = RateLimiter(SlotPool(clock), clock, window=Window(tokens=1_000))
    before = await rate_limiter.wait_s(1_000)
    rate_limiter.end(await rate_limiter.begin(600), None, answered=True, tokens=600)

    waits = (before, await rate_limiter.wait_s(400), await rate_limiter.wait_s(401))
    assert waits == (0.0, 0.0, pytest.approx(60.6))
    assert await RateLimiter(SlotPool(clock), clock).wait_s(9_999) == 0.0


async def settle() -> None:
    """Let every task come to rest."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_concurrency_never_exceeds_the_limit() -> None:
    account = SlotPool(FakeClock(), parallel=3)
    tasks = [asyncio.create_task(account.enter()) for _ in range(5)]
    await settle()

    assert [task.done() for task in tasks] == [True, True, True, False, False]

    account.leave()
    await settle()
    assert [task.done() for task in tasks] == [True, True, True, True, False]
    tasks[4].cancel()


async def test_a_raised_limit_admits_all_waiting_calls() -> None:
    account = SlotPool(FakeClock(), parallel=256)
    tasks = [asyncio.create_task(account.enter()) for _ in range(24)]
    await settle()
    for task in tasks[:8]:
        account.answered(task.result())
    await settle()

    assert account.limit == 16
    assert sum(task.done() for task in tasks) == 24


@pytest.mark.parametrize("given_first", [False, True])
async def test_a_call_cancelled_while_waiting_takes_no_slot(given_first: bool) -> None:
    account = SlotPool(FakeClock(), parallel=1)
    await account.enter()
    waiting, next_one = asyncio.create_task(account.enter()), asyncio.create_task(account.enter())
    await settle()

    if given_first:
        account.leave()
        waiting.cancel()
    else:
        waiting.cancel()
        account.leave()
    await settle()

    assert waiting.cancelled()
    assert next_one.done()


async def test_a_refusal_halves_the_concurrency() -> None:
    clock = FakeClock()
    account = SlotPool(clock, parallel=8)
    tickets = [await account.enter() for _ in range(8)]

    for ticket in tickets:
        account.refused(ticket, None)

    assert account.limit == 4


def test_models_with_the_same_host_and_key_share_an_account() -> None:
    accounts = SlotPools(FakeClock())
    one = accounts.of("api.example", "KEY", parallel=4)

    assert accounts.of("api.example", "KEY", parallel=16) is one
    assert accounts.of("api.example", "OTHER") is not one
    assert accounts.of("local.example", "KEY") is not one


async def test_the_largest_configured_limit_applies_to_all_who_share_an_account() -> None:
    accounts = SlotPools(FakeClock())
    account = accounts.of("api.example", "KEY", parallel=4)
    accounts.of("api.example", "KEY", parallel=6)

    for ticket in [await account.enter() for _ in range(4)]:
        account.answered(ticket)

    assert account.limit == 6


def test_an_account_with_paid_calls_starts_with_fewer() -> None:
    accounts = SlotPools(FakeClock())

    assert accounts.of("a", "K", is_priced=True).limit == 4
    assert accounts.of("b", "K").limit == 8


def test_the_limit_of_an_earlier_run_is_partly_reused_for_paid_calls(tmp_path: Path) -> None:
    for is_priced, first in ((True, 32), (False, 200)):
        name = f"host-{is_priced}"
        limit_log(tmp_path, FakeClock(), name, "K").note(200)

        assert SlotPools(FakeClock(), folder=tmp_path).of(name, "K", is_priced=is_priced).limit == first


def a_round(limit: AdaptiveLimit, *, in_use: float = 1.0, now_s: float = 0.0) -> None:
    """Let a whole round of calls begin and be answered."""
    n_calls, most = limit.limit, max(1, int(limit.limit * in_use))
    for first in range(0, n_calls, most):
        batch = min(most, n_calls - first)
        begun = [limit.began(number + 1) for number in range(batch)]
        for left, ticket in zip(range(batch, 0, -1), begun, strict=True):
            limit.answered(ticket, left, now_s=now_s)


def overload(limit: AdaptiveLimit, *, now_s: float, asked_wait_s: float | None = None) -> None:
    """Let a full round begin and be refused throughout."""
    begun = [limit.began(number + 1) for number in range(limit.limit)]
    for left, ticket in zip(range(len(begun), 0, -1), begun, strict=True):
        limit.refused(ticket, left, now_s=now_s, asked_wait_s=asked_wait_s)


def test_each_saturated_round_without_errors_doubles_the_limit_up_to_the_maximum() -> None:
    limit, seen = AdaptiveLimit(50), []
    for _ in range(5):
        seen.append(limit.limit)
        a_round(limit)

    assert seen == [8, 16, 32, 50, 50]


def test_before_the_first_refusal_each_reply_raises_the_limit_by_one() -> None:
    limit = AdaptiveLimit(256)
    begun = [limit.began(number + 1) for number in range(8)]

    limit.answered(begun[0], 8, now_s=0.0)
    limit.answered(begun[1], 8, now_s=0.0)

    assert limit.limit == 10


def test_an_unused_limit_does_not_grow() -> None:
    limit = AdaptiveLimit(256)
    for _ in range(20):
        a_round(limit, in_use=0.7)

    assert limit.limit == 8


def test_the_first_refusals_restore_the_limit_of_one_round_trip_earlier() -> None:
    limit = AdaptiveLimit(256)
    a_round(limit)
    a_round(limit)

    overload(limit, now_s=0.0)

    assert limit.limit == 16


def test_after_a_cut_the_limit_recovers_by_halves_to_just_below_the_refused_level() -> None:
    limit, seen = AdaptiveLimit(256, start=40), []
    overload(limit, now_s=0.0)

    for _ in range(7):
        a_round(limit, now_s=0.1)
        seen.append(limit.limit)

    assert seen == [29, 34, 36, 38, 39, 39, 39]


def test_during_the_cooldown_the_limit_stays_below_the_refused_level() -> None:
    limit, seen = AdaptiveLimit(256, start=20), []
    overload(limit, now_s=0.0)
    overload(limit, now_s=2.0)
    for moment_s in (2.1, 2.2, 2.3, 2.4, 3.0, 3.1):
        a_round(limit, now_s=moment_s)
        seen.append(limit.limit)

    assert seen == [9, 9, 9, 9, 10, 11]


def test_a_refusal_during_the_cooldown_restores_the_level_of_the_cut() -> None:
    limit = AdaptiveLimit(256, start=40)
    overload(limit, now_s=0.0)
    for _ in range(3):
        a_round(limit, now_s=0.1)

    overload(limit, now_s=0.5)

    assert limit.limit == 20


def test_beyond_the_refused_level_a_limit_grows_by_a_twentieth_of_it() -> None:
    limit = AdaptiveLimit(256, start=200)
    overload(limit, now_s=0.0)
    for _ in range(8):
        a_round(limit, now_s=0.1)

    a_round(limit, now_s=2.0)

    assert limit.limit == 209


@pytest.mark.parametrize(
    ("asked_wait_s", "now_s", "cut"),
    [(None, 0.9 * COOLDOWN_S, 50), (None, COOLDOWN_S, 40), (30.0, 29.0, 50), (30.0, 30.0, 40), (9e9, 60.0, 40)],
)
def test_there_is_one_cut_per_cooldown(asked_wait_s: float | None, now_s: float, cut: int) -> None:
    limit = AdaptiveLimit(256, start=100)
    overload(limit, now_s=0.0, asked_wait_s=asked_wait_s)

    overload(limit, now_s=now_s)

    assert limit.limit == cut


def test_calls_started_before_a_cut_do_not_affect_the_new_limit() -> None:
    limit = AdaptiveLimit(256, start=100)
    late = [limit.began(number + 1) for number in range(100)]
    limit.refused(late.pop(), 100, now_s=0.0)

    for ticket in late:
        limit.refused(ticket, 10, now_s=99.0)

    assert limit.limit == 50


def test_the_limit_never_falls_below_one() -> None:
    limit = AdaptiveLimit(256)
    for moment in range(50):
        overload(limit, now_s=2.0 * moment)

    assert limit.limit == 1


def test_a_refusal_at_low_use_cuts_what_was_used() -> None:
    limit = AdaptiveLimit(256, start=100)
    ticket = limit.began(20)

    limit.refused(ticket, 20, now_s=0.0)

    assert limit.limit == 10


async def use(account: SlotPool, clock: FakeClock, *, rounds: int) -> None:
    """Use an account to its limit, so that it grows with each round, and a moment longer."""
    for _ in range(rounds):
        tickets = await asyncio.gather(*(account.enter() for _ in range(account.limit)))
        clock.passed_s += PAUSE_S
        for ticket in tickets:
            account.answered(ticket)
    clock.passed_s += PAUSE_S
    account.answered(await account.enter())


async def test_the_next_process_starts_at_the_last_limit(tmp_path: Path) -> None:
    clock = FakeClock()
    first = SlotPools(clock, folder=tmp_path).of("host", "KEY")
    assert first.limit == START
    await use(first, clock, rounds=3)

    second = SlotPools(clock, folder=tmp_path).of("host", "KEY")

    assert second.limit == first.limit == 8 * START
    assert SlotPools(clock, folder=tmp_path).of("host", "OTHER").limit == START


async def test_the_limit_of_a_model_cannot_be_exceeded(tmp_path: Path) -> None:
    clock = FakeClock()
    await use(SlotPools(clock, folder=tmp_path).of("host", "KEY"), clock, rounds=3)
    accounts = SlotPools(clock, folder=tmp_path)

    assert accounts.of("host", "KEY", parallel=20).limit == 20
    assert accounts.of("host", "KEY", parallel=50).limit == 50


@pytest.mark.parametrize(
    "text",
    ["", "17", "nonsense 5", "0 64", "1767225600 -3"],
    ids=["empty", "half", "words", "long ago", "less than none"],
)
def test_an_invalid_value_is_not_a_hint(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.limit"
    path.write_text(text)

    assert LimitLog(path, FakeClock()).recall() is None


def test_hints_expire_after_a_day(tmp_path: Path) -> None:
    clock = FakeClock()
    limit_log(tmp_path, clock, "host", "KEY").note(64)

    clock.passed_s = REMEMBERED_S - 1
    assert limit_log(tmp_path, clock, "host", "KEY").recall() == 64
    clock.passed_s = REMEMBERED_S + 1
    assert limit_log(tmp_path, clock, "host", "KEY").recall() is None


def test_an_unwritable_log_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    limit_log(tmp_path / "file", FakeClock(), "host", "KEY").note(64)
