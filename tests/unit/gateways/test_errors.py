"""Every foreign exception and every HTTP status has a meaning of ours."""

from __future__ import annotations

import errno
import json
import socket
import ssl
from typing import Any

import pytest

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
    TooLarge,
    api_error_in,
    of_status,
    read_api_error,
    translate,
)
from theodolite.gateways.web_address import NoAddress


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
def test_an_exception_becomes_a_trouble(error: BaseException, kind: type[GatewayError], again: Again) -> None:
    attempt_error = translate(error)

    assert (attempt_error.kind, attempt_error.again) == (kind, again)


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ECONNREFUSED, "refused"), (errno.EHOSTUNREACH, "no route"), (errno.EPERM, "no conn")]
)
def test_the_reason_why_nobody_answers_is_said(number: int, words: str) -> None:
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
def test_a_status_becomes_a_trouble(status: int, kind: type[GatewayError], again: Again) -> None:
    attempt_error = of_status(status, "words")

    assert (attempt_error.kind, attempt_error.again, attempt_error.status) == (kind, again, status)
    assert attempt_error.words.startswith(f"{status} words")


def test_nobody_there_is_said_with_host_tries_and_time() -> None:
    refused = AttemptError(kind=Unreachable, words="refused")

    error = refused.error(endpoint="app", host="127.0.0.1:8000", tries=3, elapsed_s=1.44)

    assert str(error) == "nobody answers at 127.0.0.1:8000 (refused, 3 tries, 1.4 s)"
    assert (error.endpoint, error.tries) == ("app", 3)


def test_one_try_is_not_counted_aloud() -> None:
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
def test_whoever_gives_up_says_how_long_it_should_have_waited(asked_s: float | None, tries: int, said: str) -> None:
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
def test_json_complaints_are_read(body: Any, words: str, code: str) -> None:
    api_error = read_api_error(json.dumps(body).encode())

    assert api_error.words == words
    assert api_error.code.startswith(code)


@pytest.mark.parametrize(
    ("body", "words"),
    [(b"upstream away", "upstream away"), (b" <!doctype html><p>502", "with an HTML page"), (b"", ""), (b"\xff", "�")],
)
def test_other_complaints_are_read_too(body: bytes, words: str) -> None:
    assert read_api_error(body).words == words


def test_a_deeply_nested_body_does_no_harm() -> None:
    assert read_api_error(b"[" * 60_000).words.startswith("[")


@pytest.mark.parametrize("found", [None, [], "text", {"choices": []}, {"error": ""}, {"error": {}}])
def test_an_answer_without_complaint_has_none(found: Any) -> None:
    assert api_error_in(found) is None


def test_filters_and_empty_accounts_are_known_by_their_codes() -> None:
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
def test_a_complaint_may_name_the_status_that_it_would_have_had(error: dict[str, Any], status: int) -> None:
    api_error = api_error_in({"error": error})

    assert api_error is not None
    assert api_error.status == status
