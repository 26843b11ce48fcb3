"""The client to one endpoint: pooled connections, slots, attempts."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from theodolite.domain.errors import InputError, Rejected, TimedOut
from theodolite.domain.network import refuse_userinfo
from theodolite.gateways.errors import (
    FOREIGN,
    Again,
    AttemptError,
    RetriesExhausted,
    RetryPolicy,
    asked_wait_s,
    of_status,
    read_api_error,
    retry,
    translate,
    withheld,
)
from theodolite.gateways.proxies import CallRoute, NoAddress, web_address
from theodolite.gateways.rate_limiter import RateLimiter
from theodolite.gateways.secret_redaction import Secret
from theodolite.ports.progress import Clock

if TYPE_CHECKING:  # aiohttp loads with the first call
    from theodolite.gateways.http_transport import HttpTransport, RawResponse

_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';]+)""", re.IGNORECASE)

TokenCounter = Callable[[bytes], int | None]
"""Returns the tokens of a call from the body of its answer; None if it reports none."""

Authorise = Callable[["HttpRequest"], Awaitable[Mapping[str, str] | AttemptError]]
"""Returns the headers that authorise an attempt, or the reason why there are none."""

InBandCheck = Callable[[bytes], AttemptError | None]
"""Returns a temporary error from the body of a successful answer; None if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One HTTP request, without the key.

    Attributes:
        url: Address.
        method: HTTP method.
        body: Bytes; None for no body.
        headers: Headers but for the key.
        tokens: Expected tokens; count, 0 if they are not counted.
        doubtful: Fields that not every server accepts; an error that names one concerns
            the request, for any status.
        hear: Receives the bytes of a successful answer as they arrive; once it has received
            any, the request is not retried.
    """

    url: str
    method: str = "POST"
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    tokens: int = 0
    doubtful: tuple[str, ...] = ()
    hear: Callable[[bytes], None] | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """Identity of this request."""
        return hashlib.sha256(self.url.encode() + b"\n" + (self.body or b"")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """An HTTP answer with a status of 2xx, read to its end.

    Attributes:
        body: Its bytes, decompressed.
        content_type: Type from its headers; empty if they state none.
        latency_s: Time from the last attempt's start to its end; seconds.
        attempts: Attempts made; count.
    """

    body: bytes
    content_type: str = ""
    latency_s: float = 0.0
    attempts: int = 1

    @property
    def charset(self) -> str:
        """Encoding that its headers name; empty if they name none."""
        match = _CHARSET.search(self.content_type)
        return match[1] if match else ""


_Ended = tuple[HttpResponse | AttemptError, float]
"""Outcome and duration of an attempt; seconds."""


@dataclass(frozen=True, slots=True)
class _Lines:
    """Objects of one event loop."""

    loop: asyncio.AbstractEventLoop
    transport: HttpTransport
    slots: asyncio.Semaphore


class HttpClient:
    """Sends requests to one endpoint and returns answers or failed attempts.

    Connections are opened lazily inside the running event loop. There are no
    cookies, no redirects and no retries except our own.
    """

    def __init__(
        self,
        *,
        endpoint: str,
        secret: Secret,
        clock: Clock,
        retry_policy: RetryPolicy,
        parallel: int,
        rate_limiter: RateLimiter,
        count_tokens: TokenCounter | None = None,
        check_in_band: InBandCheck | None = None,
        route: CallRoute | None = None,
        authorise: Authorise | None = None,
    ) -> None:
        """Store the options of every call.

        Args:
            endpoint: Name of the model or application in the study.
            secret: The key, sent as bearer token.
            clock: Returns the current time and waits between tries.
            retry_policy: Bounds of a call.
            parallel: Maximum number of calls in flight; count.
            rate_limiter: Decides when an attempt may start: limits shared with others, limits per minute.
            count_tokens: Returns the tokens of a call; None if tokens are not counted.
            check_in_band: Detects temporary errors in successful answers; None to accept every such answer.
            route: Network route of calls; default: direct, with the system's authorities.
            authorise: Returns the headers that authorise one attempt; None if the key is all.
        """
        self.endpoint = endpoint
        self.secret = secret
        self.clock = clock
        self.retry_policy = retry_policy
        self._parallel = parallel
        self._rate_limiter = rate_limiter
        self._count_tokens = count_tokens
        self._check_in_band = check_in_band
        self._route = route
        self._authorise = authorise
        self._lines: _Lines | None = None

    async def call(self, http_request: HttpRequest) -> HttpResponse:
        """Return the answer to a request.

        Raises:
            GatewayError: If there was none; the subclass states why.
        """
        outcome = await self.retry(http_request, self.retry_policy)
        if isinstance(outcome, HttpResponse):
            return outcome
        raise outcome.error(endpoint=self.endpoint, host=host_of(http_request.url))

    async def retry(self, http_request: HttpRequest, retry_policy: RetryPolicy) -> HttpResponse | RetriesExhausted:
        """Retry as often as the retry policy allows; no slot is occupied while waiting."""
        if self.secret.is_missing:
            words = f"the environment variable `{self.secret.variable}` is not set"
            return RetriesExhausted(attempt_error=AttemptError(kind=Rejected, words=words), tries=0, elapsed_s=0.0)
        outcome = await retry(
            lambda spent_s: self._in_slot(http_request, retry_policy, spent_s),
            retry_policy=retry_policy,
            clock=self.clock,
            key=lambda: http_request.key,
        )
        if isinstance(outcome, RetriesExhausted):
            return outcome
        answer, tries = outcome
        return replace(answer, attempts=tries) if tries > 1 else answer

    async def wait_s(self, http_request: HttpRequest) -> float:
        """Return the time that a request would have to wait for its per-minute limit now; seconds."""
        return await self._rate_limiter.wait_s(http_request.tokens)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        lines, self._lines = self._lines, None
        if lines is not None and not lines.loop.is_closed():
            await lines.transport.close()

    def _open(self) -> _Lines:
        loop = asyncio.get_running_loop()
        if self._lines is None or self._lines.loop is not loop:
            from theodolite.gateways.http_transport import HttpTransport

            transport = HttpTransport(self.secret.headers(), route=self._route)
            self._lines = _Lines(loop, transport, asyncio.Semaphore(self._parallel))
        return self._lines

    async def _in_slot(self, http_request: HttpRequest, retry_policy: RetryPolicy, spent_s: float) -> _Ended:
        async with self._open().slots:
            return await self._in_turn(http_request, retry_policy, spent_s)

    async def _in_turn(self, http_request: HttpRequest, retry_policy: RetryPolicy, spent_s: float) -> _Ended:
        """Make one attempt at its turn; return its outcome and duration in seconds."""
        turn = await self._rate_limiter.begin(http_request.tokens)
        started_s = self.clock.monotonic_s()
        outcome: HttpResponse | AttemptError | None = None
        try:
            outcome = await self._attempt(http_request, retry_policy, retry_policy.attempt_s(spent_s))
            return outcome, self.clock.monotonic_s() - started_s
        finally:
            answer = outcome if isinstance(outcome, HttpResponse) else None
            tokens = self._count_tokens(answer.body) if answer is not None and self._count_tokens is not None else None
            attempt_error = outcome if isinstance(outcome, AttemptError) else None
            self._rate_limiter.end(turn, attempt_error, answered=answer is not None, tokens=tokens)

    async def _attempt(
        self, http_request: HttpRequest, retry_policy: RetryPolicy, timeout_s: float
    ) -> HttpResponse | AttemptError:
        headers = http_request.headers
        if self._authorise is not None:
            more = await self._authorise(http_request)
            if isinstance(more, AttemptError):
                return more
            headers = {**headers, **more}
        started_s = self.clock.monotonic_s()
        hear = _StreamListener(http_request.hear) if http_request.hear is not None else None
        try:
            answer = await self._open().transport.send(
                http_request.method,
                http_request.url,
                body=http_request.body,
                headers=headers,
                timeout_s=timeout_s,
                connect_s=retry_policy.connect_s,
                on_piece=hear,
            )
        except FOREIGN as error:
            attempt_error = translate(error)
            if hear is not None and hear.has_received:
                attempt_error = replace(attempt_error, again=Again.NEVER)
            late = attempt_error.kind is TimedOut
            return replace(attempt_error, words=f"no answer within {timeout_s:.3g} s") if late else attempt_error
        if 200 <= answer.status < 300:
            late_error = self._check_in_band(answer.body) if self._check_in_band is not None else None
            if late_error is not None:
                return late_error if hear is None else replace(late_error, again=Again.NEVER)
            kind = answer.headers.get("content-type", "")
            return HttpResponse(body=answer.body, content_type=kind, latency_s=self.clock.monotonic_s() - started_s)
        return self._refusal_of(answer, http_request.doubtful)

    def _refusal_of(self, answer: RawResponse, doubtful: tuple[str, ...]) -> AttemptError:
        api_error, status = read_api_error(answer.body), answer.status
        words = self.secret.scrub(api_error.words)
        if any(field in api_error.words for field in doubtful):
            return AttemptError(kind=Rejected, words=f"{status} {words}", status=status)
        if status == 400 and api_error.is_filter:
            return withheld(f"400 {words}".rstrip(), status=400)
        if api_error.is_quota:
            return AttemptError(kind=Rejected, words=f"{status} {words}".rstrip(), status=status)
        if status in {401, 403}:
            key = f"variable {self.secret.variable}" if self.secret.variable else "the study names no `key:`"
            words = f"{words} ({key})".lstrip()
        return of_status(status, words, asked_wait_s=asked_wait_s(answer.headers, self.clock.now()))


class _StreamListener:
    """Passes the bytes of an answer on and records whether there were any."""

    def __init__(self, hear: Callable[[bytes], None]) -> None:
        self._hear = hear
        self.has_received = False

    def __call__(self, piece: bytes) -> None:
        self.has_received = True
        self._hear(piece)


def host_of(url: str) -> str:
    """Return host and explicit port of an address, never its user or password.

    Example:
        >>> host_of("http://ana:secret@127.0.0.1:8000/v1")
        '127.0.0.1:8000'
    """
    parsed = web_address(url)
    return f"{parsed.host}:{parsed.named_port}" if parsed.named_port else parsed.host


def checked_address(url: str, *, what: str) -> str:
    """Return an address without a slash at its end.

    Raises:
        InputError: If it is not an HTTP address, or contains a user or a password.
    """
    refuse_userinfo(what, url)
    try:
        web_address(url)
    except NoAddress:
        message = f"{what} needs an address such as `http://127.0.0.1:8000/v1`; `url` is something else"
        raise InputError(message) from None
    return url.rstrip("/")
