"""Response schemas over a real connection: sent if supported, omitted otherwise."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.cache import FakeCache
from tests.fakes.gateway_clock import HastyClock
from tests.fakes.loopback import Loopback
from theodolite.domain.application import CacheUse, ModelEndpoint, ModelKind
from theodolite.domain.errors import Rejected
from theodolite.domain.flow import AskModel, Message, SchemaUse, Speaker
from theodolite.domain.run import FailureSource
from theodolite.gateways.factory import Caching, open_model
from theodolite.gateways.models.chat_model import ChatModel

pytestmark = pytest.mark.integration

SCHEMA = {
    "type": "object",
    "properties": {"label": {"enum": ["yes", "no"]}},
    "required": ["label"],
    "additionalProperties": False,
}
ASK = AskModel(
    model="judge",
    messages=(Message(speaker=Speaker.USER, text="Is it?"),),
    party=FailureSource.JUDGE,
    answer_schema=SCHEMA,
)
KINDS = pytest.mark.parametrize("kind", [ModelKind.OPENAI, ModelKind.ANTHROPIC])


@asynccontextmanager
async def opened(url: str, **settings: Any) -> AsyncIterator[Any]:
    """Open a model as a study would."""
    endpoint = ModelEndpoint(name="judge", url=url, model="judge", **settings)
    caching = Caching(cache=FakeCache()) if endpoint.cache is CacheUse.YES else None
    model = open_model(endpoint, environ={}, clock=HastyClock(), caching=caching)
    assert isinstance(model, ChatModel) or caching
    try:
        yield model
    finally:
        await model.close()


def forms(server: Loopback) -> list[Any]:
    """Return the response format of each call."""
    return [call.body.get("response_format") or call.body.get("output_config") for call in server.calls]


async def test_chat_completions_send_the_schema_in_strict_mode() -> None:
    with Loopback() as server:
        async with opened(server.url) as model:
            reply = await model.reply(ASK)

    form = {"name": "answer", "schema": SCHEMA, "strict": True}
    assert forms(server) == [{"type": "json_schema", "json_schema": form}]
    assert (reply.schema_use, reply.attempts) == (SchemaUse.SENT, 1)


async def test_messages_send_the_schema_with_the_settings_of_the_study() -> None:
    with Loopback() as server:
        async with opened(server.url, kind=ModelKind.ANTHROPIC, params={"output_config": {"effort": "low"}}) as model:
            reply = await model.reply(ASK)

    assert forms(server) == [{"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}}]
    assert reply.schema_use is SchemaUse.SENT


@KINDS
@pytest.mark.parametrize("status", ["400", "422"])
async def test_an_endpoint_that_refuses_a_schema_gets_instructions_from_then_on(kind: ModelKind, status: str) -> None:
    with Loopback(refuses_schemas=status) as server:
        async with opened(server.url, kind=kind) as model:
            first, second = await model.reply(ASK), await model.reply(ASK)

    assert [form is not None for form in forms(server)] == [True, False, False]
    assert (first.schema_use, first.attempts) == (SchemaUse.REFUSED, 2)
    assert (second.schema_use, second.attempts) == (SchemaUse.REFUSED, 1)


async def test_a_500_that_names_the_field_is_a_refusal() -> None:
    with Loopback(refuses_schemas="500", api_error="1 validation error: response_format.type") as server:
        async with opened(server.url) as model:
            reply = await model.reply(ASK)

    assert (reply.schema_use, reply.attempts, len(server.calls)) == (SchemaUse.REFUSED, 2, 2)


async def test_other_500_responses_are_retried_with_the_schema() -> None:
    with Loopback(faults=("500",)) as server:
        async with opened(server.url) as model:
            reply = await model.reply(ASK)

    assert (reply.schema_use, [form is not None for form in forms(server)]) == (SchemaUse.SENT, [True, True])


async def test_a_refused_schema_does_not_exclude_other_schemas() -> None:
    with Loopback(refuses_schemas="400") as server:
        async with opened(server.url) as model:
            await model.reply(ASK)
            await model.reply(replace(ASK, answer_schema={"type": "object"}))

    assert [form is not None for form in forms(server)] == [True, False, True, False]


async def test_a_request_rejected_without_the_schema_is_rejected() -> None:
    with Loopback(every=1, fault="400") as server:
        async with opened(server.url) as model:
            with pytest.raises(Rejected):
                await model.reply(ASK)
            server.knobs = replace(server.knobs, every=0)
            reply = await model.reply(ASK)

    assert reply.schema_use is SchemaUse.SENT


async def test_a_study_that_requires_a_schema_fails_if_it_is_refused() -> None:
    with Loopback(refuses_schemas="400") as server:
        async with opened(server.url, structured=True) as model:
            with pytest.raises(Rejected):
                await model.reply(ASK)

    assert len(server.calls) == 1


@KINDS
async def test_a_study_can_switch_schemas_off(kind: ModelKind) -> None:
    with Loopback() as server:
        async with opened(server.url, structured=False, kind=kind) as model:
            reply = await model.reply(ASK)

    assert (forms(server), reply.schema_use) == ([None], SchemaUse.OFF)


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        (ModelKind.OPENAI, {"response_format": {"type": "json_object"}}),
        (ModelKind.ANTHROPIC, {"output_config": {"format": {"type": "text"}}}),
    ],
)
async def test_the_response_format_of_the_study_has_priority(kind: ModelKind, params: dict[str, Any]) -> None:
    with Loopback() as server:
        async with opened(server.url, kind=kind, params=params) as model:
            reply = await model.reply(ASK)

    assert forms(server) == list(params.values())
    assert reply.schema_use is SchemaUse.OFF


async def test_a_cached_request_is_recognised_after_its_schema_was_refused() -> None:
    with Loopback(refuses_schemas="400") as server:
        async with opened(server.url, cache=CacheUse.YES) as model:
            first, second = await model.reply(ASK), await model.reply(ASK)

    assert (second.text, second.schema_use, second.cached) == (first.text, SchemaUse.REFUSED, True)
    assert len(server.calls) == 2
