"""Every foreign exception and every HTTP status has a meaning of ours."""

from __future__ import annotations

import errno
import json
import socket
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.gateway_clock import HastyClock
from theodolite.domain.errors import (
    GatewayError,
    MalformedReply,
    RateLimited,
    Rejected,
    ServerFault,
    TimedOut,
    Unreachable,
)
from theodolite.gateways.errors import (
    Again,
    ApiError,
    AttemptError,
    BrokenOff,
    CutShort,
    NoConnection,
    NotHttp,
    PackedOtherwise,
    PrivateAddress,
    RetriesExhausted,
    RetryPolicy,
    TooLarge,
    api_error_in,
    asked_wait_s,
    of_status,
    read_api_error,
    retry,
    translate,
)
from theodolite.gateways.proxies import NoAddress


@pytest.mark.parametrize(
    ("error", "kind", "again"),
    [
        (TimeoutError(), TimedOut, Again.ONCE),
        (NoConnection(TimeoutError()), Unreachable, Again.ONCE),
        (NoConnection(socket.gaierror(-2, "no such name")), Unreachable, Again.UNTIL_SPENT),
        (NoConnection(PrivateAddress()), Unreachable, Again.NEVER),
        (NoConnection(ssl.SSLCertVerificationError("self-signed")), Unreachable, Again.NEVER),
        (NoConnection(ssl.SSLError("handshake")), Unreachable, Again.NEVER),
        (BrokenOff(), ServerFault, Again.UNTIL_SPENT),
        (ConnectionResetError(), ServerFault, Again.UNTIL_SPENT),
        (CutShort(), MalformedReply, Again.ONCE),
        (TooLarge(), MalformedReply, Again.NEVER),
        (NotHttp(), MalformedReply, Again.NEVER),
        (PackedOtherwise(), MalformedReply, Again.NEVER),
        (NoAddress(), Rejected, Again.NEVER),
        (UnicodeError("idna"), MalformedReply, Again.NEVER),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_an_exception_becomes_an_attempt_error(error: BaseException, kind: type[GatewayError], again: Again) -> None:
    attempt_error = translate(error)

    assert (attempt_error.kind, attempt_error.again) == (kind, again)


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ECONNREFUSED, "refused"), (errno.EHOSTUNREACH, "no route"), (errno.EPERM, "no conn")]
)
def test_the_reason_of_a_failed_connection_is_stated(number: int, words: str) -> None:
    error = NoConnection(OSError(number, "strange words of the system"))

    assert translate(error).words.startswith(words)


@pytest.mark.parametrize(
    ("status", "kind", "again"),
    [
        (400, Rejected, Again.NEVER),
        (401, Rejected, Again.NEVER),
        (404, Rejected, Again.NEVER),
        (418, Rejected, Again.NEVER),
        (422, Rejected, Again.NEVER),
        (302, Rejected, Again.NEVER),
        (408, ServerFault, Again.UNTIL_SPENT),
        (409, ServerFault, Again.UNTIL_SPENT),
        (429, RateLimited, Again.WHEN_ASKED),
        (500, ServerFault, Again.UNTIL_SPENT),
        (503, ServerFault, Again.UNTIL_SPENT),
        (529, RateLimited, Again.WHEN_ASKED),
    ],
)
def test_a_status_becomes_an_attempt_error(status: int, kind: type[GatewayError], again: Again) -> None:
    attempt_error = of_status(status, "words")

    assert (attempt_error.kind, attempt_error.again, attempt_error.status) == (kind, again, status)
    assert attempt_error.words.startswith(f"{status} words")


def test_a_failed_connection_states_host_attempts_and_time() -> None:
    refused = AttemptError(kind=Unreachable, words="refused")

    error = refused.error(endpoint="app", host="127.0.0.1:8000", tries=3, elapsed_s=1.44)

    assert str(error) == "nobody answers at 127.0.0.1:8000 (refused, 3 tries, 1.4 s)"
    assert (error.endpoint, error.tries) == ("app", 3)


def test_a_single_attempt_is_not_counted_in_the_message() -> None:
    assert str(of_status(401, "invalid key").error(endpoint="app")) == "401 invalid key"


@pytest.mark.parametrize(
    ("asked_s", "tries", "said"),
    [
        (3600.0, 1, "429 busy (it asks to wait 3,600 s)"),
        (90.0, 3, "429 busy (it asks to wait 90 s, 3 tries, 2.0 s)"),
        (0.2, 1, "429 busy"),
        (None, 3, "429 busy (3 tries, 2.0 s)"),
    ],
)
def test_an_exhausted_retry_states_the_requested_delay(asked_s: float | None, tries: int, said: str) -> None:
    attempt_error = of_status(429, "busy", asked_wait_s=asked_s)

    assert str(attempt_error.error(endpoint="m", tries=tries, elapsed_s=2.0)) == said


@pytest.mark.parametrize(
    ("body", "words", "code"),
    [
        ({"error": {"message": "no such model", "code": "model_not_found"}}, "no such model", "model_not_found"),
        ({"error": "model 'x' not found"}, "model 'x' not found", ""),
        ({"detail": "Not Found"}, "Not Found", ""),
        ({"message": "busy"}, "busy", ""),
        ({"error": {"message": "m", "code": 400}}, "m", ""),
        ({"error": {"message": "m", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, "m", "Resp"),
        ([{"error": {"message": "no such key", "code": 400}}], "no such key", ""),
        ({"detail": [{"loc": ["body", "n", 0], "msg": "too many"}, {"msg": "odd"}]}, "body.n.0: too many; odd", ""),
        ({"object": "error", "message": {"detail": [{"loc": ["body"], "msg": "missing"}]}}, "body: missing", ""),
        ({"error": {"message": {"message": {"message": {"message": {"message": "deep"}}}}}}, "", ""),
        ({"ok": True}, "", ""),
        ([1], "", ""),
    ],
)
def test_json_error_bodies_are_parsed(body: Any, words: str, code: str) -> None:
    api_error = read_api_error(json.dumps(body).encode())

    assert api_error.words == words
    assert api_error.code.startswith(code)


@pytest.mark.parametrize(
    ("body", "words"),
    [(b"upstream away", "upstream away"), (b" <!doctype html><p>502", "with an HTML page"), (b"", ""), (b"\xff", "�")],
)
def test_other_error_bodies_are_parsed_too(body: bytes, words: str) -> None:
    assert read_api_error(body).words == words


def test_a_deeply_nested_body_is_harmless() -> None:
    assert read_api_error(b"[" * 60_000).words.startswith("[")


@pytest.mark.parametrize("found", [None, [], "text", {"choices": []}, {"error": ""}, {"error": {}}])
def test_a_response_without_an_error_has_none(found: Any) -> None:
    assert api_error_in(found) is None


def test_filters_and_empty_accounts_are_recognised_by_their_codes() -> None:
    assert ApiError(words="", code="content_filter").is_filter
    assert ApiError(words="", code="insufficient_quota").is_quota


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"message": "m", "type": "overloaded_error"}, 529),
        ({"message": "m", "code": 502, "type": "server_error"}, 502),
        ({"message": "m", "code": "429"}, 429),
        ({"message": "m", "code": 7, "type": "odd"}, 0),
        ({"message": "m", "code": None, "type": ["server_error"]}, 0),
    ],
)
def test_an_error_body_may_state_its_status(error: dict[str, Any], status: int) -> None:
    api_error = api_error_in({"error": error})

    assert api_error is not None
    assert api_error.status == status


BUSY = AttemptError(kind=ServerFault, words="busy", again=Again.UNTIL_SPENT)

FULL = AttemptError(kind=RateLimited, words="too many", again=Again.WHEN_ASKED)

NO = AttemptError(kind=Rejected, words="no")


async def ended(outcomes: Sequence[str | AttemptError], **retry_policy: float) -> tuple[object, list[float]]:
    """Insist on attempts of one second each that end so; return how it ended and the time spent before each."""
    left, spent = list(outcomes), []

    async def attempt(spent_s: float) -> tuple[str | AttemptError, float]:
        spent.append(spent_s)
        return left.pop(0), 1.0

    bounds = RetryPolicy(**retry_policy)  # type: ignore[arg-type]
    return await retry(attempt, retry_policy=bounds, clock=HastyClock(), key=lambda: "k"), spent


async def test_a_reply_states_the_number_of_attempts() -> None:
    outcome, spent = await ended([BUSY, BUSY, "here"])

    assert outcome == ("here", 3)
    assert spent[0] == 0.0
    assert spent[1] >= 1.25, "one attempt and half a first pause at least"


async def test_a_permanent_error_is_attempted_once() -> None:
    outcome, spent = await ended([NO])

    assert isinstance(outcome, RetriesExhausted)
    assert (outcome.attempt_error, outcome.tries, len(spent)) == (NO, 1, 1)


async def test_attempts_are_bounded() -> None:
    outcome, _ = await ended([BUSY] * 9, attempts=4)

    assert isinstance(outcome, RetriesExhausted)
    assert outcome.tries == 4


async def test_a_requested_delay_uses_no_attempt() -> None:
    outcome, _ = await ended([FULL, BUSY, FULL, FULL, BUSY, "here"], attempts=3, refusals=9)

    assert outcome == ("here", 6)


async def test_requested_delays_are_bounded_too() -> None:
    outcome, _ = await ended([FULL] * 9, attempts=2, refusals=4)

    assert isinstance(outcome, RetriesExhausted)
    assert outcome.tries == 4


async def test_the_total_time_of_attempts_is_bounded() -> None:
    outcome, spent = await ended([BUSY] * 9, attempts=9, deadline_s=5.0)

    assert isinstance(outcome, RetriesExhausted)
    assert outcome.tries < 9
    assert max(spent) < 5.0


NOW = datetime(2026, 3, 2, 9, 0, 0, tzinfo=UTC)

FAULT = AttemptError(kind=ServerFault, words="500", again=Again.UNTIL_SPENT)


def busy(asked: float | None) -> AttemptError:
    return AttemptError(kind=RateLimited, words="429", again=Again.WHEN_ASKED, asked_wait_s=asked)


@pytest.mark.parametrize(
    ("attempt_error", "tries"),
    [
        (FAULT, 5),
        (AttemptError(kind=TimedOut, words="late", again=Again.ONCE), 2),
        (AttemptError(kind=Rejected, words="401"), 1),
        (busy(3600.0), 1),
    ],
    ids=["fault", "late", "rejected", "asks for an hour"],
)
def test_attempts_are_counted(attempt_error: AttemptError, tries: int) -> None:
    retry_policy = RetryPolicy(attempts=5)

    waits = [retry_policy.wait_s(attempt_error, tried, "call") for tried in range(1, tries + 1)]

    assert [wait is None for wait in waits] == [False] * (tries - 1) + [True]


def test_the_configured_number_of_attempts_is_never_exceeded() -> None:
    assert RetryPolicy(attempts=1).wait_s(FAULT, 1, "call") is None


@given(tried=st.integers(1, 30), key=st.text())
def test_delays_grow_within_bounds(tried: int, key: str) -> None:
    retry_policy = RetryPolicy(attempts=100, first_wait_s=0.5, longest_wait_s=30.0)
    middle = min(30.0, 0.5 * 2 ** (tried - 1))

    wait = retry_policy.wait_s(FAULT, tried, key)

    assert wait is not None
    assert 0.5 * middle <= wait < 1.5 * middle
    assert wait == retry_policy.wait_s(FAULT, tried, key)


def test_a_long_deadline_does_not_increase_the_delays() -> None:
    retry_policy = RetryPolicy(attempts=10_000, longest_wait_s=30.0, deadline_s=1e9)

    wait = retry_policy.wait_s(FAULT, 5_000, "call")

    assert wait is not None
    assert 15.0 <= wait < 45.0


def test_calls_that_failed_together_are_retried_at_different_times() -> None:
    retry_policy = RetryPolicy()

    assert len({retry_policy.wait_s(FAULT, 1, f"call {number}") for number in range(50)}) == 50


@given(asked=st.floats(0, 120))
def test_a_delay_requested_by_the_endpoint_is_respected(asked: float) -> None:
    wait = RetryPolicy().wait_s(busy(asked), 1, "call")

    assert wait is not None
    assert wait >= asked


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Mon, 02 Mar 2026 09:00:30 GMT", 30.0),
        ("Mon, 02 Mar 2026 08:00:00 GMT", 0.0),
        ("Mon, 02 Mar 2026 09:00:30 -0000", 30.0),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        (f"Mon, 01 Jan {10**20} 00:00:00 GMT", None),
        (f"Mon, 02 Mar 2026 09:00:30 +{10**20}", None),
    ],
)
def test_retry_after_is_parsed_as_seconds_or_date(header: str, expected: float | None) -> None:
    assert asked_wait_s({"retry-after": header}, NOW) == expected


@pytest.mark.parametrize(
    ("header", "expected"), [({"retry-after-ms": "320"}, 0.32), ({"x-ms-retry-after-ms": "1500"}, 1.5), ({}, None)]
)
def test_a_delay_in_milliseconds_is_more_precise(header: dict[str, str], expected: float | None) -> None:
    assert asked_wait_s(header, NOW) == expected
    assert asked_wait_s({"retry-after": "2", **header}, NOW) == (expected or 2.0)
    assert asked_wait_s({"retry-after": "2", "retry-after-ms": "soon"}, NOW) == 2.0


@pytest.mark.parametrize(("spent_s", "attempt_s"), [(0.0, 60.0), (70.0, 30.0), (99.5, 0.5)])
def test_an_attempt_is_limited_to_the_remaining_time(spent_s: float, attempt_s: float) -> None:
    assert RetryPolicy(deadline_s=100.0).attempt_s(spent_s) == pytest.approx(attempt_s)


def test_a_delay_beyond_the_deadline_is_not_started() -> None:
    retry_policy = RetryPolicy(deadline_s=100.0)

    assert retry_policy.wait_s(busy(20.0), 1, "call", spent_s=70.0) is not None
    assert retry_policy.wait_s(busy(20.0), 1, "call", spent_s=80.0) is None
