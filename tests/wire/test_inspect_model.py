"""Models through Inspect: its own providers, our loopback servers, our limits and our words for what went wrong."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.fakes.cache import FakeCache
from tests.fakes.gateway_clock import HastyClock
from tests.fakes.loopback import Loopback
from tests.integration.gateways.test_structured import ASK as ASK_BY_SCHEMA
from tests.integration.gateways.test_structured import SCHEMA
from theodolite.domain.application import CacheUse, ModelEndpoint, ModelKind, Price
from theodolite.domain.errors import (
    ContentRefused,
    EmptyReply,
    GatewayError,
    InputError,
    MalformedReply,
    RateLimited,
    Rejected,
    ServerFault,
    TimedOut,
)
from theodolite.domain.flow import AskModel, Message, SchemaUse, Speaker
from theodolite.domain.run import FailureSource
from theodolite.gateways.errors import REFUSALS
from theodolite.gateways.factory import Caching, open_model

ASK = AskModel(
    model="app",
    messages=(Message(speaker=Speaker.SYSTEM, text="Be kind."), Message(speaker=Speaker.USER, text="Hi")),
    party=FailureSource.APPLICATION,
)
PROVIDERS = pytest.mark.parametrize("provider", ["openai-api/loop", "anthropic"])


@asynccontextmanager
async def opened(server: Loopback, provider: str = "openai-api/loop", **settings: Any) -> AsyncIterator[Any]:
    """Open a model as a study would."""
    url = server.root if provider == "anthropic" else server.url
    known = {"name": "app", "url": url, "model": f"{provider}/target", "key": "KEY", "kind": ModelKind.INSPECT}
    endpoint = ModelEndpoint(**(known | settings))
    caching = Caching(cache=FakeCache()) if endpoint.cache is CacheUse.YES else None
    model = open_model(endpoint, environ={"KEY": "sk-very-secret-0042"}, clock=HastyClock(), caching=caching)
    try:
        yield model
    finally:
        await model.close()


@PROVIDERS
async def test_a_reply_brings_words_tokens_cost_and_effort(provider: str) -> None:
    with Loopback(replies={"target": ["Hello."]}) as server:
        async with opened(server, provider, price=Price(input_usd=2.0, output_usd=8.0)) as model:
            reply = await model.reply(ASK)

    assert (reply.text, reply.answered_as, reply.finish) == ("Hello.", "target", "stop")
    assert (reply.tokens_in, reply.tokens_out, reply.cost_microusd, reply.attempts) == (120, 30, 480, 1)


async def test_parameters_are_those_of_inspect_and_reach_the_server() -> None:
    with Loopback() as server:
        async with opened(server, params={"temperature": 0.5, "max_tokens": 77}) as model:
            await model.reply(ASK)

    body = server.calls[0].body
    assert (body["temperature"], body["max_tokens"]) == (0.5, 77)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"temprature": 0}, "mean `temperature`"),
        ({"max_retries": 3}, "none that Inspect takes here"),
        ({"temperature": "hot"}, "do not fit"),
    ],
)
def test_parameters_that_inspect_does_not_know_are_refused_at_once(params: dict[str, Any], words: str) -> None:
    endpoint = ModelEndpoint(name="app", model="openai-api/loop/x", kind=ModelKind.INSPECT, params=params)

    with pytest.raises(InputError, match=words):
        open_model(endpoint, environ={}, clock=HastyClock())


@PROVIDERS
async def test_a_busy_server_is_asked_again_by_us_and_not_by_inspect(provider: str) -> None:
    with Loopback(faults=("429", "500")) as server:
        async with opened(server, provider) as model:
            reply = await model.reply(ASK)

    assert (reply.attempts, len(server.calls)) == (3, 3)


@pytest.mark.parametrize(
    ("knobs", "kind"),
    [
        ({"every": 1, "fault": "429"}, RateLimited),
        ({"every": 1, "fault": "500"}, ServerFault),
        ({"every": 1, "fault": "400"}, Rejected),
        ({"key": "another"}, Rejected),
        ({"every": 1, "fault": "hang"}, TimedOut),
        ({"every": 1, "fault": "empty"}, EmptyReply),
        ({"every": 1, "fault": "filter"}, ContentRefused),
        ({"every": 1, "fault": "html"}, GatewayError),
        ({"every": 1, "fault": "reset"}, GatewayError),
        ({"every": 1, "fault": "error-in-200"}, MalformedReply),
    ],
)
async def test_what_went_wrong_has_the_same_name_as_everywhere(knobs: dict[str, Any], kind: type[GatewayError]) -> None:
    with Loopback(**knobs) as server:
        async with opened(server, attempts=2, timeout_s=0.5) as model:
            with pytest.raises(kind) as caught:
                await model.reply(ASK)

    assert "0042" not in str(caught.value)
    assert "Error code" not in str(caught.value)
    assert caught.value.endpoint == "app"
    # Too many requests spend no attempt, but are not borne without end either.
    assert len(server.calls) <= (2 * REFUSALS if kind is RateLimited else 2)


async def test_a_key_that_is_not_set_is_missed_at_the_knock() -> None:
    endpoint = ModelEndpoint(name="app", model="openai-api/loop/x", key="KEY", kind=ModelKind.INSPECT)
    model = open_model(endpoint, environ={}, clock=HastyClock())

    check = await model.check_endpoint()

    assert (check.alive, check.answer) == (False, "the environment variable `KEY` is not set")


async def test_a_provider_that_inspect_does_not_know_is_said_at_the_knock() -> None:
    endpoint = ModelEndpoint(name="app", model="nowhere/x", kind=ModelKind.INSPECT)
    model = open_model(endpoint, environ={}, clock=HastyClock())

    check = await model.check_endpoint()

    assert not check.alive
    assert "nowhere" in check.answer


async def test_a_model_whose_minute_is_used_up_is_not_asked_at_the_knock() -> None:
    with Loopback() as server:
        async with opened(server, rpm=1) as model:
            await model.reply(ASK)
            check = await model.check_endpoint()

    assert (check.alive, check.answer) == (True, "not asked, its limits a minute are used up for 61 s yet")
    assert (check.spent.calls, len(server.calls)) == (0, 1)


@PROVIDERS
async def test_a_knock_says_that_it_is_there(provider: str) -> None:
    with Loopback() as server:
        async with opened(server, provider) as model:
            check = await model.check_endpoint()

    assert (check.alive, check.spent.calls, check.spent.tokens_in) == (True, 1, 120)
    assert check.host == f"127.0.0.1:{server.port}, through Inspect"


async def test_an_answer_schema_goes_the_way_of_inspect() -> None:
    with Loopback() as server:
        async with opened(server) as model:
            reply = await model.reply(ASK_BY_SCHEMA)

    sent = server.calls[0].body["response_format"]["json_schema"]
    assert (reply.schema_use, sent["strict"]) == (SchemaUse.SENT, True)
    assert sent["schema"]["required"] == SCHEMA["required"]


async def test_a_server_that_refuses_a_schema_is_asked_in_words() -> None:
    with Loopback(refuses_schemas="400") as server:
        async with opened(server) as model:
            replies = [await model.reply(ASK_BY_SCHEMA), await model.reply(ASK_BY_SCHEMA)]

    assert [(reply.schema_use, reply.attempts) for reply in replies] == [
        (SchemaUse.REFUSED, 2),
        (SchemaUse.REFUSED, 1),
    ]


@PROVIDERS
async def test_whoever_listens_hears_the_whole_reply(provider: str) -> None:
    heard: list[str] = []
    with Loopback(replies={"target": ["Grüße, and more than one piece holds."]}) as server:
        async with opened(server, provider) as model:
            reply = await model.reply(ASK, on_chunk=heard.append)

    assert "".join(heard) == reply.text == "Grüße, and more than one piece holds."


async def test_equal_requests_are_answered_from_the_cache() -> None:
    with Loopback() as server:
        async with opened(server, cache=CacheUse.YES) as model:
            judged = AskModel(model="app", messages=ASK.messages, party=FailureSource.JUDGE)
            first, second = await model.reply(judged), await model.reply(judged)

    assert (first.cached, second.cached, first.text == second.text) == (False, True, True)
    assert len(server.calls) == 1
