"""A model with a system prompt is an application."""

import pytest

from tests.fakes.model import FakeModel
from theodolite.domain.application import PromptedModel
from theodolite.domain.errors import ContentRefused, GatewayError, InputError, TimedOut
from theodolite.domain.failure import Party
from theodolite.domain.flow import Exchange, Message, SayToApplication, Speaker
from theodolite.gateways.applications.prompted import PromptedModelApplication

SAY = SayToApplication(
    application="bot",
    prompt="And now?",
    turn=2,
    repeat=3,
    history=(Exchange(prompt="Hi", response="Hello"),),
    context="30 days",
)


async def sent(connection: PromptedModel) -> FakeModel:
    """Say something and return the model that heard it."""
    model = FakeModel()
    await PromptedModelApplication("bot", connection, model=model).reply(SAY, session="s-1")
    return model


async def test_the_dialogue_so_far_becomes_a_chat() -> None:
    request = (await sent(PromptedModel(model="m", system="Be kind."))).asked[0]

    assert [(message.speaker, message.text) for message in request.messages] == [
        (Speaker.SYSTEM, "Be kind."),
        (Speaker.USER, "Hi"),
        (Speaker.ASSISTANT, "Hello"),
        (Speaker.USER, "And now?"),
    ]
    assert (request.model, request.party, request.replicate) == ("m", Party.APPLICATION, 3)


@pytest.mark.parametrize(
    ("system", "files", "expected"),
    [
        ("Use: {{ context }}", {}, "Use: 30 days"),
        ("Use: {{context}}.", {"faq.md": "Ask."}, "Use: # faq.md\nAsk.\n\n30 days."),
        ("Be kind.", {"faq.md": "Ask."}, "Be kind.\n\n# faq.md\nAsk."),
        ("Use: {{ context | upper }}", {}, "Use: 30 DAYS"),
        ("{% if context %}Use {{ context }}{% endif %}", {}, "Use 30 days"),
        ("Say {name} and }}", {}, "Say {name} and }}"),
        ("{% raw %}Say {{ name }}{% endraw %}", {}, "Say {{ name }}"),
    ],
)
async def test_the_system_prompt_is_filled(system: str, files: dict[str, str], expected: str) -> None:
    model = await sent(PromptedModel(model="m", system=system, context=files))

    assert model.asked[0].messages[0] == Message(speaker=Speaker.SYSTEM, text=expected)


async def test_without_a_system_prompt_there_is_no_system_message() -> None:
    model = await sent(PromptedModel(model="m"))

    assert model.asked[0].messages[0].speaker is Speaker.USER


async def test_source_material_is_no_template() -> None:
    odd = r"\1 {{ context }} {% if %}"
    model = await sent(PromptedModel(model="m", system="A {{ context }} B", context={"f": odd}))

    assert model.asked[0].messages[0].text == f"A # f\n{odd}\n\n30 days B"


@pytest.mark.parametrize("system", ["Say {{ name }}", "Say {% x %}", "{{ context.upper() }}"])
def test_a_system_prompt_that_will_never_be_filled_is_said_before_anything_is_sent(system: str) -> None:
    with pytest.raises(InputError, match="`system` of application `bot`"):
        PromptedModelApplication("bot", PromptedModel(model="m", system=system), model=FakeModel())


async def test_a_knock_asks_the_model_in_the_applications_name() -> None:
    application = PromptedModelApplication("bot", PromptedModel(model="m"), model=FakeModel(alive=False))
    knock = await application.knock()

    assert (knock.name, knock.alive) == ("bot", False)


@pytest.mark.parametrize(
    "error", [TimedOut("30 s"), TimedOut("30 s", endpoint="m"), ContentRefused("filter", endpoint="m")]
)
async def test_a_failure_names_the_model_that_brought_nothing(error: GatewayError) -> None:
    model = FakeModel(answer=lambda _: error)
    application = PromptedModelApplication("bot", PromptedModel(model="m"), model=model)

    with pytest.raises(GatewayError) as caught:
        await application.reply(SAY, session="s-1")

    assert caught.value is error
    assert caught.value.endpoint == "m"


class Mute:
    """A model that cannot be knocked at."""

    reply = FakeModel.reply
    close = FakeModel.close


async def test_a_model_that_cannot_be_asked_counts_as_there() -> None:
    application = PromptedModelApplication("bot", PromptedModel(model="m"), model=Mute())  # type: ignore[arg-type]

    assert (await application.knock()).answer == "as model `m`"


async def test_the_shared_model_is_left_open() -> None:
    model = FakeModel()
    await PromptedModelApplication("bot", PromptedModel(model="m"), model=model).close()

    assert model.closed == 0
