"""Models of plugins: their clients with our limits, timeouts and errors."""

from __future__ import annotations

import asyncio

from theodolite.domain.application import ModelEndpoint
from theodolite.domain.errors import EmptyReply, GatewayError, MalformedReply, TimedOut
from theodolite.domain.flow import AskModel, Reply
from theodolite.ports.application import Model, OnChunk


class PluginModel:
    """A model behind the client of a plugin.

    Calls in flight are limited to `parallel` and last `timeout` seconds at most. An exception of the client becomes a
    failure of the call, like the failure of any other model, and stays in the denominator.
    """

    def __init__(self, endpoint: ModelEndpoint, client: Model) -> None:
        """Store the client; nothing is sent.

        Args:
            endpoint: The model's entry in the study.
            client: Client that the plugin has opened for it.
        """
        self._endpoint, self._client = endpoint, client
        self._slots = asyncio.Semaphore(endpoint.parallel)

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return the reply of the model.

        Raises:
            GatewayError: If there was no reply; the subclass states why.
        """
        name, limit = self._endpoint.name, self._endpoint.timeout_s
        async with self._slots:
            try:
                async with asyncio.timeout(limit):
                    reply = await self._client.reply(request, on_chunk=on_chunk)
            except GatewayError:
                raise
            except TimeoutError as error:
                message = f"model `{name}` ({self._endpoint.plugin}) gave no reply within {limit:g} s"
                raise TimedOut(message, endpoint=name) from error
            except Exception as error:  # the code of a plugin may raise anything; this is the boundary
                message = f"model `{name}` ({self._endpoint.plugin}) raised {type(error).__name__}: {error}"
                raise MalformedReply(message, endpoint=name) from error
        if not isinstance(reply, Reply):
            message = f"model `{name}` ({self._endpoint.plugin}) returned {reply!r:.60}; expected a `Reply`"
            raise MalformedReply(message, endpoint=name)
        if not reply.text.strip():
            message = f"model `{name}` ({self._endpoint.plugin}) returned an empty reply"
            raise EmptyReply(message, endpoint=name)
        return reply

    async def close(self) -> None:
        """Close the client."""
        await self._client.close()
