"""Models with cached replies."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Protocol

from theodolite.domain.flow import CONTENT_FILTER, AskModel, Reply
from theodolite.domain.identity import digest
from theodolite.domain.run import FailureSource
from theodolite.ports.application import Endpoint, EndpointCheck, Model, OnChunk
from theodolite.ports.progress import Cache, Clock, Kept

FORMAT = "1"
"""Version of the key format; incremented by hand when equal requests get other keys."""


class Cacheable(Model, Endpoint, Protocol):
    """A model whose requests are identified by their content."""

    def sent(self, request: AskModel) -> str:
        """Return a request as one canonical text; equal requests have equal texts."""
        ...


class CachedModel:
    """Caches frequent requests.

    Two requests are equal if the same bytes would be sent to the same address and
    the replicate numbers are equal; names, keys and limits of the study do not
    matter. Of equal requests in flight one is sent and the others wait for it. Only
    replies are kept: a failure, and a reply that the endpoint's filter withheld,
    is requested again each time. People's texts are neither cached nor looked up.
    """

    def __init__(
        self, model: Cacheable, cache: Cache, clock: Clock, *, refresh: bool = False, applications: bool = False
    ) -> None:
        """Wrap a model.

        Args:
            model: The model to call if no reply is cached.
            cache: The cache.
            clock: Returns the time of a reply.
            refresh: Ignore replies that were cached before this object was created.
            applications: Whether to cache calls to it as an application under test too.
        """
        self._model = model
        self._cache = cache
        self._clock = clock
        self._refresh = refresh
        self._applications = applications
        self._fresh: set[str] = set()
        self._in_flight: dict[str, asyncio.Event] = {}

    def __repr__(self) -> str:
        return f"CachedModel({self._model!r})"

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return the model's reply, or its cached reply to an equal request.

        Raises:
            GatewayError: If there was no reply; the subclass states why.
        """
        if not request.may_be_cached or (request.party is FailureSource.APPLICATION and not self._applications):
            return await self._model.reply(request, on_chunk=on_chunk)
        sent = self._model.sent(request)
        key = digest("reply", FORMAT, sent, str(request.replicate))
        while key in self._in_flight:
            await self._in_flight[key].wait()
        # Nothing is awaited between the lookup above and the entry below, so only one call passes.
        self._in_flight[key] = asyncio.Event()
        try:
            result = await self._found(key)
            if result is None:
                return await self._requested(key, sent, request, on_chunk)
            if on_chunk is not None:
                on_chunk(result.text)
            return result
        finally:
            self._in_flight.pop(key).set()

    async def check_endpoint(self) -> EndpointCheck:
        """Call the model itself; never raises a `GatewayError`."""
        return await self._model.check_endpoint()

    async def close(self) -> None:
        """Close the connections; the opener of the cache closes it."""
        await self._model.close()

    async def _found(self, key: str) -> Reply | None:
        if self._refresh and key not in self._fresh:
            return None
        stored = await self._cache.find(key)
        if stored is None:
            return None
        return replace(stored.reply, tokens_in=0, tokens_out=0, cost_microusd=0, latency_s=0.0, attempts=0)

    async def _requested(self, key: str, sent: str, request: AskModel, on_chunk: OnChunk | None) -> Reply:
        reply = await self._model.reply(request, on_chunk=on_chunk)
        if reply.withheld or reply.finish == CONTENT_FILTER:
            return reply
        await self._cache.keep(Kept(key=key, request=sent, reply=reply, since=self._clock.now()))
        if self._refresh:
            self._fresh.add(key)
        return reply
