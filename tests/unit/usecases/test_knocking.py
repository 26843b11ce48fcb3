from __future__ import annotations

import asyncio
from dataclasses import dataclass

from theodolite.ports.endpoint import Knock
from theodolite.usecases.knocking import knock_at


@dataclass
class Door:
    name: str
    wait_for: asyncio.Event
    then_set: asyncio.Event

    async def knock(self):
        self.then_set.set()
        await self.wait_for.wait()
        return Knock(name=self.name, host="", alive=True, answer="ok")


async def test_all_endpoints_are_asked_at_the_same_time():
    one, other = asyncio.Event(), asyncio.Event()

    knocks = await knock_at([Door("a", one, other), Door("b", other, one)])

    assert [knock.name for knock in knocks] == ["a", "b"]


async def test_without_endpoints_nobody_is_asked():
    assert await knock_at([]) == ()
