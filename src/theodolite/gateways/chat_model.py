"""Language models behind an HTTP address that speaks one of the known dialects."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from theodolite.domain.errors import ContentRefused, EmptyReply, RateLimited, Rejected, TimedOut, Unreachable
from theodolite.domain.failure import Party
from theodolite.domain.fault import did_you_mean
from theodolite.domain.flow import AskModel, Message, Reply, SchemaUse, Speaker
from theodolite.domain.model import ModelEndpoint
from theodolite.domain.run import Spending
from theodolite.gateways.account import Account
from theodolite.gateways.chat_form import CHAT_COMPLETIONS, read_model_names
from theodolite.gateways.dialect import Dialect
from theodolite.gateways.pace import Pace
from theodolite.gateways.patience import Patience
from theodolite.gateways.schema_offer import SchemaOffer, words_alone
from theodolite.gateways.secrecy import Secret
from theodolite.gateways.tokens import expected_tokens, tokens_taken
from theodolite.gateways.trouble import Trouble
from theodolite.gateways.wire import Answer, GivenUp, Outgoing, Wire, checked_address, host_of
from theodolite.ports.clock import Clock
from theodolite.ports.endpoint import Knock

KNOCK_WORDS = "Reply with the word ok."
"""What an endpoint is asked before the first paid unit; the smallest real call."""

KNOCK_S = 4.0
"""Deadline of a knock, everything included; seconds."""

_CHAT_SHARE = 0.75
_LIST_S = 0.6

KNOCK_PATIENCE = Patience(connect_s=2.5, attempts=3, attempts_once=1, first_wait_s=0.4, longest_asked_s=0.0)

_SHOWN_NAMES = 8


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
        self._endpoint = endpoint
        self._url = checked_address(endpoint.url, what=f"model `{endpoint.name}`")
        self._dialect = dialect
        self._curl = dialect.curl(self._url, endpoint.key)
        self._schemas = SchemaOffer(endpoint, dialect)
        self._knock_s = knock_s
        self._wire = _wire(endpoint, Secret(key or "", variable=endpoint.key, header=dialect.key_header), clock, pace)

    def __repr__(self) -> str:
        return f"ChatModel({self._endpoint.name!r}, host={host_of(self._url)!r})"

    def outgoing(self, request: AskModel) -> Outgoing:
        """Return the call that a request becomes; without the key.

        What the endpoint turned out to refuse plays no part, so that equal
        requests have equal calls at all times.
        """
        outgoing = self._dialect.call(self._endpoint, self._schemas.intended(request), url=self._url)
        if self._endpoint.tpm is None or outgoing.body is None:
            return outgoing
        return replace(outgoing, tokens=expected_tokens(self._endpoint, outgoing.body))

    async def reply(self, request: AskModel) -> Reply:
        """Return what the model answers.

        An endpoint that takes no answer schema is asked in words alone, and the reply says so.

        Raises:
            GatewayError: If no reply came; the subclass says why.
        """
        use = self._schemas.use_of(request)
        try:
            reply = await self._asked(words_alone(request) if use is SchemaUse.REFUSED else request)
        except Rejected as error:
            if not self._schemas.may_be_the_cause(request, error):
                raise
            return await self._asked_in_words(request, tries=error.tries)
        return reply if use is SchemaUse.NONE else replace(reply, schema_use=use)

    async def _asked_in_words(self, request: AskModel, *, tries: int) -> Reply:
        reply = await self._asked(words_alone(request))
        self._schemas.refuse(request)
        return replace(reply, schema_use=SchemaUse.REFUSED, attempts=tries + reply.attempts)

    async def _asked(self, request: AskModel) -> Reply:
        answer = await self._wire.call(self.outgoing(request))
        outcome = self._read(answer)
        if isinstance(outcome, Reply):
            return outcome
        raise outcome.error(endpoint=self._endpoint.name, tries=answer.attempts)

    async def close(self) -> None:
        """Let go of connections."""
        await self._wire.close()

    async def knock(self) -> Knock:
        """Ask once, within 4 seconds; never raises a `GatewayError`."""
        try:
            async with asyncio.timeout(_CHAT_SHARE * self._knock_s):
                return await self._knock()
        except TimeoutError:
            return await self._knocked_without_answer()

    async def model_names(self) -> tuple[str, ...]:
        """Return the names of the models that the endpoint offers; empty where it does not say."""
        patience = Patience(timeout_s=1.0, attempts=1)
        answer = await self._wire.insist(self._dialect.listing(self._url), patience)
        return read_model_names(answer) if isinstance(answer, Answer) else ()

    def _read(self, answer: Answer) -> Reply | Trouble:
        return self._dialect.read(answer, price=self._endpoint.price, secret=self._wire.secret)

    async def _knock(self) -> Knock:
        greeting = Message(speaker=Speaker.USER, text=KNOCK_WORDS)
        ask = AskModel(model=self._endpoint.name, messages=(greeting,), party=Party.MACHINERY)
        outcome = await self._wire.insist(self.outgoing(ask), KNOCK_PATIENCE)
        if isinstance(outcome, GivenUp):
            return await self._knocked_in_vain(outcome)
        reply = self._read(outcome)
        took = f"ok, {outcome.latency_s:.1f} s"
        if isinstance(reply, Reply):
            name = f", answers as {reply.answered_as}" if reply.answered_as else ""
            return self._knocked(took + name, attempts=reply.attempts, reply=reply)
        if reply.kind in {EmptyReply, ContentRefused}:
            return self._knocked(f"{took}, but {reply.words}", attempts=outcome.attempts)
        return self._knocked(reply.words, alive=False, hint=self._curl, attempts=outcome.attempts)

    async def _knocked_without_answer(self) -> Knock:
        """Tell a model that thinks from a port that takes connections and says nothing.

        A server that thinks about one call still answers others, be it with a 404.
        """
        patience = Patience(connect_s=_LIST_S, timeout_s=_LIST_S, attempts=1)
        listed = await self._wire.insist(self._dialect.listing(self._url), patience)
        if isinstance(listed, Answer) or listed.trouble.status:
            return self._knocked(f"connected, no answer within {self._knock_s:g} s yet", attempts=1)
        words = f"takes connections but says nothing within {self._knock_s:g} s"
        return self._knocked(words, alive=False, reached=False, hint=self._curl, attempts=1)

    async def _knocked_in_vain(self, outcome: GivenUp) -> Knock:
        trouble, tries = outcome.trouble, outcome.tries
        words = str(trouble.error(endpoint=self._endpoint.name, tries=tries, elapsed_s=outcome.elapsed_s))
        if trouble.kind is RateLimited:
            return self._knocked(f"there, but busy: {words}", attempts=tries)
        if trouble.kind is not Rejected:
            reached = trouble.kind not in {Unreachable, TimedOut}
            return self._knocked(words, alive=False, reached=reached, hint=self._curl, attempts=tries)
        if trouble.status in {401, 403} or not tries:
            return self._knocked(words, alive=False, hint=_key_hint(self._endpoint), attempts=tries)
        words += await self._offered(trouble.status)
        return self._knocked(words, alive=False, hint=self._curl, attempts=tries)

    async def _offered(self, status: int) -> str:
        """Return the names that the endpoint offers, where ours is not among them."""
        names = sorted(await self.model_names())
        if not names and status == 404 and not self._url.endswith("/v1"):
            return "; such addresses mostly end in `/v1`"
        if not names or self._endpoint.model in names:
            return ""
        more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
        known = self._wire.secret.scrub(", ".join(names[:_SHOWN_NAMES])) + more
        return f"; `{self._endpoint.model}` is not among {known}{did_you_mean(self._endpoint.model, names)}"

    def _knocked(
        self,
        answer: str,
        *,
        attempts: int,
        alive: bool = True,
        reached: bool = True,
        hint: str = "",
        reply: Reply | None = None,
    ) -> Knock:
        return Knock(
            name=self._endpoint.name,
            host=host_of(self._url),
            alive=alive,
            answer=answer,
            hint=hint,
            spent=_spent(attempts, reply),
            reached=reached,
        )


def _wire(endpoint: ModelEndpoint, secret: Secret, clock: Clock, pace: Pace | None) -> Wire:
    return Wire(
        endpoint=endpoint.name,
        secret=secret,
        clock=clock,
        patience=Patience(timeout_s=endpoint.timeout_s, deadline_s=endpoint.deadline_s, attempts=endpoint.attempts),
        parallel=endpoint.parallel,
        pace=pace or Pace(Account(clock, parallel=endpoint.parallel), clock),
        weigh=tokens_taken if endpoint.tpm is not None else None,
    )


def _spent(attempts: int, reply: Reply | None) -> Spending:
    """Return what a knock has cost."""
    priced = reply is not None and reply.cost_microusd is not None
    return Spending(
        calls=min(1, attempts),
        attempts=attempts,
        tokens_in=reply.tokens_in if reply else 0,
        tokens_out=reply.tokens_out if reply else 0,
        cost_microusd=(reply.cost_microusd or 0) if reply else 0,
        unpriced_calls=0 if priced or reply is None else 1,
    )


def _key_hint(endpoint: ModelEndpoint) -> str:
    if not endpoint.key:
        return "write `key: NAME` at the model, NAME being the environment variable that holds the key"
    return f"put the right key into the environment variable {endpoint.key}"
