"""The database's errors in the program's words, and the thread that commits all queued writes at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import pytest
from django.db import utils

from tests.contract.given import an_entry
from theodolite.domain.errors import Conflict, StorageUnavailable, StoreError, WrongSchema
from theodolite.store import executor as writer_module
from theodolite.store.executor import (
    BATCHES_LEFT,
    MAX_QUEUED,
    PERIOD_S,
    Cadence,
    Commit,
    KeepReply,
    Place,
    Write,
    Writer,
    translate,
)

EXPECTED = {
    utils.Error: StorageUnavailable,
    utils.InterfaceError: StorageUnavailable,
    utils.DatabaseError: StorageUnavailable,
    utils.DataError: StoreError,
    utils.OperationalError: StorageUnavailable,
    utils.IntegrityError: StoreError,
    utils.InternalError: StorageUnavailable,
    utils.ProgrammingError: WrongSchema,
    utils.NotSupportedError: WrongSchema,
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place({"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "theodolite.db")}, tmp_path)


def test_every_database_error_is_known() -> None:
    errors = {error for error in vars(utils).values() if isinstance(error, type) and issubclass(error, utils.Error)}

    assert errors == set(EXPECTED)


@pytest.mark.parametrize("error", EXPECTED, ids=lambda error: error.__name__)
def test_every_database_error_is_translated(error: type[utils.Error], place: Place) -> None:
    assert type(translate(error("what it says"), place)) is EXPECTED[error]


def test_a_duplicate_write_is_a_conflict(place: Place) -> None:
    assert isinstance(translate(utils.IntegrityError("UNIQUE constraint failed: a.b"), place), Conflict)


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("database or disk is full", "MiB are free"),
        ("could not extend file: No space left on device", "MiB are free"),
        ("database is locked", "Another program holds it"),
        ("canceling statement due to lock timeout", "Another program holds it"),
        ("attempt to write a readonly database", "right to write"),
        ("unable to open database file", "may be written to"),
        ("database disk image is malformed", "Put a copy of it back"),
        ("file is not a database", "Put a copy of it back"),
        ("connection refused", "can be reached"),
    ],
)
def test_the_advice_matches_the_error(said: str, advice: str, place: Place) -> None:
    place.last_written = "the dialogue `d004`"

    message = str(translate(utils.OperationalError(said), place))

    assert said in message
    assert advice in message
    assert "Written last: the dialogue `d004`" in message
    assert message.endswith("run the same command again.")


def test_a_server_is_named_without_its_password(tmp_path: Path) -> None:
    server = {"ENGINE": "django.db.backends.postgresql", "NAME": "lab", "HOST": "db.example", "PASSWORD": "secret"}

    message = str(translate(utils.OperationalError("gone"), Place(server, tmp_path)))

    assert "`lab` on db.example" in message
    assert "secret" not in message


def test_an_unwritable_folder_is_translated_too(place: Place) -> None:
    with pytest.raises(StorageUnavailable, match="No space"), place.translated():
        raise OSError(28, "No space left on device")


def a_write(number: int = 0) -> KeepReply:
    return KeepReply(unit="u", entry=an_entry(number))


def nothing() -> None:
    """Stand in for what is done at the thread's start and end."""


def a_writer(commit: Commit, after: Callable[[], None] = nothing) -> Writer:
    return Writer(commit, before=nothing, after=after)


class Gate:
    """Commits; the first batch waits until it is opened."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.opened = Event()

    def __call__(self, batch: Sequence[Write]) -> list[None]:
        self.opened.wait()
        self.batches.append(len(batch))
        return [None] * len(batch)


async def test_concurrent_writes_are_committed_together() -> None:
    gate = Gate()
    writer = a_writer(gate)
    first = asyncio.create_task(writer.put(a_write()))
    await asyncio.sleep(0.05)
    others = [asyncio.create_task(writer.put(a_write(number))) for number in range(1, 6)]
    await asyncio.sleep(0)

    gate.opened.set()
    await asyncio.gather(first, *others)

    assert gate.batches == [1, 5]
    await writer.stop()


async def test_the_queue_is_bounded() -> None:
    gate = Gate()
    writer = a_writer(gate)
    tasks = [asyncio.create_task(writer.put(a_write(number))) for number in range(MAX_QUEUED + 100)]
    await asyncio.sleep(0.05)

    assert len(writer._waiting) <= MAX_QUEUED

    gate.opened.set()
    await asyncio.gather(*tasks)
    assert sum(gate.batches) == MAX_QUEUED + 100
    await writer.stop()


async def test_stopping_commits_queued_writes() -> None:
    gate = Gate()
    writer = a_writer(gate)
    tasks = [asyncio.create_task(writer.put(a_write(number))) for number in range(5)]
    await asyncio.sleep(0.05)
    gate.opened.set()

    await writer.stop()

    assert sum(gate.batches) == 5
    assert await asyncio.gather(*tasks) == [None] * 5


async def test_after_the_stop_no_write_is_accepted() -> None:
    writer = a_writer(Gate())
    await writer.stop()

    with pytest.raises(StoreError, match="stopped"):
        await writer.put(a_write())


async def test_a_cancelled_caller_does_not_affect_others() -> None:
    gate = Gate()
    writer = a_writer(gate)
    tasks = [asyncio.create_task(writer.put(a_write(number))) for number in range(3)]
    await asyncio.sleep(0.05)
    tasks[1].cancel()
    gate.opened.set()

    outcomes = await asyncio.gather(*tasks, return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [type(None), asyncio.CancelledError, type(None)]
    await writer.stop()


async def test_a_thread_that_cannot_start_informs_its_callers() -> None:
    def cannot() -> None:
        raise MemoryError

    writer = Writer(Gate(), before=cannot, after=nothing)

    with pytest.raises(StorageUnavailable, match="MemoryError"):
        await writer.put(a_write())
    await writer.stop()


async def test_cleanup_runs_after_every_error() -> None:
    tidied = []

    def die(batch: Sequence[Write]) -> list[None]:
        raise SystemExit

    writer = a_writer(die, after=lambda: tidied.append(True))
    with pytest.raises(StorageUnavailable):
        await writer.put(a_write())
    await writer.stop()

    assert tidied == [True]


async def test_writes_soon_after_a_batch_are_grouped_except_at_shutdown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer_module, "PERIOD_S", 60.0)
    gate = Gate()
    gate.opened.set()
    writer = a_writer(gate)
    await writer.put(a_write())
    waiting = []
    for number in (1, 2):
        waiting.append(asyncio.create_task(writer.put(a_write(number))))
        await asyncio.sleep(0.01)

    assert gate.batches == [1]
    await writer.stop()
    await asyncio.gather(*waiting)

    assert gate.batches == [1, 2]


def test_the_first_batch_is_written_at_once() -> None:
    assert Cadence().wait_s(1, 0.0) <= 0


def test_infrequent_writes_never_wait() -> None:
    cadence = Cadence()
    cadence.handed_over(1, 0.0)

    assert cadence.wait_s(1, PERIOD_S) <= 0


def test_a_batch_soon_after_another_waits_for_the_rest_of_the_interval() -> None:
    cadence = Cadence()
    cadence.handed_over(1, 1.0)

    assert cadence.wait_s(1, 1.0 + PERIOD_S / 4) == pytest.approx(0.75 * PERIOD_S)


def test_during_continuous_load_batches_keep_waiting() -> None:
    cadence = Cadence()
    cadence.handed_over(1, 0.0)
    cadence.wait_s(2, 0.001)
    cadence.handed_over(3, PERIOD_S)

    assert cadence.wait_s(1, PERIOD_S + 0.001) > 0


def test_after_useless_waits_batches_are_written_at_once_for_a_while() -> None:
    cadence, waits = Cadence(), []
    cadence.handed_over(1, 0.0)
    cadence.wait_s(2, 0.001)
    for _ in range(BATCHES_LEFT + 1):
        cadence.handed_over(2, 0.001)
        waits.append(cadence.wait_s(2, 0.001) > 0)

    assert waits == [False] * BATCHES_LEFT + [True]
