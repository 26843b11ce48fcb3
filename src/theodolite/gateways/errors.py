"""Failed attempts: description of the failure, whether to retry, and the retries.

Foreign exceptions are translated here and nowhere else. They are not chained to
ours: a library's exception may carry the request's headers, and the key with them.
"""

from __future__ import annotations

import errno
import json
import math
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from http import HTTPStatus
from typing import Any, TypeVar, assert_never

from theodolite.domain.application import ModelEndpoint
from theodolite.domain.errors import (
    ContentRefused,
    EmptyReply,
    GatewayError,
    MalformedReply,
    RateLimited,
    Rejected,
    ServerFault,
    TimedOut,
    Unreachable,
)
from theodolite.domain.identity import keyed_draw
from theodolite.domain.run import Spending
from theodolite.gateways.proxies import NoAddress
from theodolite.ports.progress import Clock

FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
"""Codes by which endpoints report that their own content filter withheld a reply."""

QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes of a 429 that waiting does not resolve, because the account has no credit left."""

_STATUS_OF_TYPE = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
}
"""Names of errors to the equivalent HTTP statuses.

Sources: Anthropic, "Errors", documentation of the Claude API; OpenAI, "Error codes", API documentation.
"""

_READ = 65_536

_NUMBER = re.compile(r"[45]\d\d")

_WORDS_AT = ("message", "detail", "title", "msg")
"""Fields in which servers state the error text, the usual ones first."""

_DEPTH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiError:
    """An error as the server reports it; all fields may be empty.

    Attributes:
        words: Its text.
        code: Its error code.
        status: Equivalent HTTP status, for answers whose own status differs; 0 if unknown.
    """

    words: str
    code: str = ""
    status: int = 0

    @property
    def is_filter(self) -> bool:
        """Whether the endpoint's own content filter withheld the reply."""
        return self.code in FILTER_CODES

    @property
    def is_quota(self) -> bool:
        """Whether an account's credit is used up."""
        return self.code in QUOTA_CODES


def read_api_error(body: bytes) -> ApiError:
    """Return the error reported in the body of an answer, in any of the known formats."""
    try:
        result = json.loads(body[:_READ])
    except (ValueError, RecursionError):
        return ApiError(words=_plain_words(body[:_READ]))
    return api_error_in(result) or ApiError(words="")


def api_error_in(payload: Any) -> ApiError | None:
    """Return the error in a parsed answer, or None if there is none."""
    if isinstance(payload, list) and len(payload) == 1:  # some servers put their one object into a list
        payload = payload[0]
    if not isinstance(payload, Mapping):
        return None
    error = payload.get("error", payload)
    words = _words(error)
    if not isinstance(error, Mapping):
        return ApiError(words=words) if words else None
    code = _filter_code(error)
    return ApiError(words=words, code=code, status=_status(error)) if words or code else None


def _words(body: Any, depth: int = _DEPTH) -> str:
    """Return the error text from any known field; for a list of errors, each with its position."""
    if isinstance(body, str):
        return body
    if not depth:
        return ""
    if isinstance(body, list):
        return "; ".join(filter(None, (_words(one, depth - 1) for one in body)))
    if not isinstance(body, Mapping):
        return ""
    words = next(filter(None, (_words(body.get(key), depth - 1) for key in _WORDS_AT)), "")
    position = body.get("loc")
    return f"{'.'.join(map(str, position))}: {words}" if words and isinstance(position, list) else words


def _status(error: Mapping[str, Any]) -> int:
    """Return the status that an error names in a number or by its type."""
    names = [str(error.get(key)) for key in ("code", "type")]
    numbers = (int(name) for name in names if _NUMBER.fullmatch(name))
    return next(numbers, next((_STATUS_OF_TYPE[name] for name in names if name in _STATUS_OF_TYPE), 0))


def _filter_code(error: Mapping[str, Any]) -> str:
    inner = error.get("innererror")
    codes = (error.get("code"), inner.get("code") if isinstance(inner, Mapping) else None)
    answers = [code for code in codes if isinstance(code, str)]
    return next((code for code in answers if code in FILTER_CODES), next(iter(answers), ""))


def _plain_words(body: bytes) -> str:
    text = body.decode("utf-8", "replace").strip()
    return "with an HTML page" if text.startswith("<") else text


LARGEST_ANSWER = 10 * 2**20
"""Maximum size of an unpacked answer; bytes."""


class Again(StrEnum):
    """Whether another attempt may succeed."""

    NEVER = "never"
    ONCE = "once"
    """The request may have been processed: another attempt costs again."""
    UNTIL_SPENT = "until the attempts are spent"
    WHEN_ASKED = "when the endpoint has less to do"
    """The endpoint did not process the request and asks to wait: this does not count as an attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptError:
    """One failed attempt.

    Attributes:
        kind: The error that it becomes if no further attempt is made.
        words: Description of the error, without secrets, e.g. `refused` or `503 Overloaded`.
        again: Whether to retry.
        status: HTTP status; 0 if there was no answer.
        asked_wait_s: Wait that the endpoint requests; seconds, None if it requests none.
        spent: Cost of an unusable answer, whose tokens are still charged.
    """

    kind: type[GatewayError]
    words: str
    again: Again = Again.NEVER
    status: int = 0
    asked_wait_s: float | None = None
    spent: Spending = field(default_factory=Spending)

    def error(self, *, endpoint: str, host: str = "", tries: int = 1, elapsed_s: float = 0.0) -> GatewayError:
        """Return the final error for people."""
        effort = f"{tries} tries, {elapsed_s:.1f} s" if tries > 1 else ""
        if self.kind is Unreachable:
            where = f" at {host}" if host else ""
            message = f"nobody answers{where} ({_listed(self.words, effort)})"
        else:
            aside = _listed(self._wish, effort)
            message = f"{self.words} ({aside})" if aside else self.words
        return self.kind(message, endpoint=endpoint, tries=tries, status=self.status, spent=self.spent)

    @property
    def _wish(self) -> str:
        """The requested delay as text; empty if it is not worth mentioning."""
        return f"it asks to wait {self.asked_wait_s:,.0f} s" if self.asked_wait_s and self.asked_wait_s >= 1 else ""


def _listed(*words: str) -> str:
    return ", ".join(filter(None, words))


def _nobody(words: str, again: Again = Again.UNTIL_SPENT) -> AttemptError:
    return AttemptError(kind=Unreachable, words=words, again=again)


class PrivateAddress(OSError):
    """A name that must be public leads into a private network."""

    def __str__(self) -> str:
        return "no public address"


class NoConnection(OSError):
    """No connection could be made.

    Attributes:
        reason: The system's error.
        proxy: Host of the unreachable proxy; empty if the host itself was unreachable.
    """

    def __init__(self, reason: OSError, *, proxy: str = "") -> None:
        super().__init__(*reason.args)
        self.reason = reason
        self.proxy = proxy


class ProxyRefused(OSError):
    """A proxy does not forward the call.

    Attributes:
        status: HTTP status of its answer.
        proxy: Its host.
    """

    def __init__(self, status: int, *, proxy: str) -> None:
        super().__init__(status)
        self.status = status
        self.proxy = proxy


class BrokenOff(OSError):
    """The connection ended before an answer started."""


class CutShort(OSError):
    """The answer ended early, or is not encoded as its headers state."""


class TooLarge(OSError):
    """The answer is larger than the size limit."""


class TooManyEvents(OSError):
    """The answer is a stream with more events than the limit."""


class PackedOtherwise(ValueError):
    """The answer has an encoding that was not requested."""


class NotHttp(ValueError):
    """The answer is no HTTP."""


REASONS: dict[type[OSError], AttemptError] = {
    PrivateAddress: _nobody("no public address", Again.NEVER),
    socket.gaierror: _nobody("unknown host"),
    ssl.SSLCertVerificationError: _nobody("its certificate is not trusted", Again.NEVER),
    ssl.SSLError: _nobody("no TLS connection", Again.NEVER),
    TimeoutError: _nobody("no connection in time", Again.ONCE),
    OSError: _nobody("no connection"),
}
"""Reasons for a missing connection, by the system's error."""

TRANSLATIONS: dict[type[BaseException], AttemptError] = {
    BrokenOff: AttemptError(kind=ServerFault, words="the connection broke off", again=Again.UNTIL_SPENT),
    CutShort: AttemptError(
        kind=MalformedReply, words="the answer broke off or is not encoded as it says", again=Again.ONCE
    ),
    TooLarge: AttemptError(kind=MalformedReply, words=f"the answer is larger than {LARGEST_ANSWER >> 20} MB"),
    TooManyEvents: AttemptError(kind=MalformedReply, words="the answer is a stream of more events than any reply has"),
    PackedOtherwise: AttemptError(kind=MalformedReply, words="the answer is packed otherwise than by gzip or deflate"),
    NoAddress: AttemptError(kind=Rejected, words="the address cannot be used; expected `http://host:port/path`"),
    TimeoutError: AttemptError(kind=TimedOut, words="no answer in time", again=Again.ONCE),
    ProxyRefused: _nobody("the proxy refuses"),
    OSError: AttemptError(kind=ServerFault, words="the connection broke off", again=Again.UNTIL_SPENT),
    ValueError: AttemptError(kind=MalformedReply, words="the answer is not HTTP as agreed"),
}
"""Each class of exceptions that an attempt may raise, except `NoConnection`."""

FOREIGN = (OSError, ValueError)
"""Exceptions of an attempt; `TimeoutError` and TLS errors are `OSError`s."""

_ERRNO = {
    errno.ECONNREFUSED: "refused",
    errno.ENETUNREACH: "no route",
    errno.EHOSTUNREACH: "no route",
    errno.ETIMEDOUT: "no connection in time",
}


def translate(error: BaseException) -> AttemptError:
    """Return the failed attempt that a foreign exception means."""
    if isinstance(error, ProxyRefused):
        return _refused_by_proxy(error)
    if not isinstance(error, NoConnection):
        return next(TRANSLATIONS[kind] for kind in type(error).__mro__ if kind in TRANSLATIONS)
    attempt_error = _unconnected(error.reason)
    return (
        replace(attempt_error, words=f"the proxy {error.proxy}: {attempt_error.words}")
        if error.proxy
        else attempt_error
    )


_STATUSES = frozenset(map(int, HTTPStatus))


def _refused_by_proxy(error: ProxyRefused) -> AttemptError:
    """Return the failed attempt of a proxy that answers but does not forward the call; 5xx may be temporary."""
    advice = "; put user and password into its address in `HTTPS_PROXY`" if error.status == 407 else ""
    phrase = HTTPStatus(error.status).phrase if error.status in _STATUSES else ""
    words = f"the proxy {error.proxy} refuses: {error.status} {phrase}".rstrip()
    return _nobody(words + advice, Again.UNTIL_SPENT if error.status >= 500 else Again.NEVER)


def _unconnected(reason: OSError) -> AttemptError:
    """Return the failed attempt of a connection that could not be established."""
    if reason.errno in _ERRNO and not isinstance(reason, ssl.SSLError | socket.gaierror):
        return _nobody(_ERRNO[reason.errno])
    attempt_error = next(REASONS[kind] for kind in type(reason).__mro__ if kind in REASONS)
    why = str(getattr(reason, "verify_message", "")).rstrip(".")  # it describes only the failed check
    return replace(attempt_error, words=f"{attempt_error.words}: {why}") if why else attempt_error


_PASSING = frozenset({408, 409, 425})
"""Statuses of temporary refusals."""


def of_status(status: int, words: str, *, asked_wait_s: float | None = None) -> AttemptError:
    """Return the failed attempt for an HTTP status other than 2xx.

    Args:
        status: The status.
        words: The endpoint's text about it, shortened and without secrets.
        asked_wait_s: Requested delay; seconds.
    """
    text = f"{status} {words.removeprefix(str(status)).lstrip(': ')}".rstrip()
    if status in {429, 529}:
        kind: type[GatewayError] = RateLimited
        again = Again.WHEN_ASKED
    elif status >= 500 or status in _PASSING:
        kind, again = ServerFault, Again.UNTIL_SPENT
    elif 300 <= status < 400:
        return AttemptError(
            kind=Rejected, words=f"{text} (redirects are not followed; give the final address)", status=status
        )
    else:
        kind, again = Rejected, Again.NEVER
    return AttemptError(kind=kind, words=text, again=again, status=status, asked_wait_s=asked_wait_s)


def empty(words: str = "the reply holds no text") -> AttemptError:
    """Return the failed attempt of a reply without text."""
    return AttemptError(kind=EmptyReply, words=words)


def malformed(words: str) -> AttemptError:
    """Return the failed attempt of a reply in an unexpected form."""
    return AttemptError(kind=MalformedReply, words=words)


def unreadable(words: str) -> AttemptError:
    """Return the failed attempt of a truncated or garbled answer, e.g. of a busy gateway; a retry may succeed."""
    return AttemptError(kind=MalformedReply, words=words, again=Again.ONCE)


def withheld(words: str, *, status: int = 0) -> AttemptError:
    """Return the failed attempt of a reply that the endpoint's own filter withheld."""
    return AttemptError(kind=ContentRefused, words=words, status=status)


REFUSALS = 8
"""Number of "too many requests" refusals that are tolerated for each attempt of a call; count."""

_DOUBLINGS = 64  # more than any wait is long; twice as much again would one day be too large for a number

_IN_MILLISECONDS = ("retry-after-ms", "x-ms-retry-after-ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Limits of one call; nothing is retried forever.

    Attributes:
        timeout_s: For one attempt; seconds.
        deadline_s: For all attempts and the pauses between them; seconds. Waiting
            for a turn under the account's limits is not counted.
        connect_s: For one connection, name look-up included; seconds.
        attempts: Maximum number of attempts; count.
        attempts_once: Maximum number of attempts if the request may have been processed
            already, since each of them may be paid for; count.
        refusals: Maximum number of attempts that end with "too many requests"; they use no
            attempt. Count, None for as many as attempts.
        first_wait_s: Pause after the first try, doubled after each further one; seconds.
        longest_wait_s: Longest pause that the policy chooses itself; seconds.
        longest_asked_s: Maximum delay that an endpoint may request; seconds.
    """

    timeout_s: float = 60.0
    deadline_s: float = 600.0
    connect_s: float = 10.0
    attempts: int = 5
    attempts_once: int = 2
    refusals: int | None = None
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    longest_asked_s: float = 120.0

    def attempt_s(self, spent_s: float) -> float:
        """Return the time limit of the next attempt; seconds.

        Args:
            spent_s: Duration of attempts and pauses so far; seconds.
        """
        return min(self.timeout_s, self.deadline_s - spent_s)

    def wait_s(
        self, attempt_error: AttemptError, tries: int, key: str, *, spent_s: float = 0.0, refused: int = 0
    ) -> float | None:
        """Return the pause before the next attempt, or None to give up; seconds.

        The pause has jitter, so that calls that failed together are not repeated
        together. It is drawn by key: the same call waits equally long each time.

        Args:
            attempt_error: How the last attempt ended.
            tries: Attempts so far; count.
            key: Identifies this call.
            spent_s: Duration of attempts and pauses so far; seconds.
            refused: Attempts among them that ended with "too many requests"; count.
        """
        pause_s = (
            self._pause_s(attempt_error, tries, key) if self._may_try_again(attempt_error, tries, refused) else None
        )
        return None if pause_s is None or spent_s + pause_s >= self.deadline_s else pause_s

    def _may_try_again(self, attempt_error: AttemptError, tries: int, refused: int) -> bool:
        match attempt_error.again:
            case Again.NEVER:
                return False
            case Again.WHEN_ASKED:
                return max(1, refused) < (self.attempts if self.refusals is None else self.refusals)
            case Again.ONCE:
                return tries - refused < min(self.attempts_once, self.attempts)
            case Again.UNTIL_SPENT:
                return tries - refused < self.attempts
            case _:
                assert_never(attempt_error.again)

    def _pause_s(self, attempt_error: AttemptError, tries: int, key: str) -> float | None:
        own = min(self.longest_wait_s, self.first_wait_s * 2.0 ** min(tries - 1, _DOUBLINGS))
        jittered = own * (0.5 + keyed_draw(tries, "backoff", key))
        if attempt_error.asked_wait_s is None:
            return jittered
        if attempt_error.asked_wait_s > self.longest_asked_s:
            return None
        return max(attempt_error.asked_wait_s, 0.0) + jittered * 0.1


def retry_policy_of(endpoint: ModelEndpoint) -> RetryPolicy:
    """Return the limits of calls to a model; with one attempt nothing is retried, refusals included."""
    return RetryPolicy(
        timeout_s=endpoint.timeout_s,
        deadline_s=endpoint.deadline_s,
        attempts=endpoint.attempts,
        refusals=REFUSALS * endpoint.attempts if endpoint.attempts > 1 else 1,
    )


def asked_wait_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the wait that an answer's headers request; seconds, None if they request none.

    Args:
        headers: Name in small letters to value. `Retry-After` holds seconds or an HTTP date; OpenAI and
            Azure also state it in milliseconds, which is more precise.
        now: The present moment; UTC.
    """
    for name in _IN_MILLISECONDS:
        if (milliseconds := _number(headers.get(name, ""))) is not None:
            return milliseconds / 1000
    header = headers.get("retry-after", "")
    seconds = _number(header)
    return _until(header, now) if seconds is None else seconds


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _until(header: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):  # a year, or a distance from Greenwich, that no clock can show
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetriesExhausted:
    """A request that failed in all attempts."""

    attempt_error: AttemptError
    tries: int
    elapsed_s: float

    def error(self, *, endpoint: str, host: str = "") -> GatewayError:
        """Return the error for people, with the number of attempts and their duration."""
        return self.attempt_error.error(endpoint=endpoint, host=host, tries=self.tries, elapsed_s=self.elapsed_s)


async def retry(
    attempt: Callable[[float], Awaitable[tuple[T | AttemptError, float]]],
    *,
    retry_policy: RetryPolicy,
    clock: Clock,
    key: Callable[[], str],
) -> tuple[T, int] | RetriesExhausted:
    """Make attempts as often as the retry policy allows.

    Args:
        attempt: Makes one attempt; receives the seconds of all attempts and pauses so far, and
            returns its outcome and duration in seconds, excluding waiting time.
        retry_policy: Limits of the call.
        clock: Returns the current time and waits between tries.
        key: Returns the identity of this call; used only after a failed attempt.

    Returns:
        The answer and the number of attempts, or the final error.
    """
    started_s = clock.monotonic_s()
    tries, refused, spent_s = 0, 0, 0.0
    while True:
        tries += 1
        outcome, took_s = await attempt(spent_s)
        if not isinstance(outcome, AttemptError):
            return outcome, tries
        spent_s += took_s
        refused += outcome.again is Again.WHEN_ASKED
        wait_s = retry_policy.wait_s(outcome, tries, key(), spent_s=spent_s, refused=refused)
        if wait_s is None:
            return RetriesExhausted(attempt_error=outcome, tries=tries, elapsed_s=clock.monotonic_s() - started_s)
        spent_s += wait_s
        await clock.sleep(wait_s)
