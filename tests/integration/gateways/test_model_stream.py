"""Models that stream their replies, in each dialect, over a real connection."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.gateway_clock import HastyClock
from tests.fakes.loopback import Loopback
from tests.fakes.misbehaviour import BROKEN, COMPLAINING, CUT, ODD
from theodolite.domain.application import ModelEndpoint, ModelKind, Price, PromptedModel
from theodolite.domain.errors import GatewayError, MalformedReply, RateLimited
from theodolite.domain.flow import AskModel, Message, SayToApplication, Speaker
from theodolite.domain.run import FailureSource
from theodolite.gateways.factory import open_model
from theodolite.gateways.models.chat_model import ChatModel
from theodolite.gateways.templates import PromptedModelApplication

pytestmark = [pytest.mark.integration, pytest.mark.parametrize("kind", [ModelKind.OPENAI, ModelKind.ANTHROPIC])]

ASK = AskModel(model="app", messages=(Message(speaker=Speaker.USER, text="Hi"),), party=FailureSource.APPLICATION)
WORDS = "Grüße aus dem Süden, and a good deal more than one piece holds."


@asynccontextmanager
async def opened(kind: ModelKind, *, stream: bool = False, **knobs: Any) -> AsyncIterator[tuple[ChatModel, Loopback]]:
    """Open a model of the loopback server with a fixed reply."""
    with Loopback(replies={"target": [WORDS]}, **knobs) as server:
        price = Price(input_usd=2.0, output_usd=8.0)
        endpoint = ModelEndpoint(name="app", url=server.url, model="target", kind=kind, stream=stream, price=price)
        model = open_model(endpoint, environ={}, clock=HastyClock())
        assert isinstance(model, ChatModel)
        yield model, server
        await model.close()


async def test_a_streamed_reply_arrives_in_pieces_and_equals_an_unstreamed_one(kind: ModelKind) -> None:
    heard: list[str] = []
    async with opened(kind) as (model, _):
        whole, streamed = await model.reply(ASK), await model.reply(ASK, on_chunk=heard.append)

    assert replace(streamed, latency_s=0) == replace(whole, latency_s=0)
    assert ("".join(heard), len(heard) > 3, streamed.cost_microusd) == (WORDS, True, 480)


async def test_a_study_can_require_streaming_without_a_listener(kind: ModelKind) -> None:
    async with opened(kind, stream=True) as (model, server):
        reply, check = await model.reply(ASK), await model.check_endpoint()

    assert (reply.text, reply.tokens_in, reply.tokens_out) == (WORDS, 120, 30)
    assert [call.body["stream"] for call in server.calls] == [True, True]
    assert check.alive


async def test_a_reply_of_a_server_without_streaming_arrives_as_one_piece(kind: ModelKind) -> None:
    heard: list[str] = []
    async with opened(kind, streams=False) as (model, _):
        reply = await model.reply(ASK, on_chunk=heard.append)

    assert heard == [WORDS] == [reply.text]


@pytest.mark.parametrize(("fault", "stream"), [("overloaded-in-200", False), (COMPLAINING, True)])
async def test_temporary_errors_are_recognised_in_responses_with_status_200(
    kind: ModelKind, fault: str, *, stream: bool
) -> None:
    async with opened(kind, stream=stream, faults=(fault, fault)) as (model, server):
        reply = await model.reply(ASK)

    assert (reply.text, reply.attempts, len(server.calls)) == (WORDS, 3, 3)


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        (CUT, MalformedReply, "end before the reply does"),
        (COMPLAINING, RateLimited, "too many at once"),
        (ODD, MalformedReply, "is not a JSON object"),
        (BROKEN, GatewayError, "broke off"),
    ],
)
async def test_an_interrupted_stream_is_a_failure_and_not_a_short_reply(
    kind: ModelKind, fault: str, error: type[GatewayError], words: str
) -> None:
    heard: list[str] = []
    async with opened(kind, faults=(fault,)) as (model, server):
        with pytest.raises(error, match=words):
            await model.reply(ASK, on_chunk=heard.append)

    assert heard
    assert len(server.calls) == 1, "what was heard once is not said again"


async def test_a_busy_server_is_retried_before_the_first_piece(kind: ModelKind) -> None:
    heard: list[str] = []
    async with opened(kind, faults=("429", "500")) as (model, _):
        reply = await model.reply(ASK, on_chunk=heard.append)

    assert (reply.attempts, "".join(heard)) == (3, WORDS)


async def test_a_filter_that_acts_during_the_stream_withholds_the_reply(kind: ModelKind) -> None:
    finish = "refusal" if kind is ModelKind.ANTHROPIC else "content_filter"
    async with opened(kind, finish=finish) as (model, _):
        with pytest.raises(GatewayError, match="withheld"):
            await model.reply(ASK, on_chunk=lambda _: None)


async def test_an_application_that_is_a_model_streams(kind: ModelKind) -> None:
    heard: list[str] = []
    async with opened(kind) as (model, _):
        application = PromptedModelApplication("bot", PromptedModel(model="app"), model=model)
        request = SayToApplication(application="bot", prompt="Hi", turn=1)
        reply = await application.reply(request, session="s", on_chunk=heard.append)

    assert ("".join(heard), len(heard) > 1) == (reply.text, True)
