"""What every response cache keeps to, whether faked or real."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fakes.cache import FakeCache
from theodolite.domain.flow import Reply
from theodolite.domain.identity import digest
from theodolite.ports.progress import Cache, Kept
from theodolite.store.response_cache import CACHE_NAME, ResponseCache

REPLY = Reply(
    text="Grüße 🙂 \x00 \ud800",
    answered_as="m-1",
    finish="stop",
    tokens_in=3,
    tokens_out=4,
    cost_microusd=None,
    attempts=2,
)


def kept(number: int = 1, text: str = "") -> Kept:
    return Kept(
        key=digest(str(number)),
        request='{"body":{"model":"m"},"url":"http://h/v1"}',
        reply=replace(REPLY, text=text or REPLY.text),
        since=datetime(2026, 3, 2, 9, 0, 0, 123456, tzinfo=UTC),
    )


@pytest.fixture(params=["fake", "sqlite"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cache]:
    told: list[str] = []
    opened = FakeCache() if request.param == "fake" else ResponseCache(tmp_path / CACHE_NAME, tell=told.append)
    yield opened
    opened.close()
    assert told == []


async def test_a_stored_reply_is_returned_unchanged(cache: Cache) -> None:
    await cache.keep(kept())

    assert await cache.find(kept().key) == kept()


async def test_an_unknown_key_is_not_found(cache: Cache) -> None:
    await cache.keep(kept(1))

    assert await cache.find(kept(2).key) is None


async def test_the_latest_reply_of_a_key_is_returned(cache: Cache) -> None:
    await cache.keep(kept(1, "old"))
    await cache.keep(kept(1, "new"))

    found = await cache.find(kept(1).key)
    assert found is not None
    assert found.reply.text == "new"


async def test_concurrent_access_does_not_mix_replies(cache: Cache) -> None:
    await asyncio.gather(*(cache.keep(kept(number, f"reply {number}")) for number in range(50)))

    found = await asyncio.gather(*(cache.find(kept(number).key) for number in range(50)))
    assert [entry.reply.text for entry in found if entry] == [f"reply {number}" for number in range(50)]


async def test_a_closed_cache_finds_and_stores_nothing_and_raises_no_error(cache: Cache) -> None:
    await cache.keep(kept())
    cache.close()

    await cache.keep(kept(2))
    assert await cache.find(kept().key) is None
    cache.close()
