"""Requests are filled strictly, and no prompt can change their form."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.model import FakeModel
from theodolite.domain.application import HTTP_SLOTS, ModelEndpoint, PromptedModel
from theodolite.domain.errors import (
    ContentRefused,
    EmptyReply,
    GatewayError,
    InputError,
    ServerFault,
    TemplateError,
    TimedOut,
)
from theodolite.domain.flow import AskModel, Exchange, Message, SayToApplication, Speaker
from theodolite.domain.live import RecordedDialogue, RecordedTurn
from theodolite.domain.run import FailureSource
from theodolite.gateways.templates import (
    LARGEST_TEXT,
    PromptedModelApplication,
    RecordedApplication,
    ScriptedModel,
    address_template,
    body_template,
    form_template,
    request_variables,
    text_template,
)

SAID = SayToApplication(
    application="app",
    prompt='He said "stop" {{ turn }}',
    turn=2,
    history=(Exchange(prompt="hi", response="hello"),),
    context="30 days",
)

VARIABLES = request_variables(SAID, session="s-1")


def filled(body: str) -> object:
    return body_template(body, what="`body`")(VARIABLES)


def test_texts_are_filled_in_within_the_document() -> None:
    body = {"q": "{{ prompt }}", "meta": [{"sid": "{{ session }}-{{ turn }}"}, 7, None], "doc": "{{ context }}"}

    assert filled(json.dumps(body)) == {
        "q": 'He said "stop" {{ turn }}',
        "meta": [{"sid": "s-1-2"}, 7, None],
        "doc": "30 days",
    }


@given(prompt=st.text())
def test_no_prompt_changes_the_structure_of_the_body(prompt: str) -> None:
    fill = body_template('{"a": {"q": "{{ prompt }}"}, "b": 1}', what="`body`")

    assert fill(VARIABLES | {"prompt": prompt}) == {"a": {"q": prompt}, "b": 1}


def test_only_history_and_turn_keep_their_type() -> None:
    assert filled('["{{ history }}", "{{ turn }}", "turn {{ turn }}"]') == [
        [{"prompt": "hi", "response": "hello"}],
        2,
        "turn 2",
    ]


def fields(body: object, **variables: object) -> list[tuple[str, str]]:
    written = form_template(json.dumps(body), what="`body`")(VARIABLES | variables)
    return parse_qsl(written, keep_blank_values=True, strict_parsing=True)


def test_form_fields_are_texts_a_list_repeats_its_field_and_other_values_are_json() -> None:
    body = {"q": "{{ prompt }}", "n": "{{ turn }}", "all": "{{ history }}", "tag": ["a", "{{ session }}"]}

    assert fields(body | {"none": [], "on": True, "x": 1.5, "": ""}) == [
        ("q", 'He said "stop" {{ turn }}'),
        ("n", "2"),
        ("all", '[{"prompt": "hi", "response": "hello"}]'),
        ("tag", "a"),
        ("tag", "s-1"),
        ("on", "true"),
        ("x", "1.5"),
        ("", ""),
    ]


@given(prompt=st.text())
def test_no_prompt_can_add_a_field_to_a_form(prompt: str) -> None:
    assert fields({"q": "{{ prompt }}", "b": "1"}, prompt=prompt) == [("q", prompt), ("b", "1")]


def test_characters_that_cannot_be_encoded_do_not_break_a_form() -> None:
    assert fields({"q": "{{ prompt }}"}, prompt="a\ud800b") == [("q", "a?b")]


@pytest.mark.parametrize("body", ['["{{ prompt }}"]', '"{{ prompt }}"', "3"])
def test_a_form_without_fields_is_refused(body: str) -> None:
    with pytest.raises(InputError, match="must be an object of texts"):
        form_template(body, what="`body`")


def test_values_in_an_address_are_encoded() -> None:
    fill = address_template("http://h/ask?q={{ prompt }}&s={{ session }}", what="`url`")

    assert fill(VARIABLES | {"prompt": "a&b=c/../d é"}) == "http://h/ask?q=a%26b%3Dc%2F..%2Fd%20%C3%A9&s=s-1"


@pytest.mark.parametrize("source", ["{{ prompt.secret.deep }}", "{{ 1 / 0 }}", "{{ prompt + 1 }}"])
@pytest.mark.parametrize("template", [text_template, address_template])
def test_unfillable_slots_are_reported(template, source: str) -> None:
    with pytest.raises(TemplateError, match="`q`: the template cannot be filled"):
        template(source, what="`q`")(VARIABLES)


@pytest.mark.parametrize("template", [text_template, address_template, body_template])
def test_an_unfillable_slot_is_reported_before_any_request(template) -> None:
    with pytest.raises(InputError, match="names `nme`, which nothing fills; it may name prompt, session"):
        template('"{{ nme }}"', what="`q`")


def test_validation_checks_the_same_slots_that_a_request_fills() -> None:
    assert set(HTTP_SLOTS) == set(VARIABLES)


@pytest.mark.parametrize("source", ["{{ prompt", "{% if %}", "{{ prompt | nofilter }}", "{{ range(9) }}"])
def test_a_malformed_template_is_reported_before_any_request(source: str) -> None:
    with pytest.raises(InputError, match="not a template"):
        body_template(json.dumps({"q": source}), what="`body`")


@pytest.mark.parametrize("body", ["{", "", "{'q': 1}"])
def test_a_body_that_is_not_json_is_reported(body: str) -> None:
    with pytest.raises(InputError, match="must be a JSON document"):
        body_template(body, what="`body`")


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ self.__init__.__globals__ }}",
        "{{ prompt | random }}",
        "{{ history.append(1) }}",
    ],
)
def test_the_sandbox_is_secure(source: str) -> None:
    with pytest.raises(InputError):
        text_template(source, what="`q`")(VARIABLES)


def test_the_output_of_a_template_is_limited() -> None:
    with pytest.raises(TemplateError, match="longer than 1000000 characters"):
        text_template("{% for a in context %}{{ context }}{% endfor %}", what="`q`")(
            VARIABLES | {"context": "x" * (LARGEST_TEXT // 100)}
        )


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
    assert (request.model, request.party, request.replicate) == ("m", FailureSource.APPLICATION, 3)


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


async def test_source_material_is_not_a_template() -> None:
    odd = r"\1 {{ context }} {% if %}"
    model = await sent(PromptedModel(model="m", system="A {{ context }} B", context={"f": odd}))

    assert model.asked[0].messages[0].text == f"A # f\n{odd}\n\n30 days B"


@pytest.mark.parametrize("system", ["Say {{ name }}", "Say {% x %}", "{{ context.upper() }}"])
def test_an_unfillable_system_prompt_is_reported_before_any_request(system: str) -> None:
    with pytest.raises(InputError, match="`system` of application `bot`"):
        PromptedModelApplication("bot", PromptedModel(model="m", system=system), model=FakeModel())


async def test_a_health_check_calls_the_model_in_the_name_of_the_application() -> None:
    application = PromptedModelApplication("bot", PromptedModel(model="m"), model=FakeModel(alive=False))
    check = await application.check_endpoint()

    assert (check.name, check.alive) == ("bot", False)


@pytest.mark.parametrize(
    "error", [TimedOut("30 s"), TimedOut("30 s", endpoint="m"), ContentRefused("filter", endpoint="m")]
)
async def test_a_failure_names_the_model_that_caused_it(error: GatewayError) -> None:
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


async def test_a_model_that_cannot_be_checked_counts_as_available() -> None:
    application = PromptedModelApplication("bot", PromptedModel(model="m"), model=Mute())  # type: ignore[arg-type]

    assert (await application.check_endpoint()).answer == "as model `m`"


async def test_the_shared_model_is_not_closed() -> None:
    model = FakeModel()
    await PromptedModelApplication("bot", PromptedModel(model="m"), model=model).close()

    assert model.closed == 0


RECORDINGS = (
    RecordedDialogue(
        key="v1",
        application="gpt4",
        turns=(RecordedTurn(prompt="a", response="A"), RecordedTurn(prompt="b", response="")),
    ),
    RecordedDialogue(key="v1", application="gpt4", turns=(RecordedTurn(prompt="a", response="A2"),), repeat=2),
    RecordedDialogue(
        key="v2", application="gpt4", turns=(RecordedTurn(prompt="", response="", withheld="text not shipped"),)
    ),
    RecordedDialogue(key="v9", application="other", turns=(RecordedTurn(prompt="a", response="B"),)),
)


def say(item: str, *, turn: int = 1, repeat: int = 1) -> SayToApplication:
    return SayToApplication(application="gpt4", prompt="a", turn=turn, item=item, repeat=repeat)


@pytest.fixture
def application() -> RecordedApplication:
    return RecordedApplication("gpt4", RECORDINGS)


@pytest.mark.parametrize(("repeat", "text"), [(1, "A"), (2, "A2")])
async def test_each_repeat_has_its_own_reply(application: RecordedApplication, repeat: int, text: str) -> None:
    reply = await application.reply(say("v1", repeat=repeat), session="s")

    assert (reply.text, reply.cost_microusd, reply.attempts, reply.recorded) == (text, 0, 0, True)


async def test_a_withheld_text_stays_withheld_with_its_reason(application: RecordedApplication) -> None:
    reply = await application.reply(say("v2"), session="s")

    assert (reply.text, reply.withheld) == ("", "text not shipped")


async def test_an_empty_response_is_an_empty_reply(application: RecordedApplication) -> None:
    with pytest.raises(EmptyReply, match="the recorded response to `v1`, turn 2, is empty"):
        await application.reply(say("v1", turn=2), session="s")


@pytest.mark.parametrize("request_", [say("v9"), say("v1", turn=3), say("v1", turn=0), say("v1", repeat=3), say("")])
async def test_an_unrecorded_prompt_has_no_reply(application: RecordedApplication, request_: SayToApplication) -> None:
    with pytest.raises(ServerFault, match="holds no response of `gpt4`"):
        await application.reply(request_, session="s")


async def test_a_health_check_states_the_number_of_recorded_replies(application: RecordedApplication) -> None:
    check = await application.check_endpoint()

    assert (check.alive, check.answer, check.host) == (True, "ok, 3 recorded dialogues", "")


async def test_an_empty_recording_fails_the_health_check() -> None:
    assert not (await RecordedApplication("gpt4", ()).check_endpoint()).alive


async def test_a_recorded_reply_includes_its_source_material() -> None:
    turns = (RecordedTurn(prompt="a", response="A", context="Open at nine.\x00"),)
    application = RecordedApplication("gpt4", [RecordedDialogue(key="v1", application="gpt4", turns=turns)])

    reply = await application.reply(say("v1"), session="s")

    assert (reply.context, reply.repaired) == ("Open at nine.\ufffd", 1)


async def test_an_empty_response_with_a_human_label_is_a_reply() -> None:
    turns = (RecordedTurn(prompt="a", response=""),)
    recording = RecordedDialogue(key="v1", application="gpt4", turns=turns, labelled=True)

    assert (await RecordedApplication("gpt4", [recording]).reply(say("v1"), session="s")).text == ""


def ask(*, replicate: int) -> AskModel:
    hello = Message(speaker=Speaker.USER, text="hello")
    return AskModel(model="m", messages=(hello,), party=FailureSource.JUDGE, replicate=replicate)


@pytest.mark.parametrize(("replicate", "text"), [(1, "a"), (2, "b"), (3, "a")])
async def test_repetitions_start_one_line_later(replicate: int, text: str) -> None:
    reply = await ScriptedModel(ModelEndpoint(name="m", script=("a", "b"))).reply(ask(replicate=replicate))

    assert (reply.text, reply.scripted, reply.answered_as, reply.cost_microusd) == (text, True, "script", 0)


@pytest.mark.parametrize(("script", "words"), [(("a",), "1 reply in turn"), (("a", "b"), "2 replies in turn")])
async def test_a_health_check_states_that_the_model_is_scripted(script: tuple[str, ...], words: str) -> None:
    check = await ScriptedModel(ModelEndpoint(name="m", script=script)).check_endpoint()

    assert "SCRIPTED" in check.answer
    assert words in check.answer


def test_without_lines_there_is_no_script() -> None:
    with pytest.raises(InputError, match="needs a `url` or a `script`"):
        ScriptedModel(ModelEndpoint(name="m"))
