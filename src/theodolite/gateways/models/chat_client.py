"""Chat lines: one endpoint with the dialect that it speaks, and the client to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from theodolite.domain.application import ModelEndpoint, Param
from theodolite.domain.errors import Rejected
from theodolite.domain.flow import AskModel, Reply
from theodolite.gateways.errors import AttemptError
from theodolite.gateways.http.client import HttpClient, HttpRequest, HttpResponse, checked_address, host_of
from theodolite.gateways.http.proxies import CallRoute
from theodolite.gateways.limits.rate_limiter import RateLimiter, SlotPool
from theodolite.gateways.limits.retry import RetriesExhausted, RetryPolicy, retry_policy_of
from theodolite.gateways.models.chat_format import Dialect, read_model_names
from theodolite.gateways.models.model_answer import (
    StreamListener,
    expected_tokens,
    in_one_piece,
    late_words,
    passing_error,
    tokens_taken,
)
from theodolite.gateways.secret_redaction import Secret
from theodolite.ports.application import OnChunk
from theodolite.ports.progress import Clock

_REFUSING = frozenset({400, 422})
"""Statuses with which servers refuse a field that they do not know, whatever their words."""


class StreamOptions:
    """Remembers whether an endpoint takes the wishes of its dialect's streams.

    Servers do not say beforehand which fields they take. So a refused request is made once
    more without them: if that brings an answer, they were the cause, and are not sent again.
    An endpoint that took them once is asked again only where its words name one of them.
    """

    def __init__(self, wishes: Mapping[str, object], params: Mapping[str, Param]) -> None:
        """Begin with nothing refused.

        Args:
            wishes: Field to value, as the dialect has them.
            params: The study's own fields; what it says itself, it means.
        """
        self._wishes = {name: value for name, value in wishes.items() if name not in params}
        self._taken = False
        self._refused = False

    @property
    def fields(self) -> Mapping[str, object]:
        """What a request for pieces says beside that it wants them."""
        return {} if self._refused else self._wishes

    @property
    def are_refused(self) -> bool:
        """Whether the endpoint has turned them down, so that its streams tell nothing of the kind."""
        return self._refused

    def may_be_refused(self, sent: Mapping[str, object], outcome: HttpResponse | RetriesExhausted) -> bool:
        """Tell whether a call may have failed for the wishes that it was sent with; what succeeds is remembered."""
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
        """Keep in mind that the endpoint answers without them and not with them, unless the answer complains, too."""
        self._refused = self._refused or not late_words(answer.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatClient:
    """What calls and endpoint checks have in common.

    Attributes:
        endpoint: What the study says about the model.
        dialect: How it wants to be asked.
        url: Base address, checked.
        client: Sends and retries.
        wishes: What it is asked to tell beside the pieces of a reply.
    """

    endpoint: ModelEndpoint
    dialect: Dialect
    url: str
    client: HttpClient
    wishes: StreamOptions

    def http_request(self, request: AskModel, *, stream: Mapping[str, object] | None = None) -> HttpRequest:
        """Return the call that a request becomes, without the key.

        Args:
            request: What the model is asked.
            stream: What is wished for beside an answer in pieces; None for an answer in one piece.
        """
        http_request = self.dialect.call(self.endpoint, request, url=self.url, stream=stream)
        if self.endpoint.tpm is None or http_request.body is None:
            return http_request
        return replace(http_request, tokens=expected_tokens(self.endpoint, http_request.body))

    async def ask(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return what the model answers; it is streamed where somebody listens or the study says so.

        Raises:
            GatewayError: If no reply came; the subclass says why.
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
        """Return what an answer holds, and how many attempts it took.

        Raises:
            GatewayError: If no answer came.
        """
        answer = await self.send(request, self.client.retry_policy, in_pieces=in_pieces, listener=listener)
        if isinstance(answer, RetriesExhausted):
            raise answer.error(endpoint=self.endpoint.name, host=host_of(self.url))
        return self.read(answer, in_pieces=in_pieces), answer.attempts

    def _wait_s(
        self, outcome: Reply | AttemptError, tries: int, request: AskModel, listener: StreamListener | None
    ) -> float | None:
        """Return the pause before an unreadable answer is asked for again; None where it is not. Seconds."""
        if not isinstance(outcome, AttemptError) or (listener is not None and listener.has_received):
            return None
        return self.client.retry_policy.wait_s(outcome, tries, self.http_request(request).key)

    async def send(
        self, request: AskModel, retry_policy: RetryPolicy, *, in_pieces: bool, listener: StreamListener | None = None
    ) -> HttpResponse | RetriesExhausted:
        """Send a request as often as the retry policy allows; without the wishes of its stream where these are refused.

        Args:
            request: What the model is asked.
            retry_policy: Bounds of the call.
            in_pieces: Whether the answer is to come as a stream.
            listener: Hears the stream as it comes; None where nobody listens.
        """
        wishes = self.wishes.fields if in_pieces else None
        outcome = await self._retry(request, retry_policy, wishes, listener)
        if not wishes or not self.wishes.may_be_refused(wishes, outcome):
            return outcome
        again = await self._retry(request, retry_policy, {}, listener)
        tried = outcome.attempts if isinstance(outcome, HttpResponse) else outcome.tries
        if isinstance(again, RetriesExhausted):
            return replace(again, tries=again.tries + tried)
        self.wishes.give_up(again)
        return replace(again, attempts=again.attempts + tried)

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
        """Return the reply that an answer holds, or what is wrong with it."""
        whole = in_one_piece(answer, self.dialect.streaming) if in_pieces else answer
        if isinstance(whole, AttemptError):
            return whole
        return self.dialect.read(whole, price=self.endpoint.price, secret=self.client.secret)

    async def models(self, retry_policy: RetryPolicy) -> HttpResponse | RetriesExhausted:
        """Ask which models the address offers."""
        return await self.client.retry(self.dialect.listing(self.url), retry_policy)

    async def model_names(self) -> tuple[str, ...]:
        """Return the names of the models that the endpoint offers; empty where it does not say."""
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
) -> ChatClient:
    """Return the line to an endpoint; nothing is opened before the first call.

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
    )
    return ChatClient(endpoint=endpoint, dialect=dialect, url=url, client=client, wishes=wishes)
