"""Servers that refuse the option for tokens of a stream still reply, and their costs are unknown, not zero."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.gateway_clock import HastyClock
from tests.fakes.loopback import Loopback
from theodolite.domain.application import ModelEndpoint, Price
from theodolite.domain.errors import Rejected
from theodolite.domain.flow import AskModel, Message, SchemaUse, Speaker
from theodolite.domain.run import FailureSource
from theodolite.gateways.models.chat_model import ChatModel

pytestmark = pytest.mark.integration

ASK = AskModel(model="app", messages=(Message(speaker=Speaker.USER, text="Hi"),), party=FailureSource.APPLICATION)
WORDS = "A good deal more than one piece holds."


@asynccontextmanager
async def opened(server: Loopback, **settings: Any) -> AsyncIterator[ChatModel]:
    """Open a model with a price."""
    settings = {"price": Price(input_usd=2.0, output_usd=8.0), "stream": True} | settings
    model = ChatModel(ModelEndpoint(name="app", url=server.url, model="target", **settings), clock=HastyClock())
    yield model
    await model.close()


def served(**knobs: Any) -> Loopback:
    """Return a server with a fixed reply."""
    return Loopback(replies={"target": [WORDS]}, **knobs)


def asked(server: Loopback) -> list[bool]:
    """Return for each call whether it requested tokens."""
    return ["stream_options" in call.body for call in server.calls]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("400", "Unrecognized request argument supplied: stream_options"),
        ("400", "Bad Request"),
        ("422", "Extra inputs are not permitted"),
        ("500", "body.stream_options: extra fields not permitted"),
        ("usage-refused-in-200", ""),
    ],
)
async def test_a_refused_stream_option_is_remembered(status: str, words: str) -> None:
    heard: list[str] = []
    with served(refuses_usage=status, api_error=words) as server:
        async with opened(server, stream=False) as model:
            first, second = [await model.reply(ASK, on_chunk=heard.append) for _ in range(2)]

    assert asked(server) == [True, False, False]
    assert (first.text, first.attempts, second.attempts) == (WORDS, 2, 1)
    assert ("".join(heard), len(heard) > 4) == (2 * WORDS, True)


async def test_unreported_tokens_have_an_unknown_cost_and_not_zero() -> None:
    with served(refuses_usage="400") as server:
        async with opened(server) as model:
            reply = await model.reply(ASK)

    assert (reply.tokens_in, reply.tokens_out, reply.cost_microusd, reply.finish) == (0, 0, None, "stop")


async def test_replies_use_what_the_endpoint_check_learned() -> None:
    with served(refuses_usage="400") as server:
        async with opened(server) as model:
            check, reply = await model.check_endpoint(), await model.reply(ASK)

    assert (asked(server), check.alive, reply.attempts) == ([True, False, False], True, 1)


async def test_an_unstreamed_response_reports_its_tokens() -> None:
    with served(refuses_usage="400") as server:
        async with opened(server, stream=False) as model:
            await model.reply(ASK, on_chunk=lambda _: None)
            reply = await model.reply(ASK)

    assert (reply.tokens_in, reply.tokens_out, reply.cost_microusd) == (120, 30, 480)


async def test_an_option_that_was_accepted_once_is_never_blamed() -> None:
    with served(faults=("ok", "400")) as server:
        async with opened(server) as model:
            await model.reply(ASK)
            with pytest.raises(Rejected, match="temperature"):
                await model.reply(ASK)

    assert asked(server) == [True, True]


async def test_a_request_refused_without_the_option_changes_nothing() -> None:
    with served(faults=("400", "400")) as server:
        async with opened(server) as model:
            with pytest.raises(Rejected, match="temperature") as caught:
                await model.reply(ASK)
            reply = await model.reply(ASK)

    assert (asked(server), caught.value.tries, reply.tokens_out) == ([True, False, True], 2, 30)


async def test_an_error_with_status_200_without_the_option_changes_nothing() -> None:
    with served(faults=("usage-refused-in-200", "usage-refused-in-200")) as server:
        async with opened(server) as model:
            with pytest.raises(Exception, match="stream_options"):
                await model.reply(ASK)
            await model.reply(ASK)

    assert asked(server) == [True, False, True]


@pytest.mark.parametrize("own", [{"include_usage": True}, None])
async def test_stream_options_of_the_study_are_always_sent(own: Any) -> None:
    with served(refuses_usage="400") as server:
        async with opened(server, params={"stream_options": own}) as model:
            if own is None:
                await model.reply(ASK)
            else:
                with pytest.raises(Rejected):
                    await model.reply(ASK)

    assert asked(server) == [own is not None]


async def test_a_server_that_refuses_schemas_and_stream_options_gets_neither() -> None:
    ask = replace(ASK, answer_schema={"type": "object"})
    with served(refuses_usage="400", refuses_schemas="400") as server:
        async with opened(server) as model:
            first, second = await model.reply(ask), await model.reply(ask)

    assert (first.text, second.text, second.schema_use, second.attempts) == (WORDS, WORDS, SchemaUse.REFUSED, 1)
    assert asked(server)[-2:] == [False, False]
