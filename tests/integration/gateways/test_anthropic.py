"""Anthropic's Messages over a real connection: headers, errors, endpoint check."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.fakes.gateway_clock import HastyClock
from tests.fakes.loopback import Loopback
from theodolite.domain.application import ModelEndpoint, ModelKind
from theodolite.domain.errors import ContentRefused, RateLimited, Rejected
from theodolite.domain.flow import AskModel, Message, Speaker
from theodolite.domain.run import FailureSource
from theodolite.gateways.factory import open_model
from theodolite.gateways.models.chat_model import ChatModel

pytestmark = pytest.mark.integration

KEY = "sk-ant-very-secret-0042"
ASK = AskModel(model="app", messages=(Message(speaker=Speaker.USER, text="Hi"),), party=FailureSource.APPLICATION)


@asynccontextmanager
async def opened(url: str, *, key: str = KEY, **more: Any) -> AsyncIterator[ChatModel]:
    """Open a model as a study would."""
    settings = {"name": "app", "model": "target", "key": "ANT_KEY", "kind": ModelKind.ANTHROPIC} | more
    model = open_model(ModelEndpoint(url=url, **settings), environ={"ANT_KEY": key}, clock=HastyClock())
    assert isinstance(model, ChatModel)
    try:
        yield model
    finally:
        await model.close()


async def test_the_key_is_sent_only_in_its_own_header() -> None:
    with Loopback(key=KEY) as server:
        async with opened(server.url) as model:
            reply = await model.reply(ASK)

    headers = server.calls[0].headers
    assert reply.finish == "end_turn"
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "Authorization" not in headers


async def test_a_call_to_an_overloaded_endpoint_is_retried() -> None:
    with Loopback(faults=("529", "529")) as server:
        async with opened(server.url) as model:
            reply = await model.reply(ASK)

    assert reply.attempts == 3


async def test_a_permanently_overloaded_endpoint_is_rate_limited_and_not_unreachable() -> None:
    with Loopback(every=1, fault="529") as server:
        async with opened(server.url, attempts=2, deadline_s=2.0) as model:
            with pytest.raises(RateLimited, match=r"\d tries, "):
                await model.reply(ASK)


async def test_a_refusal_is_withheld_content() -> None:
    with Loopback(finish="refusal") as server:
        async with opened(server.url) as model:
            with pytest.raises(ContentRefused, match="withheld"):
                await model.reply(ASK)


async def test_an_error_about_a_wrong_key_does_not_contain_it() -> None:
    with Loopback(key="another") as server:
        async with opened(server.url) as model:
            with pytest.raises(Rejected) as caught:
                await model.reply(ASK)

    assert "ANT_KEY" in str(caught.value)
    assert KEY not in str(caught.value)


async def test_the_endpoint_check_suggests_a_command_for_a_manual_call() -> None:
    with Loopback(faults=("404",), models=("claude-a",)) as server:
        async with opened(server.url) as model:
            check = await model.check_endpoint()

    assert not check.alive
    assert "`target` is not among claude-a" in check.answer
    assert check.hint == (f'curl -H "x-api-key: $ANT_KEY" -H "anthropic-version: 2023-06-01" {server.url}/models')
