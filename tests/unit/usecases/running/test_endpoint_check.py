from __future__ import annotations

import asyncio
from dataclasses import dataclass

from theodolite.ports.application import EndpointCheck
from theodolite.usecases.running import check_endpoints


@dataclass
class Door:
    name: str
    wait_for: asyncio.Event
    then_set: asyncio.Event

    async def check_endpoint(self):
        self.then_set.set()
        await self.wait_for.wait()
        return EndpointCheck(name=self.name, host="", alive=True, answer="ok")


async def test_all_endpoints_are_checked_concurrently():
    one, other = asyncio.Event(), asyncio.Event()

    checks = await check_endpoints([Door("a", one, other), Door("b", other, one)])

    assert [check.name for check in checks] == ["a", "b"]


async def test_without_endpoints_nothing_is_checked():
    assert await check_endpoints([]) == ()
