"""Equal requests make one call; failures and other replicates are not cached."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.cache import FakeCache
from tests.fakes.gateway_clock import HastyClock
from tests.fakes.loopback import Loopback
from theodolite.domain.application import CacheUse, ModelEndpoint, Price
from theodolite.domain.errors import ContentRefused, EmptyReply, GatewayError, ServerFault
from theodolite.domain.flow import AskModel, Message, Speaker
from theodolite.domain.run import FailureSource
from theodolite.gateways.factory import Caching, open_model
from theodolite.gateways.models.cached_model import CachedModel

ASK = AskModel(model="m", messages=(Message(speaker=Speaker.USER, text="Is it so? \ud800"),), party=FailureSource.JUDGE)


async def arrived(server: Loopback) -> None:
    """Wait for the first call; the server's thread sends no notification."""
    while not server.calls:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


@asynccontextmanager
async def opened(
    server: Loopback, cache: FakeCache, *, use: CacheUse = CacheUse.YES, refresh: bool = False, **settings: Any
) -> AsyncIterator[CachedModel]:
    known = {"name": "m", "url": server.url, "model": "judge", "attempts": 1}
    endpoint = ModelEndpoint(**{**known, **settings}, cache=use)
    model = open_model(endpoint, environ={}, clock=HastyClock(), caching=Caching(cache=cache, refresh=refresh))
    assert isinstance(model, CachedModel)
    yield model
    await model.close()


async def test_a_repeated_request_makes_no_call_and_costs_nothing() -> None:
    cache = FakeCache()
    with Loopback() as server:
        async with opened(server, cache, price=Price(input_usd=1.0, output_usd=1.0)) as model:
            first, second = await model.reply(ASK), await model.reply(ASK)

    assert len(server.calls) == 1
    assert (first.cached, second.cached, second.text) == (False, True, first.text)
    assert (second.cost_microusd, second.tokens_in, second.tokens_out) == (0, 0, 0)


@pytest.mark.parametrize(
    ("request_changes", "settings"),
    [
        ({"replicate": 2}, {}),
        ({"messages": (Message(speaker=Speaker.USER, text="Is it not so?"),)}, {}),
        ({}, {"params": {"temperature": 1}}),
        ({}, {"model": "large-judge"}),
    ],
    ids=["replicate", "words", "params", "model"],
)
async def test_different_requests_make_separate_calls(
    request_changes: dict[str, Any], settings: dict[str, Any]
) -> None:
    cache = FakeCache()
    with Loopback() as server:
        async with opened(server, cache) as model:
            await model.reply(ASK)
        async with opened(server, cache, **settings) as model:
            await model.reply(replace(ASK, **request_changes))

    assert len(server.calls) == 2


async def test_names_keys_limits_and_parameter_order_do_not_change_the_cache_key() -> None:
    cache = FakeCache()
    with Loopback() as server:
        async with opened(server, cache, params={"temperature": 0, "seed": 1}) as model:
            await model.reply(ASK)
        other = {"name": "other", "attempts": 3, "rpm": 100, "params": {"seed": 1, "temperature": 0}}
        async with opened(server, cache, **other) as model:
            await model.reply(replace(ASK, model="other"))

    assert len(server.calls) == 1


async def test_equal_requests_in_flight_make_one_call() -> None:
    with Loopback(latency_s=0.05) as server:
        async with opened(server, FakeCache()) as model:
            replies = await asyncio.gather(*(model.reply(ASK) for _ in range(20)))

    assert len(server.calls) == 1
    assert sum(reply.cached for reply in replies) == 19


async def test_a_request_that_waited_for_a_cancelled_call_makes_its_own() -> None:
    with Loopback(faults=("hang",)) as server:
        async with opened(server, FakeCache()) as model:
            first, second = (asyncio.create_task(model.reply(ASK)) for _ in range(2))
            async with asyncio.timeout(5):
                await arrived(server)
            first.cancel()
            reply = await second

    assert (len(server.calls), reply.cached) == (2, False)


@pytest.mark.parametrize(
    ("fault", "error"),
    [("500", ServerFault), ("filter", ContentRefused), ("refusal", ContentRefused), ("empty", EmptyReply)],
)
async def test_failures_and_withheld_replies_are_never_cached(fault: str, error: type[GatewayError]) -> None:
    cache = FakeCache()
    with Loopback(faults=(fault, fault)) as server:
        async with opened(server, cache) as model:
            outcomes = await asyncio.gather(model.reply(ASK), model.reply(ASK), return_exceptions=True)
            kept_then = dict(cache.replies)
            reply = await model.reply(ASK)

    assert [type(outcome) for outcome in outcomes] == [error, error]
    assert (kept_then, reply.cached, len(cache.replies)) == ({}, False, 1)


@pytest.mark.parametrize(("use", "n_calls"), [(CacheUse.YES, 2), (CacheUse.ALL, 1)])
async def test_the_application_under_test_is_cached_only_on_demand(use: CacheUse, n_calls: int) -> None:
    ask = replace(ASK, party=FailureSource.APPLICATION)
    with Loopback() as server:
        async with opened(server, FakeCache(), use=use) as model:
            await model.reply(ask)
            await model.reply(ask)

    assert len(server.calls) == n_calls


async def test_refresh_ignores_cached_replies_and_stores_new_ones() -> None:
    cache = FakeCache()
    with Loopback() as server:
        async with opened(server, cache) as model:
            await model.reply(ASK)
        async with opened(server, cache, refresh=True) as model:
            replies = [await model.reply(ASK), await model.reply(ASK)]

    assert [reply.cached for reply in replies] == [False, True]
    assert len(server.calls) == 2


async def test_cached_requests_and_replies_can_be_audited_and_contain_no_key() -> None:
    cache = FakeCache()
    with Loopback(key="sk-loopback-secret") as server:
        endpoint = ModelEndpoint(name="m", url=server.url, model="judge", key="KEY", cache=CacheUse.YES)
        caching = Caching(cache=cache)
        model = open_model(endpoint, environ={"KEY": "sk-loopback-secret"}, clock=HastyClock(), caching=caching)
        reply = await model.reply(ASK)
        await model.close()

    [kept] = cache.replies.values()
    assert "Is it so?" in kept.request
    assert kept.reply == reply
    assert "secret" not in repr(kept)


async def test_uncacheable_requests_are_neither_stored_nor_looked_up() -> None:
    cache = FakeCache()
    with Loopback() as server:
        async with opened(server, cache) as model:
            await model.reply(replace(ASK, may_be_cached=False))
            await model.reply(ASK)
            await model.reply(replace(ASK, may_be_cached=False))

    assert len(server.calls) == 3
