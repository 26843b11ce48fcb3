"""Language models of any provider that Inspect knows, through its model API.

Limits, the retry policy and attempts stay ours: Inspect is asked for one attempt at a
time and only tells what became of it.
"""

from __future__ import annotations

from dataclasses import replace

from theodolite.domain.errors import RateLimited, Rejected, TimedOut
from theodolite.domain.failure import Party
from theodolite.domain.flow import AskModel, Message, Reply, Speaker
from theodolite.domain.identity import canonical_json
from theodolite.domain.model import ModelEndpoint
from theodolite.domain.run import Spending
from theodolite.gateways.attempt_error import AttemptError
from theodolite.gateways.http.client import host_of
from theodolite.gateways.limits.rate_limiter import RateLimiter
from theodolite.gateways.limits.retry import RetriesExhausted, retry
from theodolite.gateways.limits.retry_policy import RetryPolicy, retry_policy_of
from theodolite.gateways.models.chat_knock import used_up
from theodolite.gateways.models.inspect_line import InspectLine
from theodolite.gateways.models.structured_output import StructuredOutput
from theodolite.ports.application import OnChunk
from theodolite.ports.clock import Clock
from theodolite.ports.endpoint import Knock

KNOCK_S = 4.0
"""Deadline of a knock; seconds."""


class InspectModel:
    """One model `provider/name`, as Inspect calls it."""

    def __init__(self, endpoint: ModelEndpoint, *, key: str | None, clock: Clock, rate_limiter: RateLimiter) -> None:
        """Keep what is needed; nothing is opened before the first call.

        Args:
            endpoint: What the study says; its `params` are fields of Inspect's `GenerateConfig`.
            key: The key itself, where the study names its variable; else Inspect looks for its provider's own.
            clock: Tells the time and waits between tries.
            rate_limiter: Says when an attempt may begin.

        Raises:
            InputError: If the extra is missing, or the parameters are none of Inspect's.
        """
        self._line = InspectLine(endpoint, key=key or "", clock=clock)
        self._endpoint = endpoint
        self._clock = clock
        self._rate_limiter = rate_limiter
        self._schemas = StructuredOutput(endpoint, is_set="response_schema" in endpoint.params)

    def __repr__(self) -> str:
        return f"InspectModel({self._endpoint.name!r}, {self._endpoint.model!r})"

    @property
    def provider(self) -> str:
        """Name of Inspect's provider."""
        return self._endpoint.model.partition("/")[0]

    def sent(self, request: AskModel) -> str:
        """Return what a request amounts to as one text; equal requests have equal texts."""
        substance, intended = self._endpoint.substance, self._schemas.intended(request)
        return canonical_json(replace(substance, name="")) + canonical_json(replace(intended, model="", replicate=1))

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return what the model answers.

        Raises:
            GatewayError: If no reply came; the subclass says why.
        """
        return await self._schemas.reply(request, lambda asked: self._ask(asked, on_chunk))

    async def knock(self) -> Knock:
        """Ask once, within 4 seconds; never raises a `GatewayError`."""
        greeting = Message(speaker=Speaker.USER, text="Reply with the word ok.")
        ask = AskModel(model=self._endpoint.name, messages=(greeting,), party=Party.MACHINERY)
        if (wait_s := self._rate_limiter.wait_s(_foreseen(ask))) > 0 and not self._line.secret.is_missing:
            return self._knocked(used_up(wait_s), asked=False)
        outcome = await self._retry(ask, None, RetryPolicy(timeout_s=KNOCK_S, deadline_s=KNOCK_S, attempts=1))
        if not isinstance(outcome, RetriesExhausted):
            reply = outcome[0]
            name = f", answers as {reply.answered_as}" if reply.answered_as else ""
            return self._knocked(f"ok, {reply.latency_s:.1f} s{name}", reply=reply)
        if outcome.attempt_error.kind is TimedOut:
            return self._knocked(f"no answer within {KNOCK_S:g} s yet")
        if outcome.attempt_error.kind is RateLimited:
            return self._knocked(f"there, but busy: {outcome.attempt_error.words}")
        return self._knocked(outcome.attempt_error.words, alive=False)

    async def close(self) -> None:
        """Let go of connections."""
        await self._line.close()

    async def _ask(self, request: AskModel, on_chunk: OnChunk | None) -> Reply:
        endpoint = self._endpoint
        retry_policy = retry_policy_of(endpoint)
        outcome = await self._retry(request, on_chunk, retry_policy)
        if not isinstance(outcome, RetriesExhausted):
            reply, tries = outcome
            return replace(reply, attempts=tries)
        raise outcome.attempt_error.error(
            endpoint=endpoint.name, host=self.provider, tries=outcome.tries, elapsed_s=outcome.elapsed_s
        )

    async def _retry(
        self, request: AskModel, on_chunk: OnChunk | None, retry_policy: RetryPolicy
    ) -> tuple[Reply, int] | RetriesExhausted:
        if self._line.secret.is_missing:
            words = f"the environment variable `{self._line.secret.variable}` is not set"
            return RetriesExhausted(attempt_error=AttemptError(kind=Rejected, words=words), tries=0, elapsed_s=0.0)
        return await retry(
            lambda spent_s: self._in_turn(request, on_chunk, retry_policy.attempt_s(spent_s)),
            retry_policy=retry_policy,
            clock=self._clock,
            key=lambda: self.sent(request),
        )

    async def _in_turn(
        self, request: AskModel, on_chunk: OnChunk | None, timeout_s: float
    ) -> tuple[Reply | AttemptError, float]:
        turn = await self._rate_limiter.begin(_foreseen(request))
        begun = self._clock.monotonic_s()
        outcome: Reply | AttemptError | None = None
        try:
            outcome = await self._line.attempt(request, on_chunk=on_chunk, timeout_s=timeout_s)
            return outcome, self._clock.monotonic_s() - begun
        finally:
            reply = outcome if isinstance(outcome, Reply) else None
            tokens = (reply.tokens_in + reply.tokens_out or None) if reply is not None else None
            attempt_error = outcome if isinstance(outcome, AttemptError) else None
            self._rate_limiter.end(turn, attempt_error, answered=reply is not None, tokens=tokens)

    def _knocked(self, answer: str, *, alive: bool = True, asked: bool = True, reply: Reply | None = None) -> Knock:
        spent = Spending(calls=1, attempts=1) if asked else Spending()
        if reply is not None:
            unpriced = int(reply.cost_microusd is None)
            spent = replace(
                spent,
                tokens_in=reply.tokens_in,
                tokens_out=reply.tokens_out,
                cost_microusd=reply.cost_microusd or 0,
                unpriced_calls=unpriced,
            )
        hint = "" if alive else f"a first call by hand: inspect eval --model {self._endpoint.model} ..."
        where = host_of(self._endpoint.url) if self._endpoint.url else self.provider
        host = f"{where}, through Inspect"
        return Knock(name=self._endpoint.name, host=host, alive=alive, answer=answer, hint=hint, spent=spent)


def _foreseen(request: AskModel) -> int:
    """Return how many tokens a request is expected to take, rather too many than too few; count."""
    return sum(len(message.text) for message in request.messages) // 3 + 500
