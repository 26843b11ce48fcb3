"""Knocking: every endpoint is asked once before the first paid unit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from theodolite.ports.endpoint import Endpoint, Knock


async def knock_at(endpoints: Iterable[Endpoint]) -> tuple[Knock, ...]:
    """Ask endpoints at the same time whether they are there, and return what they said."""
    return tuple(await asyncio.gather(*(endpoint.knock() for endpoint in endpoints)))
