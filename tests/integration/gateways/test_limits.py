"""Limits against a server: adaptive slots, windows in real time, deadlines."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.fakes.gateway_clock import HastyClock, RealClock
from tests.fakes.loopback import Loopback
from theodolite.domain.application import ModelEndpoint
from theodolite.domain.errors import TimedOut
from theodolite.domain.flow import AskModel, Message, Speaker
from theodolite.domain.run import FailureSource
from theodolite.gateways.factory import open_model
from theodolite.gateways.models.chat_model import ChatModel
from theodolite.gateways.rate_limiter import RateLimiter, SlotPool, SlotPools
from theodolite.gateways.rate_window import Window

pytestmark = pytest.mark.integration

ASK = AskModel(model="m", messages=(Message(speaker=Speaker.USER, text="hello"),), party=FailureSource.JUDGE)
CLOCK = RealClock()


def endpoint(server: Loopback, **settings: object) -> ModelEndpoint:
    return ModelEndpoint(**{"name": "m", "url": server.url, "model": "target", **settings})


async def ask_many(models: list[ChatModel], n_calls: int) -> None:
    async with AsyncExitStack() as stack:
        for model in models:
            stack.push_async_callback(model.close)
        await asyncio.gather(*(models[number % len(models)].reply(ASK) for number in range(n_calls)))


async def test_a_server_with_low_capacity_is_not_overloaded() -> None:
    with Loopback(latency_s=0.01, refuse_above=10) as server:
        account = SlotPool(CLOCK, parallel=256)
        await ask_many(
            [ChatModel(endpoint(server, attempts=20), clock=CLOCK, rate_limiter=RateLimiter(account, CLOCK))], 400
        )

    assert server.stats["answered"] == 400
    assert account.limit <= 20
    assert server.stats["by_fault"]["429"] < 60


async def test_a_server_with_sufficient_capacity_gets_all_calls() -> None:
    with Loopback(latency_s=0.1) as server:
        account = SlotPool(CLOCK, parallel=60)
        await ask_many(
            [ChatModel(endpoint(server, parallel=60), clock=CLOCK, rate_limiter=RateLimiter(account, CLOCK))], 400
        )

    assert (account.limit, server.stats["max_in_flight"]) == (60, 60)


async def test_models_of_an_account_share_its_slots() -> None:
    accounts = SlotPools(CLOCK)
    with Loopback(latency_s=0.02) as server:
        both = [
            open_model(endpoint(server, name=name, parallel=4), environ={}, clock=CLOCK, accounts=accounts)
            for name in ("one", "two")
        ]
        await ask_many(both, 30)

    assert server.stats["max_in_flight"] == 4


async def test_a_model_respects_its_own_limit_on_a_shared_account() -> None:
    accounts = SlotPools(CLOCK)
    with Loopback(latency_s=0.02) as server:
        small = open_model(endpoint(server, parallel=2), environ={}, clock=CLOCK, accounts=accounts)
        open_model(endpoint(server, name="large", parallel=50), environ={}, clock=CLOCK, accounts=accounts)
        await ask_many([small], 12)

    assert server.stats["max_in_flight"] == 2


def paced(server: Loopback, **window: float) -> ChatModel:
    """Return a model whose "minute" is a second."""
    rate_limiter = RateLimiter(SlotPool(CLOCK), CLOCK, window=Window(span_s=1.0, **window))
    return ChatModel(endpoint(server, tpm=10**6), clock=CLOCK, rate_limiter=rate_limiter)


def most_in_a_span(moments: list[float], span_s: float) -> int:
    return max(sum(start <= other < start + span_s for other in moments) for start in moments)


async def test_requests_in_a_window_never_exceed_the_limit() -> None:
    with Loopback() as server:
        await ask_many([paced(server, requests=6)], 15)

    # The server's stamps are late by however long it takes a busy machine to get round to them.
    assert most_in_a_span([call.moment_s for call in server.calls], 0.8) <= 6
    assert len(server.calls) == 15


async def test_token_limits_use_the_usage_of_the_responses() -> None:
    with Loopback() as server:  # each answer says 150 tokens
        await ask_many([paced(server, tokens=600)], 12)

    assert most_in_a_span([call.moment_s for call in server.calls], 0.8) <= 4


async def test_all_attempts_together_respect_the_deadline() -> None:
    clock = HastyClock()
    with Loopback(every=1, fault="500", retry_after="") as server:
        model = ChatModel(endpoint(server, attempts=50, deadline_s=20.0), clock=clock)
        with pytest.raises(Exception, match="tries"):
            await model.reply(ASK)
        await model.close()

    assert 1.0 < sum(clock.waits) < 20.0
    assert 3 < len(server.calls) < 50


async def test_an_attempt_gets_the_remaining_time_of_the_deadline() -> None:
    with Loopback(faults=("hang",)) as server:
        model = ChatModel(endpoint(server, deadline_s=0.1), clock=CLOCK)
        with pytest.raises(TimedOut, match=r"no answer within 0\.1 s"):
            await model.reply(ASK)
        await model.close()

    assert len(server.calls) == 1


@pytest.mark.parametrize(("second", "waits"), [({"rpm": 3}, True), ({"rpm": 6}, True), ({"rpm": 3, "key": "B"}, False)])
async def test_names_of_a_model_share_its_limit(second: dict[str, Any], waits: bool) -> None:
    clock = HastyClock()
    accounts = SlotPools(clock)
    with Loopback() as server:
        known = {"url": server.url, "model": "target", "key": "A"}
        user = ModelEndpoint(name="user", rpm=3, **known)
        judge = ModelEndpoint(name="judge", params={"temperature": 0}, **(known | second))
        models = [
            open_model(endpoint, environ={"A": "a", "B": "b"}, clock=clock, accounts=accounts)
            for endpoint in (user, judge)
        ]
        await asyncio.gather(*(model.reply(ASK) for model in models * 3))
        for model in models:
            await model.close()

    assert (sum(clock.waits) > 60) == waits
