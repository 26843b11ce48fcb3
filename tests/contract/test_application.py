"""What every application keeps to, however it is reached."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.fakes.application import FakeApplication
from tests.fakes.aria import made
from tests.fakes.gateway_clock import HastyClock
from tests.fakes.local_worker import local_aria, local_callable
from tests.fakes.loopback import Loopback
from tests.fakes.model import FakeModel
from theodolite.domain.application import AriaClass, HttpEndpoint, PromptedModel, PythonCallable
from theodolite.domain.errors import EmptyReply, GatewayError
from theodolite.domain.flow import AskModel, SayToApplication
from theodolite.domain.live import RecordedDialogue, RecordedTurn
from theodolite.gateways.applications.aria_application import AriaApplication
from theodolite.gateways.applications.callable_application import CallableApplication
from theodolite.gateways.applications.http_application import HttpApplication
from theodolite.gateways.secret_redaction import Credentials
from theodolite.gateways.templates import PromptedModelApplication, RecordedApplication

PROMPTS = tuple(f"prompt {number}" for number in range(20))

AnyApplication = (
    FakeApplication
    | RecordedApplication
    | PromptedModelApplication
    | HttpApplication
    | CallableApplication
    | AriaApplication
)


def answer(prompt: str) -> str:
    """Echo, or say nothing when asked for silence."""
    return "" if prompt == "silence" else f"You said: {prompt}"


async def answer_async(prompt: str) -> str:
    await asyncio.sleep(0)
    return answer(prompt)


def recorded() -> RecordedApplication:
    return RecordedApplication(
        "app",
        [
            RecordedDialogue(
                key=prompt, application="app", turns=(RecordedTurn(prompt=prompt, response=answer(prompt)),)
            )
            for prompt in (*PROMPTS, "silence")
        ],
    )


def prompted() -> PromptedModelApplication:
    def reply(request: AskModel) -> str | GatewayError:
        return answer(request.messages[-1].text) or EmptyReply("no text", endpoint="m")

    return PromptedModelApplication("app", PromptedModel(model="m"), model=FakeModel(reply))


@pytest.fixture(params=["fake", "recorded", "prompted", "http", "function", "async function", "aria"])
async def application(request: pytest.FixtureRequest) -> AsyncIterator[AnyApplication]:
    clock = HastyClock()
    function = PythonCallable(target="study.py:answer")
    match request.param:
        case "fake":
            yield FakeApplication(lambda said: answer(said.prompt) or EmptyReply("no text"), name="app")
        case "recorded":
            yield recorded()
        case "prompted":
            yield prompted()
        case "function":
            yield local_callable("app", function, answer, clock=clock)
        case "aria":
            kind = made(GetResponse=lambda _, text: {"success": True, "response": answer(text)})
            real = local_aria("app", AriaClass(target="m:C"), kind, credentials=Credentials(), clock=clock)
            yield real
            await real.close()
        case "async function":
            yield local_callable("app", function, answer_async, clock=clock)
        case _:
            with Loopback() as server:
                connection = HttpEndpoint(url=f"{server.root}/app", body='{"q": "{{ prompt }}"}')
                http = HttpApplication("app", connection, clock=clock)
                yield http
                await http.close()


def say(prompt: str) -> SayToApplication:
    return SayToApplication(application="app", prompt=prompt, turn=1, item=prompt)


async def test_the_reply_is_that_of_the_application(application: AnyApplication) -> None:
    reply = await application.reply(say(PROMPTS[0]), session="s1")

    assert (reply.text, reply.withheld, reply.scripted) == ("You said: prompt 0", "", False)


async def test_concurrent_sessions_do_not_mix(application: AnyApplication) -> None:
    replies = await asyncio.gather(*(application.reply(say(prompt), session=prompt) for prompt in PROMPTS))

    assert [reply.text for reply in replies] == [f"You said: {prompt}" for prompt in PROMPTS]


async def test_silence_is_an_empty_reply_without_text(application: AnyApplication) -> None:
    with pytest.raises(EmptyReply):
        await application.reply(say("silence"), session="s1")


async def test_a_health_check_reports_an_available_application(application: AnyApplication) -> None:
    check = await application.check_endpoint()

    assert (check.name, check.alive) == ("app", True)


async def test_closing_twice_is_harmless(application: AnyApplication) -> None:
    await application.reply(say(PROMPTS[0]), session="s1")

    await application.close()
    await application.close()
