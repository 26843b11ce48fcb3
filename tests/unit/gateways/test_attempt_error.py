"""Every foreign exception and every HTTP status has a meaning of ours."""

import errno
import socket
import ssl

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
from theodolite.gateways.attempt_error import (
    Again,
    AttemptError,
    BrokenOff,
    CutShort,
    NoConnection,
    NotHttp,
    PackedOtherwise,
    PrivateAddress,
    TooLarge,
    of_status,
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
