"""The endpoint check: one call to every endpoint before the first paid unit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from theodolite.ports.application import Endpoint, EndpointCheck


async def check_endpoints(endpoints: Iterable[Endpoint]) -> tuple[EndpointCheck, ...]:
    """Ask endpoints at the same time whether they are there, and return what they said."""
    return tuple(await asyncio.gather(*(endpoint.check_endpoint() for endpoint in endpoints)))
