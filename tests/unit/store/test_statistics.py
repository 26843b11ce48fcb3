"""Counts for monitoring systems, on both databases."""

from __future__ import annotations

import pytest

from tests.fakes.builders import group, reply, study
from theodolite.domain.flow import JournalEntry
from theodolite.domain.run import Failure, FailureKind, FailureSource, Spending, UnitKind
from theodolite.store.statistics import COST_INTERVAL_S, Statistics
from theodolite.testing.planning import draw_plan
from theodolite.usecases.running import session_units


@pytest.fixture
async def store(database):
    """A store with two runs of one study; in the latest, one unit waits, one is leased and one failed."""
    store = database.open()
    await store.start()
    mine = study(personas=(group("Ana", "Ben", "Cem"),))
    plan, sessions = draw_plan(mine)
    for new_run in (False, True):
        run = store.open_run(mine, plan, new_run=new_run)
        store.add_units(run, session_units(mine, run, sessions), adopt=False)
    first, _second = store.claim(run, UnitKind.SESSION, owner="w1", limit=2, lease_s=60)
    paid = reply(tokens_in=100, tokens_out=20, cost_microusd=1_500_000)
    await store.append(first.key, JournalEntry(position=0, request_hash="0" * 64, reply=paid))
    failure = Failure(
        unit=first.key,
        label="d001",
        application="bot",
        party=FailureSource.APPLICATION,
        kind=FailureKind.TIMED_OUT,
        message="m",
        endpoint="bot",
    )
    await store.keep_failure(first, failure)
    yield store
    await store.stop()


async def test_units_leases_failures_workers_and_cost_of_the_latest_run_are_counted(store):
    numbers = {(name, frozenset(labels.values())): value for name, labels, value in store.statistics()}

    def value(name: str, *labels: str) -> float:
        return numbers[name, frozenset(labels)]

    assert value("runs", "small", "unfinished") == 2
    assert value("units", "small", "2", "session", "waiting", "yes") == 1
    assert value("units", "small", "2", "session", "failed", "yes") == 1
    assert value("queue_depth", "small", "2", "session") == 1
    assert value("queue_depth", "small", "2", "annotation") == 0
    assert value("leases", "small", "2", "session") == 1
    assert value("leases_expired", "small", "2", "session") == 0
    assert value("failures", "small", "2", "application", "timed out", "bot") == 1
    assert value("workers", "small", "2") == 1
    assert value("run_cost_usd", "small", "2") == 1.5
    assert value("run_tokens", "small", "2", "output") == 20
    assert ("units", frozenset({"small", "1", "session", "waiting", "yes"})) not in numbers


async def test_the_cost_of_a_run_is_summed_once_a_minute(store):
    asked, now_s = [], [0.0]

    def spending_of(run: int) -> Spending:
        asked.append(run)
        return Spending(cost_microusd=len(asked) * 1_000_000)

    statistics = Statistics(spending_of, lambda: now_s[0])

    def cost() -> float:
        read = store._executor.read(statistics.read)
        return next(sample.value for sample in read if sample.name == "run_cost_usd")

    assert (cost(), cost()) == (1.0, 1.0)
    now_s[0] = COST_INTERVAL_S
    assert cost() == 2.0
