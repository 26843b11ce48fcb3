"""Every foreign exception and every HTTP status has a meaning of ours."""

import errno
import inspect
import ssl

import aiohttp
import pytest
from aiohttp import client_exceptions, http_exceptions
from aiohttp.client_reqrep import ConnectionKey

from theodolite.domain.errors import (
    GatewayError,
    MalformedReply,
    RateLimited,
    Rejected,
    ServerFault,
    TimedOut,
    Unreachable,
)
from theodolite.gateways.trouble import TRANSLATIONS, Again, Trouble, of_status, translate


def client_classes() -> list[type[BaseException]]:
    """Return every exception class that aiohttp's client may raise."""
    found = [value for value in vars(client_exceptions).values() if inspect.isclass(value)]
    return [kind for kind in found if issubclass(kind, aiohttp.ClientError | aiohttp.WSMessageTypeError)]


@pytest.mark.parametrize("kind", client_classes(), ids=lambda kind: kind.__name__)
def test_every_class_of_the_library_is_mapped_by_name(kind: type[BaseException]) -> None:
    assert kind in TRANSLATIONS


def test_errors_of_the_http_parser_are_mapped_through_their_base() -> None:
    kinds = [kind for kind in vars(http_exceptions).values() if inspect.isclass(kind)]
    raised = [kind for kind in kinds if issubclass(kind, Exception)]

    assert raised
    assert all(issubclass(kind, http_exceptions.HttpProcessingError) for kind in raised)


@pytest.mark.parametrize(
    ("error", "kind", "again"),
    [
        (TimeoutError(), TimedOut, Again.ONCE),
        (aiohttp.ServerTimeoutError(), TimedOut, Again.ONCE),
        (aiohttp.ConnectionTimeoutError(), Unreachable, Again.ONCE),
        (aiohttp.ServerDisconnectedError(), ServerFault, Again.UNTIL_SPENT),
        (ConnectionResetError(), ServerFault, Again.UNTIL_SPENT),
        (ssl.SSLError("handshake"), Unreachable, Again.NEVER),
        (aiohttp.ClientPayloadError(), MalformedReply, Again.ONCE),
        (http_exceptions.BadStatusLine("SSH-2.0"), MalformedReply, Again.NEVER),
        (aiohttp.InvalidURL("x"), Rejected, Again.NEVER),
        (UnicodeError("idna"), MalformedReply, Again.NEVER),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_an_exception_becomes_a_trouble(error: BaseException, kind: type[GatewayError], again: Again) -> None:
    trouble = translate(error)

    assert (trouble.kind, trouble.again) == (kind, again)


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ECONNREFUSED, "refused"), (errno.EHOSTUNREACH, "no route"), (errno.EPERM, "no conn")]
)
def test_the_reason_why_nobody_answers_is_said(number: int, words: str) -> None:
    os_error = OSError(number, "strange words of the system")
    error = aiohttp.ClientConnectorError(ConnectionKey("h", 9, False, False, None, None, None, None), os_error)

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
    trouble = of_status(status, "words")

    assert (trouble.kind, trouble.again, trouble.status) == (kind, again, status)
    assert trouble.words.startswith(f"{status} words")


def test_nobody_there_is_said_with_host_tries_and_time() -> None:
    refused = Trouble(kind=Unreachable, words="refused")

    error = refused.error(endpoint="app", host="127.0.0.1:8000", tries=3, elapsed_s=1.44)

    assert str(error) == "nobody answers at 127.0.0.1:8000 (refused, 3 tries, 1.4 s)"
    assert (error.endpoint, error.tries) == ("app", 3)


def test_one_try_is_not_counted_aloud() -> None:
    assert str(of_status(401, "invalid key").error(endpoint="app")) == "401 invalid key"
