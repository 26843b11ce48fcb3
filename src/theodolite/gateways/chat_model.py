"""Language models behind an HTTP address that speaks one of the known dialects."""

from __future__ import annotations

from dataclasses import replace

from theodolite.domain.errors import Rejected
from theodolite.domain.flow import AskModel, Reply, SchemaUse
from theodolite.domain.model import ModelEndpoint
from theodolite.gateways.chat_form import CHAT_COMPLETIONS
from theodolite.gateways.chat_knock import KNOCK_S, ChatKnock
from theodolite.gateways.chat_line import open_line
from theodolite.gateways.dialect import Dialect
from theodolite.gateways.pace import Pace
from theodolite.gateways.schema_offer import SchemaOffer, words_alone
from theodolite.gateways.wire import Outgoing, host_of
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
        pace: Pace | None = None,
    ) -> None:
        """Prepare the wire; nothing is opened before the first call.

        Args:
            endpoint: What the study says about the model.
            key: The key itself, from the environment; never repeated anywhere.
            clock: Tells the time and waits between tries.
            dialect: How it wants to be asked.
            knock_s: Deadline of a knock; seconds.
            pace: Says when an attempt may begin; an account of its own unless given.

        Raises:
            InputError: If the address or the key cannot be used.
        """
        self._line = open_line(endpoint, dialect, key=key or "", clock=clock, pace=pace)
        self._schemas = SchemaOffer(endpoint, dialect)
        self._knocking = ChatKnock(self._line, knock_s=knock_s)

    def __repr__(self) -> str:
        return f"ChatModel({self._line.endpoint.name!r}, host={host_of(self._line.url)!r})"

    def outgoing(self, request: AskModel) -> Outgoing:
        """Return the call that a request becomes; without the key.

        What the endpoint turned out to refuse plays no part, so that equal
        requests have equal calls at all times.
        """
        return self._line.outgoing(self._schemas.intended(request))

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return what the model answers.

        An endpoint that takes no answer schema is asked in words alone, and the reply says so.

        Raises:
            GatewayError: If no reply came; the subclass says why.
        """
        if request.answer_schema is None:
            return await self._line.ask(request, on_chunk=on_chunk)
        use = self._schemas.use_of(request)
        try:
            asked = request if use is SchemaUse.SENT else words_alone(request)
            reply = await self._line.ask(asked, on_chunk=on_chunk)
        except Rejected as error:
            if not self._schemas.may_be_the_cause(request, error):
                raise
            return await self._asked_in_words(request, on_chunk, tries=error.tries)
        return replace(reply, schema_use=use)

    async def close(self) -> None:
        """Let go of connections."""
        await self._line.wire.close()

    async def knock(self) -> Knock:
        """Ask once, within 4 seconds; never raises a `GatewayError`."""
        return await self._knocking.ask()

    async def model_names(self) -> tuple[str, ...]:
        """Return the names of the models that the endpoint offers; empty where it does not say."""
        return await self._line.model_names()

    async def _asked_in_words(self, request: AskModel, on_chunk: OnChunk | None, *, tries: int) -> Reply:
        reply = await self._line.ask(words_alone(request), on_chunk=on_chunk)
        self._schemas.refuse(request)
        return replace(reply, schema_use=SchemaUse.REFUSED, attempts=tries + reply.attempts)
