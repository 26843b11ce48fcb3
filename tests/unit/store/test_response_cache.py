"""A cache that cannot be used is told of once and stands in nobody's way."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.contract.test_cache import kept
from theodolite.store import response_cache
from theodolite.store.response_cache import CACHE_NAME, ResponseCache


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / CACHE_NAME


def spoil(path: Path, where: int) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:where] + b"\xa5" * 8192 + content[where + 8192 :])


def spoil_twice(path: Path) -> None:
    """Leave a file that is no database, beside one that was set aside earlier."""
    path.write_bytes(b"no database at all, and longer than a header " * 50)
    path.with_name(f"{CACHE_NAME}.damaged-1").write_text("the first one")


async def filled(path: Path, n_replies: int = 1) -> None:
    cache = ResponseCache(path, tell=pytest.fail)
    for number in range(n_replies):
        await cache.keep(kept(number))
    cache.close()


async def test_another_process_finds_stored_replies(path: Path, told: list[str]) -> None:
    await filled(path)
    cache = ResponseCache(path, tell=told.append)

    assert await cache.find(kept(0).key) == kept(0)
    cache.close()


async def test_two_open_handles_share_the_cache(path: Path, told: list[str]) -> None:
    one, two = (ResponseCache(path, tell=told.append) for _ in range(2))

    await asyncio.gather(*((one, two)[number % 2].keep(kept(number)) for number in range(40)))

    found = [await (two, one)[number % 2].find(kept(number).key) for number in range(40)]
    assert None not in found
    assert told == []
    one.close()
    two.close()


@pytest.mark.parametrize("where", [0, 100])
async def test_a_damaged_file_is_moved_aside_and_a_new_one_created(path: Path, told: list[str], where: int) -> None:
    await filled(path, 50)
    spoil(path, where)
    cache = ResponseCache(path, tell=told.append)

    found = await cache.find(kept(3).key)
    await cache.keep(kept(3))

    assert (found, await cache.find(kept(3).key)) == (None, kept(3))
    assert told == [f"the response cache was damaged; it was set aside as `{CACHE_NAME}.damaged-1` and a new one begun"]
    assert path.with_name(f"{CACHE_NAME}.damaged-1").exists()
    cache.close()


async def test_an_earlier_damaged_file_is_left_alone(path: Path, told: list[str]) -> None:
    spoil_twice(path)
    cache = ResponseCache(path, tell=told.append)

    await cache.find(kept().key)

    assert path.with_name(f"{CACHE_NAME}.damaged-1").read_text() == "the first one"
    assert path.with_name(f"{CACHE_NAME}.damaged-2").exists()
    cache.close()


async def test_a_file_that_cannot_be_opened_disables_the_cache_once(tmp_path: Path, told: list[str]) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    cache = ResponseCache(tmp_path / "folder" / CACHE_NAME, tell=told.append)

    await cache.keep(kept())
    await cache.keep(kept())

    assert await cache.find(kept().key) is None
    assert len(told) == 1
    assert told[0].endswith("the run goes on without it")
    cache.close()


async def test_a_locked_file_delays_nobody(path: Path, told: list[str], monkeypatch) -> None:
    await filled(path)
    monkeypatch.setattr(response_cache, "_PATIENCE_S", 0.05)
    cache = ResponseCache(path, tell=told.append)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        await cache.keep(kept(7))

    assert told == ["the response cache cannot be used (database is locked); the run goes on without it"]
    cache.close()


@pytest.mark.parametrize("reply", ["not json", '{"unknown": 1}', "[]"])
async def test_an_unreadable_reply_is_requested_again(path: Path, told: list[str], reply: str) -> None:
    await filled(path)
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE reply SET reply = ?", (reply,))
    cache = ResponseCache(path, tell=told.append)

    assert await cache.find(kept(0).key) is None
    await cache.keep(kept(0))
    assert await cache.find(kept(0).key) == kept(0)
    assert told == []
    cache.close()
