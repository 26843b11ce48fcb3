"""Limits shared through a database hold when workers join, leave or are killed.

The database's clock is the test's: no test waits, and each worker's own clock differs from it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from random import Random

import pytest

from tests.contract.given import a_plan, a_session, a_study, an_entry
from tests.databases import Database
from tests.fakes.clock import FakeClock
from theodolite.domain.run import Run, Spending, UnitKind
from theodolite.domain.study import Budget
from theodolite.execution.run_worker import LEASE_S
from theodolite.gateways.rate_limiter import RateLimiter, SlotPool, SlotPools
from theodolite.gateways.rate_window import SharedWindow
from theodolite.ports.limits import BlockRequest
from theodolite.store import fields
from theodolite.store.django_store import DjangoStore

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

KEY = "ab" * 32


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock of the database."""
    clock = FakeClock()
    kinds = {"sqlite": "", "postgresql": "::double precision"}
    monkeypatch.setattr(fields, "clock_words", lambda vendor: f"({1_000_000 + clock.passed_s:.6f}{kinds[vendor]})")
    return clock


@dataclass
class SkewedClock:
    """A worker's clock: it runs with the database's and shows another time."""

    base: FakeClock
    ahead_s: float

    def now(self):
        return self.base.now()

    def monotonic_s(self) -> float:
        return self.base.passed_s + self.ahead_s

    async def sleep(self, duration_s: float) -> None:
        await self.base.sleep(duration_s)


class Worker:
    """A process with a limit per minute."""

    def __init__(self, store: DjangoStore, clock: FakeClock, number: int, rpm: int) -> None:
        own = SkewedClock(clock, 3_600.0 * number)
        self.window = SharedWindow(store.limits_of(f"w{number}"), own, KEY)
        self.window.keep_to(requests=rpm)
        self.rate_limiter = RateLimiter(SlotPool(own), own, window=self.window)

    async def start(self) -> None:
        self.rate_limiter.end(await self.rate_limiter.begin(), None, answered=True)


@pytest.mark.parametrize("seed", range(4))
async def test_requests_in_any_minute_never_exceed_the_limit(database: Database, clock: FakeClock, seed: int) -> None:
    random, store, moments, rpm = Random(seed), database.open(), [], 1 + 7 * seed  # noqa: S311 - a test's own draws
    workers = [Worker(store, clock, number, rpm) for number in range(4)]

    for _ in range(120):
        clock.passed_s += random.choice((0.0, 0.0, 0.01, 0.5, 7.0))
        if random.random() < 0.05:  # killed: the blocks of this worker are never reported
            workers[random.randrange(4)] = Worker(store, clock, random.randrange(4, 99), rpm)
        await random.choice(workers).start()
        moments.append(clock.passed_s)

    assert max(sum(start <= other <= start + 60.0 for other in moments) for start in moments) <= rpm
    assert moments == sorted(moments)


async def test_unsent_requests_are_returned_to_the_window(database: Database, clock: FakeClock) -> None:
    store = database.open()
    first, second = (Worker(store, clock, number, rpm=8) for number in range(2))
    for _ in range(4):
        await first.start()
    await first.window.give_back()

    for _ in range(4):
        await second.start()

    assert clock.slept == []


async def test_calls_under_way_count_until_they_have_arrived(database: Database, clock: FakeClock) -> None:
    limits = database.open().limits_of("w1")
    request = BlockRequest(key=KEY, requests=1, tokens=None, span_s=60.0, valid_s=5.0, wanted=1, tokens_each=0)
    assert (await limits.take_block(request)).requests == 1
    clock.passed_s += 64.0

    denied = await limits.take_block(request)

    assert (denied.requests, denied.wait_s) == (0, pytest.approx(1.0))


async def test_workers_converge_to_equal_shares_of_an_account(database: Database, clock: FakeClock) -> None:
    store = database.open()
    one, two, three = (store.limits_of(f"w{number}") for number in range(3))

    alone = await one.lease_slots(KEY, 10, 0)
    newcomer = await two.lease_slots(KEY, 10, 0)
    still_busy = await one.lease_slots(KEY, 10, 9)
    before = await two.lease_slots(KEY, 10, 0)
    drained = await one.lease_slots(KEY, 10, 5)
    after = await two.lease_slots(KEY, 10, 0)

    assert [lease.slots for lease in (alone, newcomer, still_busy, before, drained, after)] == [10, 1, 5, 1, 5, 5]
    assert (await three.lease_slots(KEY, 10, 0)).slots == 1
    clock.passed_s += 11.0
    assert (await three.lease_slots(KEY, 10, 0)).slots == 10


async def test_a_single_process_writes_nothing_after_its_first_call(database: Database, clock: FakeClock) -> None:
    limits = database.open().limits_of("w1")
    pools = SlotPools(clock, limits=limits)
    pool, written = pools.of("host", "KEY"), []
    limits_write = limits.lease_slots

    async def lease_slots(*what: object) -> object:
        written.append(what)
        return await limits_write(*what)

    limits.lease_slots = lease_slots
    for _ in range(20):
        pool.answered(await pool.enter())
        await pools.renew()

    assert len(written) == 1


@pytest.fixture
def run(database: Database) -> Run:
    return _a_run_on(database)


def _a_run_on(database: Database) -> Run:
    store = database.open()
    run = store.open_run(a_study(), a_plan())
    store.add_units(run, [a_session(run, number) for number in range(8)])
    return run


CALL = Spending(calls=1)


async def test_workers_share_one_budget(database: Database, clock: FakeClock, run: Run) -> None:
    store, budget = database.open(), Budget(calls=10)
    for owner in ("w1", "w2"):
        store.claim(run, UnitKind.SESSION, owner=owner, limit=2, lease_s=60.0)
    one, two = (store.limits_of(owner) for owner in ("w1", "w2"))

    first = await one.allow(budget, Spending(), CALL)
    second = await two.allow(budget, Spending(), CALL)
    rest = await one.allow(budget, replace(CALL, calls=2), Spending())
    store.release("w2")
    alone = await one.allow(budget, replace(CALL, calls=2), CALL)

    assert (first.calls, first.is_contested) == (2, False)
    assert (second.calls, second.is_contested) == (2, True)
    assert (rest.calls, rest.is_contested) == (3, True)
    assert (alone.calls, alone.is_contested) == (10, False)


async def test_a_leased_budget_limits_others_until_its_worker_dies(
    database: Database, clock: FakeClock, run: Run
) -> None:
    store, budget = database.open(), Budget(calls=4)
    store.claim(run, UnitKind.SESSION, owner="w1", limit=1, lease_s=60.0)
    await store.limits_of("w1").allow(budget, Spending(), CALL)
    store.claim(run, UnitKind.SESSION, owner="w2", limit=1, lease_s=90.0)

    denied = await store.limits_of("w2").allow(budget, Spending(), CALL)
    clock.passed_s += 61.0
    granted = await store.limits_of("w2").allow(budget, Spending(), CALL)

    assert (denied.calls, denied.is_contested) == (0, True)
    assert (granted.calls, granted.is_contested) == (4, False)


async def test_stored_replies_count_in_the_budget(database: Database, clock: FakeClock, run: Run) -> None:
    store = database.open()
    await store.start()
    (unit,) = store.claim(run, UnitKind.SESSION, owner="w1", limit=1, lease_s=60.0)
    await store.append(unit.key, an_entry(0))
    await store.stop()
    store.claim(run, UnitKind.SESSION, owner="w1", limit=1, lease_s=60.0)

    allowance = await store.limits_of("w1").allow(Budget(calls=3), Spending(), CALL)

    assert (allowance.calls, allowance.spent.calls) == (2, 1)


async def test_near_the_end_of_a_run_each_worker_leases_a_part(database: Database, clock: FakeClock, run: Run) -> None:
    store = database.open()
    store.claim(run, UnitKind.SESSION, owner="w1", limit=1, lease_s=60.0)

    sizes = [len(store.claim(run, UnitKind.SESSION, owner=f"w{number}", limit=8, lease_s=60.0)) for number in (2, 3, 1)]

    assert sizes == [1, 1, 1]


async def test_units_of_a_worker_without_heartbeat_are_leased_by_others_after_one_lease(
    database: Database, clock: FakeClock, run: Run
) -> None:
    """The clock is the database's alone, so the clocks of the machines do not count."""
    store = database.open()

    def claim(owner: str, limit: int) -> set[str]:
        return {unit.key for unit in store.claim(run, UnitKind.SESSION, owner=owner, limit=limit, lease_s=LEASE_S)}

    killed, alive, rest, taken = claim("killed", 4), claim("alive", 1), set[str](), []
    while units := claim("other", 8):
        rest |= units

    for _ in range(4):
        clock.passed_s += LEASE_S / 3
        store.renew("alive", LEASE_S)
        store.renew("other", LEASE_S)
        taken.append(claim("other", 8))

    assert (len(killed), len(alive), len(rest)) == (4, 1, 3)
    assert taken[:3] == [set(), set(), set()]
    assert taken[3] < killed
    assert taken[3] | claim("other", 8) | claim("alive", 8) | claim("other", 8) == killed


async def test_units_of_a_killed_worker_are_leased_many_at_a_time(
    database: Database, clock: FakeClock, run: Run
) -> None:
    store = database.open()
    for owner in ("killed", "first", "second"):
        store.claim(run, UnitKind.SESSION, owner=owner, limit=8, lease_s=LEASE_S)
    clock.passed_s += LEASE_S + 1.0
    store.renew("first", LEASE_S)
    store.renew("second", LEASE_S)

    assert len(store.claim(run, UnitKind.SESSION, owner="first", limit=8, lease_s=LEASE_S)) == 2


def _wait_for_a_death(store: DjangoStore, run: Run) -> None:
    """Wait until the server has noticed that a connection ended."""
    while all(worker.is_alive for worker in store.workers(run)):
        time.sleep(0.01)


async def test_the_end_of_a_postgresql_session_releases_units_slots_and_budget_at_once(
    postgresql: Database, clock: FakeClock
) -> None:
    run = _a_run_on(postgresql)
    killed, other = postgresql.open(), postgresql.open()
    other.claim(run, UnitKind.SESSION, owner="other", limit=2, lease_s=LEASE_S)
    units = killed.claim(run, UnitKind.SESSION, owner="killed", limit=1, lease_s=LEASE_S)
    await killed.limits_of("killed").lease_slots(KEY, 10, 8)
    assert len(other.workers(run)) == 2

    killed.disconnect()
    _wait_for_a_death(other, run)
    other.renew("other", LEASE_S)

    assert [worker.name for worker in other.workers(run)] == ["other"]
    assert (await other.limits_of("other").lease_slots(KEY, 10, 0)).slots == 10
    taken = other.claim(run, UnitKind.SESSION, owner="other", limit=8, lease_s=LEASE_S)
    assert units[0].key in {unit.key for unit in taken}


def test_a_reconnected_worker_is_alive_and_joins_again_if_it_was_declared_dead(
    postgresql: Database, clock: FakeClock
) -> None:
    run = _a_run_on(postgresql)
    shaky, other = postgresql.open(), postgresql.open()
    other.claim(run, UnitKind.SESSION, owner="other", limit=1, lease_s=LEASE_S)
    mine = {unit.key for unit in shaky.claim(run, UnitKind.SESSION, owner="shaky", limit=1, lease_s=LEASE_S)}

    shaky.disconnect()
    _wait_for_a_death(other, run)
    shaky.claim(run, UnitKind.SESSION, owner="shaky", limit=1, lease_s=LEASE_S)  # in time: its units stay its own
    other.renew("other", LEASE_S)
    kept = shaky.renew("shaky", LEASE_S)
    shaky.disconnect()
    _wait_for_a_death(other, run)
    other.renew("other", LEASE_S)  # takes the units of `shaky`
    lost = shaky.renew("shaky", LEASE_S)
    again = shaky.claim(run, UnitKind.SESSION, owner="shaky", limit=1, lease_s=LEASE_S)

    assert mine < kept
    assert lost == frozenset()
    assert len(again) == 1
    assert [worker.is_alive for worker in other.workers(run)] == [True, True]
