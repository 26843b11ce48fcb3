"""A real model endpoint with all kinds of errors."""

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.fakes.gateway_clock import HastyClock
from tests.fakes.loopback import Loopback
from tests.fakes.misbehaviour import ALTERED, RAW_FAULTS
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
from theodolite.domain.flow import AskModel, Message, Speaker
from theodolite.domain.run import FailureSource
from theodolite.gateways.http_transport import HttpTransport
from theodolite.gateways.models.chat_model import ChatModel

pytestmark = pytest.mark.integration

KEY = "sk-very-secret-0042"
ASK = AskModel(model="app", messages=(Message(speaker=Speaker.USER, text="Hi"),), party=FailureSource.APPLICATION)


@asynccontextmanager
async def opened(url: str, *, key: str = KEY, clock: HastyClock | None = None, **more: Any) -> AsyncIterator[ChatModel]:
    """Open a model and close it again."""
    settings = {"name": "app", "model": "target", "key": "APP_KEY", "timeout_s": 5.0} | more
    model = ChatModel(ModelEndpoint(url=url, **settings), key=key, clock=clock or HastyClock())
    try:
        yield model
    finally:
        await model.close()


@pytest.fixture
def dead_url() -> str:
    """Return an address whose port is closed."""
    with Loopback() as server:
        return server.url


async def test_the_key_and_the_parameters_reach_the_endpoint() -> None:
    with Loopback(key=KEY) as server:
        async with opened(server.url, params={"temperature": 0.5}) as model:
            await model.reply(ASK)

    assert server.calls[0].headers["Authorization"] == f"Bearer {KEY}"
    assert server.calls[0].body["temperature"] == 0.5


@pytest.mark.parametrize(
    ("fault", "code", "kind"),
    [
        ("400", "content_filter", ContentRefused),
        ("400", "bad_request", Rejected),
        ("429", "insufficient_quota", Rejected),
    ],
)
async def test_the_error_code_of_the_endpoint_decides_if_the_status_is_ambiguous(
    fault: str, code: str, kind: type[GatewayError]
) -> None:
    with Loopback(every=1, fault=fault, code=code) as server:
        async with opened(server.url) as model:
            with pytest.raises(kind):
                await model.reply(ASK)

    assert len(server.calls) == 1


async def test_a_response_with_a_too_large_content_length_is_not_read() -> None:
    with Loopback(every=1, fault="announced-huge") as server:
        async with opened(server.url) as model:
            with pytest.raises(MalformedReply, match="larger than 10 MB"):
                await model.reply(ASK)


@pytest.mark.parametrize("fault", ["429", "529", "500", "503", "408", "409", "reset"])
async def test_temporary_errors_are_retried(fault: str) -> None:
    with Loopback(faults=(fault, fault)) as server:
        async with opened(server.url) as model:
            reply = await model.reply(ASK)

    assert reply.attempts == 3
    assert reply.text


@pytest.mark.parametrize(
    ("fault", "kind", "tries"),
    [
        ("500", ServerFault, 3),
        ("reset", ServerFault, 3),
        ("400", Rejected, 1),
        ("401", Rejected, 1),
        ("403", Rejected, 1),
        ("404", Rejected, 1),
        ("422", Rejected, 1),
        ("wrong-length", MalformedReply, 2),
        ("html", MalformedReply, 2),
        ("truncated", MalformedReply, 2),
        ("no-body", MalformedReply, 2),
        ("empty", EmptyReply, 1),
    ],
)
async def test_attempts_are_limited_and_counted(fault: str, kind: type[GatewayError], tries: int) -> None:
    with Loopback(every=1, fault=fault) as server:
        async with opened(server.url, attempts=3) as model:
            with pytest.raises(kind) as caught:
                await model.reply(ASK)

    assert (caught.value.endpoint, caught.value.tries) == ("app", tries)
    assert len(server.calls) == tries


@pytest.mark.parametrize("wait", ["nan", "inf", "-1", "1e400"])
async def test_an_invalid_retry_after_header_does_not_delay_a_call(wait: str) -> None:
    with Loopback(every=1, fault="429", retry_after=wait) as server:
        async with opened(server.url, attempts=2) as model:
            with pytest.raises(RateLimited, match="16 tries"):
                await model.reply(ASK)


@pytest.mark.parametrize("fault", ["html", "truncated", "no-body"])
async def test_an_unreadable_response_is_retried_once(fault: str) -> None:
    with Loopback(every=2, fault=fault) as server:
        async with opened(server.url) as model:
            await model.reply(ASK)
            reply = await model.reply(ASK)

    assert (reply.attempts, len(server.calls)) == (2, 3)


async def test_an_unreadable_response_is_final_if_one_attempt_is_allowed() -> None:
    with Loopback(every=1, fault="html") as server:
        async with opened(server.url, attempts=1) as model:
            with pytest.raises(MalformedReply):
                await model.reply(ASK)

    assert len(server.calls) == 1


async def test_rate_limit_responses_are_accepted_eight_times_per_attempt() -> None:
    with Loopback(every=1, fault="429") as server:
        async with opened(server.url, attempts=2) as model:
            with pytest.raises(RateLimited, match="16 tries"):
                await model.reply(ASK)


@pytest.mark.parametrize("fault", [*ALTERED, *RAW_FAULTS, "huge", "529", "599", "299"])
async def test_every_server_error_becomes_an_error_of_the_gateway(fault: str) -> None:
    with Loopback(every=1, fault=fault) as server:
        async with opened(server.url, attempts=2) as model:
            with pytest.raises(GatewayError) as caught:
                await model.reply(ASK)

    assert len(str(caught.value)) < 300
    assert "aiohttp" not in str(caught.value)


@pytest.mark.parametrize("fault", ["hang", "drip"])
async def test_an_endless_response_times_out_exactly_twice(fault: str) -> None:
    with Loopback(every=1, fault=fault) as server:
        async with opened(server.url, timeout_s=0.1, attempts=9) as model:
            with pytest.raises(TimedOut, match=r"no answer within 0\.1 s \(2 tries"):
                await model.reply(ASK)


async def test_an_unreachable_host_is_named(dead_url: str) -> None:
    async with opened(dead_url, attempts=2) as model:
        with pytest.raises(Unreachable, match=r"nobody answers at 127\.0\.0\.1:\d+ \(refused, 2 tries"):
            await model.reply(ASK)


@pytest.mark.parametrize(("asked", "waited"), [("7", 7.0), ("Mon, 02 Mar 2026 09:00:30 GMT", 30.0)])
async def test_the_requested_retry_delay_is_respected(asked: str, waited: float) -> None:
    clock = HastyClock()
    with Loopback(faults=("429",), retry_after=asked) as server:
        async with opened(server.url, clock=clock) as model:
            await model.reply(ASK)

    assert [waited <= wait < waited + 1 for wait in clock.waits] == [True]


async def test_a_requested_delay_of_an_hour_is_not_awaited() -> None:
    with Loopback(every=1, fault="429", retry_after="3600") as server:
        async with opened(server.url) as model:
            with pytest.raises(RateLimited):
                await model.reply(ASK)

    assert len(server.calls) == 1


async def test_calls_in_flight_never_exceed_the_limit_of_the_study() -> None:
    with Loopback(latency_s=0.02) as server:
        async with opened(server.url, parallel=3) as model:
            await asyncio.gather(*(model.reply(ASK) for _ in range(12)))

    assert server.stats["max_in_flight"] == 3


class StuckClock(HastyClock):
    """Waits until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting, self.go = asyncio.Event(), asyncio.Event()

    async def sleep(self, duration_s: float) -> None:
        self.waiting.set()
        await self.go.wait()


async def test_a_waiting_call_occupies_no_slot() -> None:
    clock = StuckClock()
    with Loopback(faults=("429",)) as server:
        async with opened(server.url, parallel=1, clock=clock) as model:
            waiting = asyncio.create_task(model.reply(ASK))
            await clock.waiting.wait()
            overtaking = await model.reply(ASK)
            clock.go.set()
            await waiting

    assert overtaking.attempts == 1


async def test_a_cancelled_call_releases_its_slot() -> None:
    with Loopback(faults=("hang",)) as server:
        async with opened(server.url, parallel=1) as model:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(model.reply(ASK), 0.05)
            reply = await model.reply(ASK)

    assert reply.text


def test_a_model_works_in_several_event_loops() -> None:
    async def once(model: ChatModel) -> str:
        reply = await model.reply(ASK)
        await model.close()
        return reply.text

    with Loopback() as server:
        model = ChatModel(ModelEndpoint(name="app", url=server.url, model="target"), clock=HastyClock())
        texts = [asyncio.run(once(model)), asyncio.run(once(model))]

    assert texts[0] == texts[1]


@pytest.mark.parametrize("fault", ["401", "500", "html", "reset", "not-http", "redirect", "error-in-200"])
async def test_errors_logs_and_repr_do_not_contain_the_key(fault: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with Loopback(every=1, fault=fault) as server:
        async with opened(server.url, attempts=2) as model:
            with pytest.raises(GatewayError) as caught:
                await model.reply(ASK)
            check = await model.check_endpoint()

    told = "".join(traceback.format_exception(caught.value))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert KEY not in told + caplog.text + repr(model) + repr(caught.value) + repr(check)


@pytest.mark.parametrize("said", ["{key}", "Bearer {key}", "bad key: {key}!"])
async def test_a_key_echoed_by_the_server_is_redacted(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fakes.misbehaviour.ERROR_WORDS", {401: said.format(key=KEY)})
    with Loopback(every=1, fault="401") as server:
        async with opened(server.url) as model:
            with pytest.raises(Rejected) as caught:
                await model.reply(ASK)

    assert KEY not in str(caught.value)
    assert "variable APP_KEY" in str(caught.value)


async def test_every_exception_of_a_library_becomes_an_error_of_the_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise ConnectionResetError

    async with opened("http://127.0.0.1:1/v1", attempts=1) as model:
        monkeypatch.setattr(HttpTransport, "send", broken)
        with pytest.raises(ServerFault, match="connection broke off"):
            await model.reply(ASK)
