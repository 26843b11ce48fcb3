"""Slots go to whoever came first, and none is ever lost."""

import asyncio
from pathlib import Path

import pytest

from tests.fakes.clock import FakeClock
from theodolite.gateways.limits.account import Account, Accounts
from theodolite.gateways.limits.limit_log import limit_log


async def settle() -> None:
    """Let every task come to rest."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_no_more_enter_than_the_limit_allows() -> None:
    account = Account(FakeClock(), parallel=3)
    tasks = [asyncio.create_task(account.enter()) for _ in range(5)]
    await settle()

    assert [task.done() for task in tasks] == [True, True, True, False, False]

    account.leave()
    await settle()
    assert [task.done() for task in tasks] == [True, True, True, True, False]
    tasks[4].cancel()


async def test_a_limit_that_grows_lets_all_waiting_calls_in() -> None:
    account = Account(FakeClock(), parallel=256)
    tasks = [asyncio.create_task(account.enter()) for _ in range(24)]
    await settle()
    for task in tasks[:8]:
        account.answered(task.result())
    await settle()

    assert account.limit == 16
    assert sum(task.done() for task in tasks) == 24


@pytest.mark.parametrize("given_first", [False, True])
async def test_a_call_that_is_cancelled_while_it_waits_takes_no_slot_with_it(given_first: bool) -> None:
    account = Account(FakeClock(), parallel=1)
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


async def test_a_refusal_halves_what_may_be_in_flight() -> None:
    clock = FakeClock()
    account = Account(clock, parallel=8)
    tickets = [await account.enter() for _ in range(8)]

    for ticket in tickets:
        account.refused(ticket, None)

    assert account.limit == 4


def test_models_with_one_host_and_one_key_share_an_account() -> None:
    accounts = Accounts(FakeClock())
    one = accounts.of("api.example", "KEY", parallel=4)

    assert accounts.of("api.example", "KEY", parallel=16) is one
    assert accounts.of("api.example", "OTHER") is not one
    assert accounts.of("local.example", "KEY") is not one


async def test_the_largest_wish_is_the_bound_for_all_who_share() -> None:
    accounts = Accounts(FakeClock())
    account = accounts.of("api.example", "KEY", parallel=4)
    accounts.of("api.example", "KEY", parallel=6)

    for ticket in [await account.enter() for _ in range(4)]:
        account.answered(ticket)

    assert account.limit == 6


def test_an_account_whose_calls_cost_money_begins_with_fewer() -> None:
    accounts = Accounts(FakeClock())

    assert accounts.of("a", "K", is_priced=True).limit == 4
    assert accounts.of("b", "K").limit == 8


def test_what_an_earlier_run_learned_counts_in_part_where_calls_cost_money(tmp_path: Path) -> None:
    for is_priced, first in ((True, 32), (False, 200)):
        name = f"host-{is_priced}"
        limit_log(tmp_path, FakeClock(), name, "K").note(200)

        assert Accounts(FakeClock(), folder=tmp_path).of(name, "K", is_priced=is_priced).limit == first
