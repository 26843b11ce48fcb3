"""Failed attempts: how an attempt failed, in our words, and whether to try again.

Foreign exceptions are translated here and nowhere else. They are not chained to
ours: what a library raises may carry the request's headers, and the key with them.
"""

from __future__ import annotations

import errno
import json
import re
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from http import HTTPStatus
from typing import Any

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
from theodolite.domain.run import Spending
from theodolite.gateways.web_address import NoAddress

FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
"""Codes with which endpoints say that their own content filter stepped in."""

QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes of a 429 that no waiting mends: there is no money left."""

_STATUS_OF_TYPE = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
}
"""Names of errors to the HTTP statuses that stand for them elsewhere.

Sources: Anthropic, "Errors", documentation of the Claude API; OpenAI, "Error codes", API documentation.
"""

_READ = 65_536

_NUMBER = re.compile(r"[45]\d\d")

_WORDS_AT = ("message", "detail", "title", "msg")
"""Fields in which servers put their words, the usual ones first."""

_DEPTH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiError:
    """What a server says is wrong; all of it may be empty.

    Attributes:
        words: Its words.
        code: The code that it gives them.
        status: The HTTP status that they amount to, for answers whose own status says otherwise; 0 where unknown.
    """

    words: str
    code: str = ""
    status: int = 0

    @property
    def is_filter(self) -> bool:
        """Whether the endpoint's own content filter stepped in."""
        return self.code in FILTER_CODES

    @property
    def is_quota(self) -> bool:
        """Whether an account has nothing left to spend."""
        return self.code in QUOTA_CODES


def read_api_error(body: bytes) -> ApiError:
    """Return what the body of an answer complains about, however it is written."""
    try:
        result = json.loads(body[:_READ])
    except (ValueError, RecursionError):
        return ApiError(words=_plain_words(body[:_READ]))
    return api_error_in(result) or ApiError(words="")


def api_error_in(payload: Any) -> ApiError | None:
    """Return the error that a parsed answer holds, or None where it holds none."""
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


def _words(said: Any, depth: int = _DEPTH) -> str:
    """Return what is said, wherever it stands; of a list of faults each with its place."""
    if isinstance(said, str):
        return said
    if not depth:
        return ""
    if isinstance(said, list):
        return "; ".join(filter(None, (_words(one, depth - 1) for one in said)))
    if not isinstance(said, Mapping):
        return ""
    words = next(filter(None, (_words(said.get(key), depth - 1) for key in _WORDS_AT)), "")
    position = said.get("loc")
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
"""Bytes of an answer that are read at most, unpacked."""


class Again(StrEnum):
    """Whether another attempt may do better."""

    NEVER = "never"
    ONCE = "once"
    """The request may have been worked on: a second try costs a second time."""
    UNTIL_SPENT = "until the attempts are spent"
    WHEN_ASKED = "when the endpoint has less to do"
    """Nothing was worked on, and waiting is what it asks for: no attempt is spent by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptError:
    """One attempt that brought no reply.

    Attributes:
        kind: The error that it becomes when it is the last word.
        words: What happened, without secrets, e.g. `refused` or `503 Overloaded`.
        again: Whether to try again.
        status: HTTP status; 0 where there was no answer.
        asked_wait_s: How long the endpoint asks to wait; seconds, None where it does not say.
        spent: What an answer has cost that could not be used: its tokens are paid for all the same.
    """

    kind: type[GatewayError]
    words: str
    again: Again = Again.NEVER
    status: int = 0
    asked_wait_s: float | None = None
    spent: Spending = field(default_factory=Spending)

    def error(self, *, endpoint: str, host: str = "", tries: int = 1, elapsed_s: float = 0.0) -> GatewayError:
        """Return the error that people read once nothing more is tried."""
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
        """How long the endpoint asks to wait, where that is worth a word."""
        return f"it asks to wait {self.asked_wait_s:,.0f} s" if self.asked_wait_s and self.asked_wait_s >= 1 else ""


def _listed(*words: str) -> str:
    return ", ".join(filter(None, words))


def _nobody(words: str, again: Again = Again.UNTIL_SPENT) -> AttemptError:
    return AttemptError(kind=Unreachable, words=words, again=again)


class PrivateAddress(OSError):
    """A name leads into a private network, and must not."""

    def __str__(self) -> str:
        return "no public address"


class NoConnection(OSError):
    """No connection could be made.

    Attributes:
        reason: What the system said.
        proxy: Host of the proxy that could not be reached; empty where the host itself could not.
    """

    def __init__(self, reason: OSError, *, proxy: str = "") -> None:
        super().__init__(*reason.args)
        self.reason = reason
        self.proxy = proxy


class ProxyRefused(OSError):
    """A proxy does not pass the call on.

    Attributes:
        status: HTTP status of its answer.
        proxy: Its host.
    """

    def __init__(self, status: int, *, proxy: str) -> None:
        super().__init__(status)
        self.status = status
        self.proxy = proxy


class BrokenOff(OSError):
    """The connection ended before anything of an answer had come."""


class CutShort(OSError):
    """The answer broke off, or is not packed as it says."""


class TooLarge(OSError):
    """The answer is larger than any that is meant."""


class TooManyEvents(OSError):
    """The answer is a stream of more events than any reply has."""


class PackedOtherwise(ValueError):
    """The answer is packed in a way that nobody asked for."""


class NotHttp(ValueError):
    """What came is no HTTP."""


REASONS: dict[type[OSError], AttemptError] = {
    PrivateAddress: _nobody("no public address", Again.NEVER),
    socket.gaierror: _nobody("unknown host"),
    ssl.SSLCertVerificationError: _nobody("its certificate is not trusted", Again.NEVER),
    ssl.SSLError: _nobody("no TLS connection", Again.NEVER),
    TimeoutError: _nobody("no connection in time", Again.ONCE),
    OSError: _nobody("no connection"),
}
"""Why there is no connection, by what the system said."""

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
"""Each class of exceptions that an attempt may raise, but for `NoConnection`."""

FOREIGN = (OSError, ValueError)
"""What an attempt may raise; `TimeoutError` and TLS errors are `OSError`s."""

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
    """Return the failed attempt of a proxy that answers and does not pass the call on; 5xx may pass."""
    advice = "; put user and password into its address in `HTTPS_PROXY`" if error.status == 407 else ""
    phrase = HTTPStatus(error.status).phrase if error.status in _STATUSES else ""
    words = f"the proxy {error.proxy} refuses: {error.status} {phrase}".rstrip()
    return _nobody(words + advice, Again.UNTIL_SPENT if error.status >= 500 else Again.NEVER)


def _unconnected(reason: OSError) -> AttemptError:
    """Return the failed attempt of a connection that could not be made."""
    if reason.errno in _ERRNO and not isinstance(reason, ssl.SSLError | socket.gaierror):
        return _nobody(_ERRNO[reason.errno])
    attempt_error = next(REASONS[kind] for kind in type(reason).__mro__ if kind in REASONS)
    why = str(getattr(reason, "verify_message", "")).rstrip(".")  # it names nothing but our side's wish
    return replace(attempt_error, words=f"{attempt_error.words}: {why}") if why else attempt_error


_PASSING = frozenset({408, 409, 425})
"""Statuses in which the endpoint refuses now but may not refuse a moment later."""


def of_status(status: int, words: str, *, asked_wait_s: float | None = None) -> AttemptError:
    """Return the failed attempt that an HTTP status other than 2xx means.

    Args:
        status: The status.
        words: What the endpoint says about it, shortened and scrubbed.
        asked_wait_s: How long it asks to wait; seconds.
    """
    said = f"{status} {words.removeprefix(str(status)).lstrip(': ')}".rstrip()
    if status in {429, 529}:
        kind: type[GatewayError] = RateLimited
        again = Again.WHEN_ASKED
    elif status >= 500 or status in _PASSING:
        kind, again = ServerFault, Again.UNTIL_SPENT
    elif 300 <= status < 400:
        return AttemptError(
            kind=Rejected, words=f"{said} (redirects are not followed; give the final address)", status=status
        )
    else:
        kind, again = Rejected, Again.NEVER
    return AttemptError(kind=kind, words=said, again=again, status=status, asked_wait_s=asked_wait_s)


def empty(words: str = "the reply holds no text") -> AttemptError:
    """Return the failed attempt of a reply without text."""
    return AttemptError(kind=EmptyReply, words=words)


def malformed(words: str) -> AttemptError:
    """Return the failed attempt of a reply that does not have the agreed form."""
    return AttemptError(kind=MalformedReply, words=words)


def unreadable(words: str) -> AttemptError:
    """Return the failed attempt of a cut or garbled answer, as gateways under load send it: a second try may do."""
    return AttemptError(kind=MalformedReply, words=words, again=Again.ONCE)


def withheld(words: str, *, status: int = 0) -> AttemptError:
    """Return the failed attempt of a reply that the endpoint's own filter withheld."""
    return AttemptError(kind=ContentRefused, words=words, status=status)
