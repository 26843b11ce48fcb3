"""Language models of any provider that Inspect knows, through its model API.

We keep limits, retry policy and attempts: Inspect makes one attempt at a
time and only reports the outcome.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

from theodolite.domain.application import ModelEndpoint, Price
from theodolite.domain.errors import (
    InputError,
    MalformedReply,
    RateLimited,
    Rejected,
    ServerFault,
    TimedOut,
    did_you_mean,
)
from theodolite.domain.flow import AskModel, Message, Reply, Speaker
from theodolite.domain.identity import canonical_json
from theodolite.domain.run import FailureSource, Spending
from theodolite.gateways.errors import (
    Again,
    AttemptError,
    RetriesExhausted,
    RetryPolicy,
    of_status,
    retry,
    retry_policy_of,
    withheld,
)
from theodolite.gateways.http_client import HttpResponse, host_of
from theodolite.gateways.models.chat_model import StructuredOutput, used_up
from theodolite.gateways.models.model_answer import ModelOutput, reply_of, words_in
from theodolite.gateways.rate_limiter import RateLimiter
from theodolite.gateways.secret_redaction import Secret
from theodolite.ports.application import EndpointCheck, OnChunk
from theodolite.ports.progress import Clock

OURS = frozenset(
    {"max_retries", "timeout", "attempt_timeout", "max_connections", "adaptive_connections", "cache", "batch"}
)
"""Fields that other keys of a model replace: `attempts`, `timeout`, `parallel`, `cache`."""

_MILLION = 1_000_000


def config_fields(endpoint: ModelEndpoint) -> dict[str, Any]:
    """Return a study's `params` as fields of Inspect's `GenerateConfig`.

    Raises:
        InputError: If one is not such a field, belongs to another key, or has an invalid value.
    """
    from inspect_ai.model import GenerateConfig

    known = sorted(set(GenerateConfig.model_fields) - OURS)
    wrong = [name for name in endpoint.params if name not in known]
    if wrong:
        meant = did_you_mean(wrong[0], known)
        message = f"`params` of model `{endpoint.name}`: `{wrong[0]}` is none that Inspect takes here{meant}"
        raise InputError(message)
    fields = {name: value for name, value in endpoint.params.items() if value is not None}
    try:
        GenerateConfig(**fields)
    except ValueError as error:
        message = f"`params` of model `{endpoint.name}` do not fit Inspect's `GenerateConfig`: {error}"
        raise InputError(message) from error
    return fields


def read_output(output: Any, *, latency_s: float, price: Price | None, secret: Secret) -> Reply | AttemptError:
    """Return the reply in one of Inspect's outputs, or its error."""
    finish = output.stop_reason if output.choices else "unknown"
    usage = output.usage
    read = (usage.input_tokens, usage.input_tokens_cache_read, usage.input_tokens_cache_write) if usage else ()
    model_output = ModelOutput(
        text=_text(output, finish, secret),
        model=output.model,
        finish=finish,
        tokens_in=sum(n or 0 for n in read),
        tokens_out=usage.output_tokens if usage else 0,
    )
    outcome = reply_of(model_output, HttpResponse(body=b"", latency_s=latency_s), price)
    return outcome if price is not None else _priced(outcome, getattr(usage, "total_cost", None))


def _text(output: Any, finish: str, secret: Secret) -> str | AttemptError:
    if finish == "content_filter":
        return withheld(secret.scrub(output.error or "") or "the endpoint's content filter withheld the reply")
    is_cut = finish in {"max_tokens", "model_length"}
    return words_in(output.completion, is_cut=is_cut, asks_for_tool=finish == "tool_calls")


def _priced(outcome: Reply | AttemptError, cost_usd: float | None) -> Reply | AttemptError:
    """Return an outcome at the price that Inspect knows for it."""
    if cost_usd is None:
        return outcome
    cost = math.ceil(round(cost_usd * _MILLION, 6))
    if isinstance(outcome, AttemptError):
        return replace(outcome, spent=replace(outcome.spent, cost_microusd=cost, unpriced_calls=0))
    return replace(outcome, cost_microusd=cost)


EXTRA = "pip install 'theodolite[inspect]'"
"""How the extra is installed."""

_MARKUP = re.compile(r"\[/?(?:bold|italic|dim|underline|red|green|blue|yellow)\]")
"""Markup of Inspect's messages for its terminal."""

_NOT_MEANT = (TypeError, AttributeError, LookupError)
"""Exceptions of providers' code for an answer in an unexpected format."""


@dataclass(slots=True)
class _Opened:
    """Inspect's model, which belongs to one event loop, or the task that creates it."""

    loop: asyncio.AbstractEventLoop
    making: asyncio.Future[Any]

    def model(self) -> Any:
        """Return the model; None while there is none."""
        is_made = self.making.done() and not self.making.cancelled() and self.making.exception() is None
        return self.making.result() if is_made else None


@dataclass(slots=True)
class _Listener:
    """Passes text on and records whether there was any."""

    on_chunk: OnChunk
    pieces: list[str] = field(default_factory=list)

    async def hear(self, event: Any) -> None:
        if getattr(event, "type", "") == "text":
            self.pieces.append(event.text)
            self.on_chunk(event.text)

    async def end(self, text: str) -> None:
        if not self.pieces:
            self.on_chunk(text)


class InspectClient:
    """Makes one attempt at a time; others are responsible for limits, retries and further attempts."""

    def __init__(self, endpoint: ModelEndpoint, *, key: str, clock: Clock) -> None:
        """Store the options; nothing is opened before the first call.

        Args:
            endpoint: Its entry in the study; its `params` are fields of Inspect's `GenerateConfig`.
            key: The key itself, if the study names its variable; else Inspect uses its provider's own variable.
            clock: Returns the current time.

        Raises:
            InputError: If the extra is missing, or Inspect does not know the parameters.
        """
        _require_extra(endpoint)
        self._endpoint = endpoint
        self._key = key
        self.secret = Secret(key, variable=endpoint.key)
        self._clock = clock
        self._fields = config_fields(endpoint)
        self._opened: _Opened | None = None

    def __repr__(self) -> str:
        return f"InspectClient({self._endpoint.name!r}, {self._endpoint.model!r})"

    async def attempt(self, request: AskModel, *, on_chunk: OnChunk | None, timeout_s: float) -> Reply | AttemptError:
        """Call once and return the reply.

        Args:
            request: The model's request.
            on_chunk: Receives pieces as they arrive.
            timeout_s: Time limit, once the provider's code is loaded; seconds.
        """
        listener = _Listener(on_chunk) if on_chunk is not None else None
        try:
            model = await self._open()
            started_s = self._clock.monotonic_s()
            async with asyncio.timeout(timeout_s):
                output = await self._generate(model, request, listener)
        except TimeoutError:
            return AttemptError(kind=TimedOut, words=f"no answer within {timeout_s:.3g} s", again=Again.ONCE)
        except Exception as error:  # noqa: BLE001 - providers raise what they like; this is the boundary
            attempt_error = self._trouble_of(error)
            return (
                replace(attempt_error, again=Again.NEVER) if listener is not None and listener.pieces else attempt_error
            )
        latency_s = self._clock.monotonic_s() - started_s
        outcome = read_output(output, latency_s=latency_s, price=self._endpoint.price, secret=self.secret)
        if listener is not None and isinstance(outcome, Reply):
            await listener.end(outcome.text)
        return outcome

    async def close(self) -> None:
        """Close the connections."""
        opened, self._opened = self._opened, None
        model = opened.model() if opened is not None and not opened.loop.is_closed() else None
        if model is not None:
            await model.api.aclose()

    async def _generate(self, model: Any, request: AskModel, listener: _Listener | None) -> Any:
        from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, GenerateConfig

        kinds = {
            Speaker.SYSTEM: ChatMessageSystem,
            Speaker.USER: ChatMessageUser,
            Speaker.ASSISTANT: ChatMessageAssistant,
        }
        messages = [kinds[message.speaker](content=message.text) for message in request.messages]
        config = GenerateConfig(**_schema_fields(request.answer_schema))
        return await model.generate(messages, config=config, on_stream=listener.hear if listener else None)

    async def _open(self) -> Any:
        """Return the model; its first use imports the provider's code for seconds, while other tasks continue."""
        loop = asyncio.get_running_loop()
        opened = self._opened
        if opened is None or opened.loop is not loop or (opened.making.done() and opened.model() is None):
            opened = self._opened = _Opened(loop, asyncio.ensure_future(asyncio.to_thread(self._made)))
        return await asyncio.shield(opened.making)

    def _made(self) -> Any:
        from inspect_ai.model import GenerateConfig, get_model

        own = {"max_retries": 0, "max_connections": self._endpoint.parallel, "adaptive_connections": False}
        model = get_model(
            self._endpoint.model,
            config=GenerateConfig(**{**self._fields, **own}),
            base_url=self._endpoint.url or None,
            api_key=self._key or None,
            memoize=False,
        )
        _leave_retries_to_us(model)
        return model

    def _trouble_of(self, error: Exception) -> AttemptError:
        """Return our error for a provider's error; Inspect knows which of them are temporary."""
        last = getattr(error, "last_attempt", None)
        cause = (last.exception() if last is not None else None) or error
        words = self.secret.scrub(str(getattr(cause, "message", "") or cause) or type(cause).__name__)
        status = getattr(cause, "status_code", None)
        words = _MARKUP.sub("", words).removeprefix("ERROR: ").removeprefix(f"Error code: {status} - ")
        model = self._opened.model() if self._opened is not None else None
        decision = model.api.should_retry(cause) if model is not None else False
        if isinstance(status, int):
            return of_status(status, words, asked_wait_s=getattr(decision, "retry_after", None))
        if isinstance(cause, _NOT_MEANT):
            return AttemptError(
                kind=MalformedReply, words=f"Inspect could not read the answer: {words}", again=Again.ONCE
            )
        if not decision:
            return AttemptError(kind=Rejected, words=words)
        is_limit = getattr(decision, "kind", "") == "rate_limit"
        return AttemptError(kind=RateLimited if is_limit else ServerFault, words=words, again=Again.UNTIL_SPENT)


def _require_extra(endpoint: ModelEndpoint) -> None:
    if find_spec("inspect_ai") is None:
        message = (
            f"model `{endpoint.name}` (`kind: inspect`) is reached through Inspect, which is not installed; "
            f"try  {EXTRA}"
        )
        raise InputError(message)


def _leave_retries_to_us(model: Any) -> None:
    """Switch off the retries of a provider's own client: they would hide refusals and paid attempts."""
    client: Any = getattr(model.api, "client", None)
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0


def _schema_fields(schema: Mapping[str, object] | None) -> dict[str, Any]:
    if schema is None:
        return {}
    from inspect_ai.model import ResponseSchema

    return {"response_schema": ResponseSchema(name="answer", json_schema=schema, strict=True)}


ENDPOINT_CHECK_S = 4.0
"""Deadline of an endpoint check; seconds."""


class InspectModel:
    """One model `provider/name`, as Inspect calls it."""

    def __init__(self, endpoint: ModelEndpoint, *, key: str | None, clock: Clock, rate_limiter: RateLimiter) -> None:
        """Store the options; nothing is opened before the first call.

        Args:
            endpoint: Its entry in the study; its `params` are fields of Inspect's `GenerateConfig`.
            key: The key itself, if the study names its variable; else Inspect uses its provider's own variable.
            clock: Returns the current time and waits between tries.
            rate_limiter: Decides when an attempt may start.

        Raises:
            InputError: If the extra is missing, or Inspect does not know the parameters.
        """
        self._client = InspectClient(endpoint, key=key or "", clock=clock)
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
        """Return a request as one canonical text; equal requests have equal texts."""
        deciding_part, intended = self._endpoint.deciding_part, self._schemas.intended(request)
        return canonical_json(replace(deciding_part, name="")) + canonical_json(
            replace(intended, model="", replicate=1)
        )

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return the model's answer.

        Raises:
            GatewayError: If there was no reply; the subclass states why.
        """
        return await self._schemas.reply(request, lambda model_request: self._ask(model_request, on_chunk))

    async def check_endpoint(self) -> EndpointCheck:
        """Call once, within 4 seconds; never raises a `GatewayError`."""
        greeting = Message(speaker=Speaker.USER, text="Reply with the word ok.")
        ask = AskModel(model=self._endpoint.name, messages=(greeting,), party=FailureSource.MACHINERY)
        if (wait_s := await self._rate_limiter.wait_s(_foreseen(ask))) > 0 and not self._client.secret.is_missing:
            return self._endpoint_check(used_up(wait_s), was_called=False)
        outcome = await self._retry(
            ask, None, RetryPolicy(timeout_s=ENDPOINT_CHECK_S, deadline_s=ENDPOINT_CHECK_S, attempts=1)
        )
        if not isinstance(outcome, RetriesExhausted):
            reply = outcome[0]
            name = f", answers as {reply.answered_as}" if reply.answered_as else ""
            return self._endpoint_check(f"ok, {reply.latency_s:.1f} s{name}", reply=reply)
        if outcome.attempt_error.kind is TimedOut:
            return self._endpoint_check(f"no answer within {ENDPOINT_CHECK_S:g} s yet")
        if outcome.attempt_error.kind is RateLimited:
            return self._endpoint_check(f"there, but busy: {outcome.attempt_error.words}")
        return self._endpoint_check(outcome.attempt_error.words, alive=False)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

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
        if self._client.secret.is_missing:
            words = f"the environment variable `{self._client.secret.variable}` is not set"
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
        started_s = self._clock.monotonic_s()
        outcome: Reply | AttemptError | None = None
        try:
            outcome = await self._client.attempt(request, on_chunk=on_chunk, timeout_s=timeout_s)
            return outcome, self._clock.monotonic_s() - started_s
        finally:
            reply = outcome if isinstance(outcome, Reply) else None
            tokens = (reply.tokens_in + reply.tokens_out or None) if reply is not None else None
            attempt_error = outcome if isinstance(outcome, AttemptError) else None
            self._rate_limiter.end(turn, attempt_error, answered=reply is not None, tokens=tokens)

    def _endpoint_check(
        self, answer: str, *, alive: bool = True, was_called: bool = True, reply: Reply | None = None
    ) -> EndpointCheck:
        spent = Spending(calls=1, attempts=1) if was_called else Spending()
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
        return EndpointCheck(name=self._endpoint.name, host=host, alive=alive, answer=answer, hint=hint, spent=spent)


def _foreseen(request: AskModel) -> int:
    """Return the expected number of tokens of a request, estimated generously; count."""
    return sum(len(message.text) for message in request.messages) // 3 + 500
