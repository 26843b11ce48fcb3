"""Language models behind an HTTP address that speaks one of the known dialects."""

from __future__ import annotations

import json

from theodolite.domain.flow import AskModel, Reply
from theodolite.domain.model import ModelEndpoint
from theodolite.gateways.http.client import host_of
from theodolite.gateways.http.proxies import CallRoute
from theodolite.gateways.limits.rate_limiter import RateLimiter
from theodolite.gateways.models.chat_format import CHAT_COMPLETIONS
from theodolite.gateways.models.chat_knock import KNOCK_S, ChatKnock
from theodolite.gateways.models.chat_line import open_line
from theodolite.gateways.models.dialect import Dialect
from theodolite.gateways.models.structured_output import StructuredOutput
from theodolite.ports.application import OnChunk
from theodolite.ports.clock import Clock
from theodolite.ports.endpoint import Knock


class ChatModel:
    """One model behind `{url}/chat/completions`, or the path of another dialect."""

    def __init__(
        self,
        endpoint: ModelEndpoint,
        *,
        key: str | None = None,
        clock: Clock,
        dialect: Dialect = CHAT_COMPLETIONS,
        knock_s: float = KNOCK_S,
        rate_limiter: RateLimiter | None = None,
        route: CallRoute | None = None,
    ) -> None:
        """Prepare the client; nothing is opened before the first call.

        Args:
            endpoint: What the study says about the model.
            key: The key itself, from the environment; never repeated anywhere.
            clock: Tells the time and waits between tries.
            dialect: How it wants to be asked.
            knock_s: Deadline of a knock; seconds.
            rate_limiter: Says when an attempt may begin; an account of its own unless given.
            route: How calls leave this machine; directly unless given.

        Raises:
            InputError: If the address or the key cannot be used.
        """
        self._line = open_line(endpoint, dialect, key=key or "", clock=clock, rate_limiter=rate_limiter, route=route)
        self._schemas = StructuredOutput(endpoint, is_set=dialect.sets_form(endpoint.params))
        self._knocking = ChatKnock(self._line, knock_s=knock_s)

    def __repr__(self) -> str:
        return f"ChatModel({self._line.endpoint.name!r}, host={host_of(self._line.url)!r})"

    def sent(self, request: AskModel) -> str:
        """Return the call that a request becomes as one text, without the key.

        It does not depend on the order of `params`, nor on what the endpoint
        turned out to refuse, so that equal requests have equal texts at all times.
        """
        http_request = self._line.http_request(self._schemas.intended(request))
        call = {
            "body": json.loads(http_request.body or b"null"),
            "headers": dict(http_request.headers),
            "url": http_request.url,
        }
        return json.dumps(call, sort_keys=True, separators=(",", ":"))

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return what the model answers.

        An endpoint that takes no answer schema is asked in words alone, and the reply says so.

        Raises:
            GatewayError: If no reply came; the subclass says why.
        """
        if request.answer_schema is None:
            return await self._line.ask(request, on_chunk=on_chunk)
        return await self._schemas.reply(request, lambda asked: self._line.ask(asked, on_chunk=on_chunk))

    async def close(self) -> None:
        """Let go of connections."""
        await self._line.client.close()

    async def knock(self) -> Knock:
        """Ask once, within 4 seconds; never raises a `GatewayError`."""
        return await self._knocking.ask()

    async def model_names(self) -> tuple[str, ...]:
        """Return the names of the models that the endpoint offers; empty where it does not say."""
        return await self._line.model_names()
