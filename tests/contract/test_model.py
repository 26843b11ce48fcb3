"""What every model keeps to, whether faked, scripted or real."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.fakes.gateway_clock import HastyClock
from tests.fakes.loopback import Loopback
from tests.fakes.model import FakeModel, in_turn
from theodolite.domain.application import ModelEndpoint
from theodolite.domain.flow import AskModel, Message, Speaker
from theodolite.domain.run import FailureSource
from theodolite.gateways.models import provider_formats
from theodolite.gateways.models.anthropic_messages import MESSAGES
from theodolite.gateways.models.chat_format import CHAT_COMPLETIONS
from theodolite.gateways.models.chat_model import ChatModel
from theodolite.gateways.templates import ScriptedModel

LINES = ("first", "second", "third")

AnyModel = FakeModel | ScriptedModel | ChatModel


def ask(n_said: int = 0, *, replicate: int = 1) -> AskModel:
    """Return a request with some assistant messages in it."""
    turns = [Message(speaker=Speaker.USER, text="hello")]
    for number in range(n_said):
        turns += [Message(speaker=Speaker.ASSISTANT, text=f"a{number}"), Message(speaker=Speaker.USER, text="and?")]
    return AskModel(model="m", messages=tuple(turns), party=FailureSource.SIMULATED_USER, replicate=replicate)


DIALECTS = {
    "chat completions": CHAT_COMPLETIONS,
    "messages": MESSAGES,
    "responses": provider_formats.RESPONSES,
    "gemini": provider_formats.GEMINI,
    "vertex gemini": provider_formats.VERTEX_GEMINI,
    "vertex messages": provider_formats.VERTEX_MESSAGES,
    "converse": provider_formats.CONVERSE,
}


@pytest.fixture(params=["fake", "scripted", *DIALECTS])
async def model(request: pytest.FixtureRequest) -> AsyncIterator[AnyModel]:
    if request.param == "fake":
        yield FakeModel(in_turn(LINES), name="m")
    elif request.param == "scripted":
        yield ScriptedModel(ModelEndpoint(name="m", script=LINES))
    else:
        with Loopback(replies={"target": list(LINES)}) as server:
            endpoint = ModelEndpoint(name="m", url=server.url, model="target")
            real = ChatModel(endpoint, clock=HastyClock(), dialect=DIALECTS[request.param])
            yield real
            await real.close()


@pytest.mark.parametrize(("n_said", "text"), [(0, "first"), (1, "second"), (2, "third"), (3, "first")])
async def test_the_reply_depends_on_the_dialogue_so_far(model: AnyModel, n_said: int, text: str) -> None:
    reply = await model.reply(ask(n_said))

    assert reply.text == text


async def test_a_listener_receives_the_whole_reply(model: AnyModel) -> None:
    heard: list[str] = []

    reply = await model.reply(ask(), on_chunk=heard.append)

    assert "".join(heard) == reply.text == "first"


async def test_equal_requests_have_equal_replies(model: AnyModel) -> None:
    first, second = await model.reply(ask(1)), await model.reply(ask(1))

    assert (first.text, first.answered_as, first.finish) == (second.text, second.answered_as, second.finish)


async def test_concurrent_requests_do_not_mix(model: AnyModel) -> None:
    replies = await asyncio.gather(*(model.reply(ask(number)) for number in range(30)))

    assert [reply.text for reply in replies] == [LINES[number % 3] for number in range(30)]


async def test_a_reply_states_its_cost(model: AnyModel, request: pytest.FixtureRequest) -> None:
    reply = await model.reply(ask())

    assert reply.attempts == 1
    assert reply.latency_s >= 0
    assert bool(reply.answered_as) == ("converse" not in request.node.callspec.id), "Converse does not name its model"


async def test_only_a_script_is_marked_as_scripted(model: AnyModel) -> None:
    assert (await model.reply(ask())).scripted == isinstance(model, ScriptedModel)


async def test_a_health_check_reports_an_available_model(model: AnyModel) -> None:
    check = await model.check_endpoint()

    assert (check.alive, check.name, check.hint) == (True, "m", "")
    assert check.answer.startswith("ok")


async def test_closing_twice_is_harmless(model: AnyModel) -> None:
    await model.reply(ask())

    await model.close()
    await model.close()
