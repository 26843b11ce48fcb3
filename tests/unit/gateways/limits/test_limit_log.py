"""What an account bore outlives the process that found it out."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.fakes.clock import FakeClock
from theodolite.gateways.limits.account import Account, Accounts
from theodolite.gateways.limits.adaptive_limit import START
from theodolite.gateways.limits.limit_log import PAUSE_S, REMEMBERED_S, LimitLog, limit_log


async def use(account: Account, clock: FakeClock, *, rounds: int) -> None:
    """Use an account to its limit, so that it grows with each round, and a moment longer."""
    for _ in range(rounds):
        tickets = await asyncio.gather(*(account.enter() for _ in range(account.limit)))
        clock.passed_s += PAUSE_S
        for ticket in tickets:
            account.answered(ticket)
    clock.passed_s += PAUSE_S
    account.answered(await account.enter())


async def test_the_next_process_begins_where_the_last_one_was(tmp_path: Path) -> None:
    clock = FakeClock()
    first = Accounts(clock, folder=tmp_path).of("host", "KEY")
    assert first.limit == START
    await use(first, clock, rounds=3)

    second = Accounts(clock, folder=tmp_path).of("host", "KEY")

    assert second.limit == first.limit == 8 * START
    assert Accounts(clock, folder=tmp_path).of("host", "OTHER").limit == START


async def test_a_model_that_allows_less_has_the_last_word(tmp_path: Path) -> None:
    clock = FakeClock()
    await use(Accounts(clock, folder=tmp_path).of("host", "KEY"), clock, rounds=3)
    accounts = Accounts(clock, folder=tmp_path)

    assert accounts.of("host", "KEY", parallel=20).limit == 20
    assert accounts.of("host", "KEY", parallel=50).limit == 50


@pytest.mark.parametrize(
    "text",
    ["", "17", "nonsense 5", "0 64", "1767225600 -3"],
    ids=["empty", "half", "words", "long ago", "less than none"],
)
def test_what_cannot_be_meant_is_no_hint(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.limit"
    path.write_text(text)

    assert LimitLog(path, FakeClock()).recall() is None


def test_a_day_later_nothing_is_known_any_more(tmp_path: Path) -> None:
    clock = FakeClock()
    limit_log(tmp_path, clock, "host", "KEY").note(64)

    clock.passed_s = REMEMBERED_S - 1
    assert limit_log(tmp_path, clock, "host", "KEY").recall() == 64
    clock.passed_s = REMEMBERED_S + 1
    assert limit_log(tmp_path, clock, "host", "KEY").recall() is None


def test_a_log_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    limit_log(tmp_path / "file", FakeClock(), "host", "KEY").note(64)
