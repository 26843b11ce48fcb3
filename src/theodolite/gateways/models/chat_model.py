"""Language models behind an HTTP address with one of the known formats."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from theodolite.domain.application import ModelEndpoint, Param
from theodolite.domain.errors import (
    ContentRefused,
    EmptyReply,
    RateLimited,
    Rejected,
    TimedOut,
    Unreachable,
    did_you_mean,
)
from theodolite.domain.flow import AskModel, Message, Reply, SchemaUse, Speaker
from theodolite.domain.identity import canonical_json
from theodolite.domain.run import FailureSource, Spending
from theodolite.gateways.errors import AttemptError, RetriesExhausted, RetryPolicy, retry_policy_of
from theodolite.gateways.http_client import Authorise, HttpClient, HttpRequest, HttpResponse, checked_address, host_of
from theodolite.gateways.models.chat_format import CHAT_COMPLETIONS, Dialect, read_model_names
from theodolite.gateways.models.model_answer import (
    StreamListener,
    expected_tokens,
    in_one_piece,
    late_words,
    passing_error,
    tokens_taken,
)
from theodolite.gateways.proxies import CallRoute
from theodolite.gateways.rate_limiter import RateLimiter, SlotPool
from theodolite.gateways.secret_redaction import Secret
from theodolite.ports.application import EndpointCheck, OnChunk
from theodolite.ports.progress import Clock

_UNSUPPORTED = frozenset({400, 422, 500, 501})
"""Statuses by which servers refuse a field that they do not know or support.

A 500 counts here only if its text names the field, as that of llama-cpp-python's server does:
https://github.com/abetlen/llama-cpp-python/blob/main/llama_cpp/server/errors.py
"""


class StructuredOutput:
    """Offers answer schemas to an endpoint, and remembers which it has refused.

    Servers do not announce their options, and their errors are all
    different. So the same request is made once without the schema: if that
    succeeds, the schema was the cause, and it is not offered again.
    """

    def __init__(self, endpoint: ModelEndpoint, *, is_set: bool) -> None:
        """Start with no rejected fields.

        Args:
            endpoint: The model's entry in the study.
            is_set: Whether the study's own `params` already set the answer's format.
        """
        self._structured = endpoint.structured
        self._is_off = endpoint.structured is False or is_set
        self._refused: set[str] = set()

    def intended(self, request: AskModel) -> AskModel:
        """Return a request as the study states it, regardless of the endpoint's options."""
        return words_alone(request) if self._is_off else request

    async def reply(self, request: AskModel, ask: Callable[[AskModel], Awaitable[Reply]]) -> Reply:
        """Return the answer of an endpoint, requested with the schema if it supports it.

        Args:
            request: The request.
            ask: Calls the endpoint.

        Raises:
            GatewayError: If there was no reply; the subclass states why.
        """
        use = self._use_of(request)
        try:
            reply = await ask(request if use is SchemaUse.SENT else words_alone(request))
        except Rejected as error:
            if not self._may_be_the_cause(use, error):
                raise
            reply = await ask(words_alone(request))
            self._refused.add(canonical_json(request.answer_schema))
            return replace(reply, schema_use=SchemaUse.REFUSED, attempts=error.tries + reply.attempts)
        return reply if use is SchemaUse.NONE else replace(reply, schema_use=use)

    def _use_of(self, request: AskModel) -> SchemaUse:
        if request.answer_schema is None:
            return SchemaUse.NONE
        if self._is_off:
            return SchemaUse.OFF
        return SchemaUse.REFUSED if canonical_json(request.answer_schema) in self._refused else SchemaUse.SENT

    def _may_be_the_cause(self, use: SchemaUse, error: Rejected) -> bool:
        """Return whether an endpoint may have rejected a request for its schema, and may do without."""
        return use is SchemaUse.SENT and self._structured is None and error.status in _UNSUPPORTED


def words_alone(request: AskModel) -> AskModel:
    """Return a request without its schema."""
    return request if request.answer_schema is None else replace(request, answer_schema=None)


KNOCK_WORDS = "Reply with the word ok."
"""Text of the endpoint check, the smallest real call, before the first paid unit."""

ENDPOINT_CHECK_S = 4.0
"""Deadline of an endpoint check, everything included; seconds."""

_CHAT_SHARE = 0.75

_LIST_S = 0.6

_BESIDE_S = 0.9  # waiting for the minute of the limits included

ENDPOINT_CHECK_POLICY = RetryPolicy(connect_s=2.5, attempts=3, attempts_once=1, first_wait_s=0.4, longest_asked_s=0.0)

_SHOWN_NAMES = 8


class ChatEndpointCheck:
    """One request, and the messages for each kind of answer."""

    def __init__(self, chat_client: ChatClient, *, endpoint_check_s: float = ENDPOINT_CHECK_S) -> None:
        """Check through a client.

        Args:
            chat_client: Client of the endpoint.
            endpoint_check_s: Deadline of an endpoint check; seconds.
        """
        self._client = chat_client
        self._endpoint_check_s = endpoint_check_s
        self._curl = chat_client.dialect.curl(chat_client.url, chat_client.client.secret)

    async def ask(self) -> EndpointCheck:
        """Call once, within the deadline; never raises a `GatewayError`.

        Nothing is sent if the endpoint's per-minute limits are used up, e.g. after a run that was just stopped.
        """
        greeting = Message(speaker=Speaker.USER, text=KNOCK_WORDS)
        ask = AskModel(model=self._client.endpoint.name, messages=(greeting,), party=FailureSource.MACHINERY)
        if (
            wait_s := await self._client.client.wait_s(self._client.http_request(ask))
        ) > 0 and not self._client.client.secret.is_missing:
            return self._endpoint_check(used_up(wait_s), attempts=0)
        try:
            async with asyncio.timeout(_CHAT_SHARE * self._endpoint_check_s):
                outcome = await self._client.send(ask, ENDPOINT_CHECK_POLICY, in_pieces=self._client.endpoint.stream)
        except TimeoutError:
            return await self._check_without_answer()
        return await self._failed_check(outcome) if isinstance(outcome, RetriesExhausted) else self._answered(outcome)

    def _answered(self, answer: HttpResponse) -> EndpointCheck:
        reply = self._client.read(answer, in_pieces=self._client.endpoint.stream)
        took = f"ok, {answer.latency_s:.1f} s" + (
            ", no token counts of streams" if self._client.wishes.are_refused else ""
        )
        if isinstance(reply, Reply):
            name = f", answers as {reply.answered_as}" if reply.answered_as else ""
            return self._endpoint_check(took + name, attempts=reply.attempts, reply=reply)
        if reply.kind in {EmptyReply, ContentRefused}:
            return self._endpoint_check(f"{took}, but {reply.words}", attempts=answer.attempts)
        return self._endpoint_check(reply.words, alive=False, hint=self._curl, attempts=answer.attempts)

    async def _check_without_answer(self) -> EndpointCheck:
        """Distinguish a model that thinks from a port that accepts connections without answering.

        A server that is busy with one call still answers others, if only with a 404.
        """
        retry_policy = RetryPolicy(connect_s=_LIST_S, timeout_s=_LIST_S, attempts=1)
        try:
            async with asyncio.timeout(_BESIDE_S):
                listed = await self._client.models(retry_policy)
        except TimeoutError:  # the limits a minute bear no second question
            return self._endpoint_check(f"no answer within {self._endpoint_check_s:g} s yet", attempts=1)
        if isinstance(listed, HttpResponse) or listed.attempt_error.status:
            return self._endpoint_check(f"connected, no answer within {self._endpoint_check_s:g} s yet", attempts=1)
        words = f"takes connections but says nothing within {self._endpoint_check_s:g} s"
        return self._endpoint_check(words, alive=False, reached=False, hint=self._curl, attempts=1)

    async def _failed_check(self, outcome: RetriesExhausted) -> EndpointCheck:
        attempt_error, tries = outcome.attempt_error, outcome.tries
        words = str(outcome.error(endpoint=self._client.endpoint.name))
        if attempt_error.kind is RateLimited:
            return self._endpoint_check(f"there, but busy: {words}", attempts=tries)
        if attempt_error.kind is not Rejected:
            reached = attempt_error.kind not in {Unreachable, TimedOut}
            return self._endpoint_check(words, alive=False, reached=reached, hint=self._curl, attempts=tries)
        if attempt_error.status in {401, 403} or not tries:
            return self._endpoint_check(words, alive=False, hint=_key_hint(self._client.endpoint), attempts=tries)
        if hint := _fields_hint(words, self._client):
            return self._endpoint_check(words, alive=False, hint=hint, attempts=tries)
        words += await self._offered(attempt_error.status)
        return self._endpoint_check(words, alive=False, hint=self._curl, attempts=tries)

    async def _offered(self, status: int) -> str:
        """Return the names that the endpoint offers, if ours is not among them."""
        try:
            async with asyncio.timeout(_BESIDE_S):
                names = sorted(await self._client.model_names())
        except TimeoutError:  # as above
            names = []
        if not names and status == 404 and not self._client.url.endswith("/v1") and "?" not in self._client.url:
            return "; such addresses mostly end in `/v1`"
        if not names or self._client.endpoint.model in names:
            return ""
        more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
        known = self._client.client.secret.scrub(", ".join(names[:_SHOWN_NAMES])) + more
        return (
            f"; `{self._client.endpoint.model}` is not among {known}{did_you_mean(self._client.endpoint.model, names)}"
        )

    def _endpoint_check(
        self,
        answer: str,
        *,
        attempts: int,
        alive: bool = True,
        reached: bool = True,
        hint: str = "",
        reply: Reply | None = None,
    ) -> EndpointCheck:
        return EndpointCheck(
            name=self._client.endpoint.name,
            host=host_of(self._client.url),
            alive=alive,
            answer=answer,
            hint=hint,
            spent=_spent(attempts, reply),
            reached=reached,
        )


def used_up(wait_s: float) -> str:
    """Return the text about an endpoint that may not be called now.

    Args:
        wait_s: Time until its per-minute limits allow a call; seconds.
    """
    return f"not asked, its limits a minute are used up for {math.ceil(wait_s)} s yet"


def _spent(attempts: int, reply: Reply | None) -> Spending:
    """Return the cost of an endpoint check."""
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


def _fields_hint(words: str, chat_client: ChatClient) -> str:
    """Return the remedy if an endpoint's error names a field of the study; empty if it does not."""
    own, where = chat_client.endpoint.params, f"under `params` of model `{chat_client.endpoint.name}`"
    named = [name for name in own if _speaks_of(words, name)]
    if named:
        return f"change {' and '.join(f'`{name}`' for name in named)} {where}, or leave it out"
    streamed = [name for name in chat_client.dialect.streaming.fields if name not in own and _speaks_of(words, name)]
    return f"write `{streamed[-1]}: null` {where}, so that it is not sent" if streamed else ""


def _speaks_of(words: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words) is not None


class ChatModel:
    """One model behind `{url}/chat/completions`, or the path of another dialect."""

    def __init__(
        self,
        endpoint: ModelEndpoint,
        *,
        key: str | None = None,
        clock: Clock,
        dialect: Dialect = CHAT_COMPLETIONS,
        endpoint_check_s: float = ENDPOINT_CHECK_S,
        rate_limiter: RateLimiter | None = None,
        route: CallRoute | None = None,
        authorise: Authorise | None = None,
    ) -> None:
        """Prepare the client; nothing is opened before the first call.

        Args:
            endpoint: The model's entry in the study.
            key: The key itself, from the environment; never repeated anywhere.
            clock: Returns the current time and waits between tries.
            dialect: Its request format.
            endpoint_check_s: Deadline of an endpoint check; seconds.
            rate_limiter: Decides when an attempt may start; default: a separate account.
            route: Network route of calls; default: direct.
            authorise: Returns the headers that authorise one attempt; None if the key is all.

        Raises:
            InputError: If the address or the key cannot be used.
        """
        self._client = open_chat_client(
            endpoint,
            dialect,
            key=key or "",
            clock=clock,
            rate_limiter=rate_limiter,
            route=route,
            authorise=authorise,
        )
        self._schemas = StructuredOutput(endpoint, is_set=dialect.sets_form(endpoint.params))
        self._checking_endpoints = ChatEndpointCheck(self._client, endpoint_check_s=endpoint_check_s)

    def __repr__(self) -> str:
        return f"ChatModel({self._client.endpoint.name!r}, host={host_of(self._client.url)!r})"

    def sent(self, request: AskModel) -> str:
        """Return the call that a request becomes as one text, without the key.

        It does not depend on the order of `params`, nor on what the endpoint
        turned out to refuse, so that equal requests have equal texts at all times.
        """
        http_request = self._client.http_request(self._schemas.intended(request))
        call = {
            "body": json.loads(http_request.body or b"null"),
            "headers": dict(http_request.headers),
            "url": http_request.url,
        }
        return json.dumps(call, sort_keys=True, separators=(",", ":"))

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return the model's answer.

        An endpoint without answer schemas receives the schema as text, and the reply records this.

        Raises:
            GatewayError: If there was no reply; the subclass states why.
        """
        if request.answer_schema is None:
            return await self._client.ask(request, on_chunk=on_chunk)
        return await self._schemas.reply(
            request, lambda model_request: self._client.ask(model_request, on_chunk=on_chunk)
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.client.close()

    async def check_endpoint(self) -> EndpointCheck:
        """Call once, within 4 seconds; never raises a `GatewayError`."""
        return await self._checking_endpoints.ask()

    async def model_names(self) -> tuple[str, ...]:
        """Return the names of the models of the endpoint; empty if it lists none."""
        return await self._client.model_names()


_REFUSING = frozenset({400, 422})
"""Statuses with which servers reject an unknown field, with any text."""


class StreamOptions:
    """Records whether an endpoint accepts the optional fields of its dialect's streams.

    Servers do not announce which fields they accept. So a rejected request is repeated once
    more without them: if that succeeds, they were the cause, and are not sent again.
    An endpoint that accepted them once is retried only if its error text names one of them.
    """

    def __init__(self, wishes: Mapping[str, object], params: Mapping[str, Param]) -> None:
        """Start with no rejected fields.

        Args:
            wishes: Optional fields and their values, as the dialect defines them.
            params: The study's own fields, which have priority.
        """
        self._wishes = {name: value for name, value in wishes.items() if name not in params}
        self._taken = False
        self._refused = False

    @property
    def fields(self) -> Mapping[str, object]:
        """Options of a streamed request."""
        return {} if self._refused else self._wishes

    @property
    def are_refused(self) -> bool:
        """Whether the endpoint has rejected them, so that its streams lack this information."""
        return self._refused

    def may_be_refused(self, sent: Mapping[str, object], outcome: HttpResponse | RetriesExhausted) -> bool:
        """Return whether a call may have failed because of its options; successful options are cached."""
        if not sent:
            return False
        if isinstance(outcome, HttpResponse):
            words = late_words(outcome.body)
            self._taken = self._taken or not words
            return any(name in words for name in sent)
        attempt_error = outcome.attempt_error
        if attempt_error.kind is not Rejected:
            return False
        is_named = any(name in attempt_error.words for name in sent)
        return is_named or (attempt_error.status in _REFUSING and not self._taken)

    def give_up(self, answer: HttpResponse) -> None:
        """Record that the endpoint works only without them, unless the answer is also an error."""
        self._refused = self._refused or not late_words(answer.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatClient:
    """Shared parts of calls and endpoint checks.

    Attributes:
        endpoint: The model's entry in the study.
        dialect: Its request format.
        url: Base address, checked.
        client: Sends and retries.
        wishes: Optional fields of streamed requests.
    """

    endpoint: ModelEndpoint
    dialect: Dialect
    url: str
    client: HttpClient
    wishes: StreamOptions

    def http_request(self, request: AskModel, *, stream: Mapping[str, object] | None = None) -> HttpRequest:
        """Return the call that a request becomes, without the key.

        Args:
            request: The model's request.
            stream: Options of an answer in pieces; None for an answer in one piece.
        """
        http_request = self.dialect.call(self.endpoint, request, url=self.url, stream=stream)
        if self.endpoint.tpm is None or http_request.body is None:
            return http_request
        return replace(http_request, tokens=expected_tokens(self.endpoint, http_request.body))

    async def ask(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return the model's reply; streamed if there is a listener or the study requests it.

        Raises:
            GatewayError: If there was no reply; the subclass states why.
        """
        in_pieces = self.endpoint.stream or on_chunk is not None
        listener = StreamListener(self.dialect.streaming, on_chunk) if on_chunk is not None else None
        outcome, tries = await self._reading(request, in_pieces=in_pieces, listener=listener)
        wait_s = self._wait_s(outcome, tries, request, listener)
        if wait_s is not None:
            await self.client.clock.sleep(wait_s)
            outcome, more = await self._reading(request, in_pieces=in_pieces, listener=listener)
            tries += more
        if isinstance(outcome, AttemptError):
            raise outcome.error(endpoint=self.endpoint.name, tries=tries)
        if listener is not None:
            listener.end(outcome.text)
        return outcome if outcome.attempts == tries else replace(outcome, attempts=tries)

    async def _reading(
        self, request: AskModel, *, in_pieces: bool, listener: StreamListener | None
    ) -> tuple[Reply | AttemptError, int]:
        """Return the content of an answer, and the number of attempts.

        Raises:
            GatewayError: If there was no answer.
        """
        answer = await self.send(request, self.client.retry_policy, in_pieces=in_pieces, listener=listener)
        if isinstance(answer, RetriesExhausted):
            raise answer.error(endpoint=self.endpoint.name, host=host_of(self.url))
        return self.read(answer, in_pieces=in_pieces), answer.attempts

    def _wait_s(
        self, outcome: Reply | AttemptError, tries: int, request: AskModel, listener: StreamListener | None
    ) -> float | None:
        """Return the pause before a retry after an unreadable answer; None for no retry. Seconds."""
        if not isinstance(outcome, AttemptError) or (listener is not None and listener.has_received):
            return None
        return self.client.retry_policy.wait_s(outcome, tries, self.http_request(request).key)

    async def send(
        self, request: AskModel, retry_policy: RetryPolicy, *, in_pieces: bool, listener: StreamListener | None = None
    ) -> HttpResponse | RetriesExhausted:
        """Send a request as often as the retry policy allows, without the optional stream fields if they are refused.

        Args:
            request: The model's request.
            retry_policy: Limits of the call.
            in_pieces: Whether the answer is streamed.
            listener: Receives the stream as it arrives; None for no listener.
        """
        wishes = self.wishes.fields if in_pieces else None
        outcome = await self._retry(request, retry_policy, wishes, listener)
        if not wishes or not self.wishes.may_be_refused(wishes, outcome):
            return outcome
        again = await self._retry(request, retry_policy, {}, listener)
        n_attempts = outcome.attempts if isinstance(outcome, HttpResponse) else outcome.tries
        if isinstance(again, RetriesExhausted):
            return replace(again, tries=again.tries + n_attempts)
        self.wishes.give_up(again)
        return replace(again, attempts=again.attempts + n_attempts)

    async def _retry(
        self,
        request: AskModel,
        retry_policy: RetryPolicy,
        wishes: Mapping[str, object] | None,
        listener: StreamListener | None,
    ) -> HttpResponse | RetriesExhausted:
        http_request = self.http_request(request, stream=wishes)
        return await self.client.retry(
            replace(http_request, hear=listener.feed) if listener is not None else http_request, retry_policy
        )

    def read(self, answer: HttpResponse, *, in_pieces: bool) -> Reply | AttemptError:
        """Return the reply in an answer, or its error."""
        whole = in_one_piece(answer, self.dialect.streaming) if in_pieces else answer
        if isinstance(whole, AttemptError):
            return whole
        return self.dialect.read(whole, price=self.endpoint.price, secret=self.client.secret)

    async def models(self, retry_policy: RetryPolicy) -> HttpResponse | RetriesExhausted:
        """List the models of the address."""
        return await self.client.retry(self.dialect.listing(self.url), retry_policy)

    async def model_names(self) -> tuple[str, ...]:
        """Return the names of the models of the endpoint; empty if it lists none."""
        answer = await self.models(RetryPolicy(timeout_s=1.0, attempts=1))
        return read_model_names(answer) if isinstance(answer, HttpResponse) else ()


def open_chat_client(
    endpoint: ModelEndpoint,
    dialect: Dialect,
    *,
    key: str,
    clock: Clock,
    rate_limiter: RateLimiter | None,
    route: CallRoute | None = None,
    authorise: Authorise | None = None,
) -> ChatClient:
    """Return the client of an endpoint; nothing is opened before the first call.

    Raises:
        InputError: If the address or the key cannot be used.
    """
    url = checked_address(endpoint.url, what=f"model `{endpoint.name}`")
    secret = Secret(key, variable=endpoint.key, header=endpoint.key_header or dialect.key_header)
    wishes = StreamOptions(dialect.streaming.wishes, endpoint.params)
    client = HttpClient(
        endpoint=endpoint.name,
        secret=secret,
        clock=clock,
        retry_policy=retry_policy_of(endpoint),
        parallel=endpoint.parallel,
        rate_limiter=rate_limiter or RateLimiter(SlotPool(clock, parallel=endpoint.parallel), clock),
        count_tokens=tokens_taken if endpoint.tpm is not None else None,
        check_in_band=lambda body: passing_error(body, secret),
        route=route,
        authorise=authorise,
    )
    return ChatClient(endpoint=endpoint, dialect=dialect, url=url, client=client, wishes=wishes)
