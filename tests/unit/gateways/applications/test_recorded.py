"""Recorded replies are found by item, repeat and turn."""

import pytest

from theodolite.domain.errors import EmptyReply, ServerFault
from theodolite.domain.flow import SayToApplication
from theodolite.domain.recording import RecordedDialogue, RecordedTurn
from theodolite.gateways.applications.recorded import RecordedApplication

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


async def test_a_withheld_text_stays_withheld_and_says_why(application: RecordedApplication) -> None:
    reply = await application.reply(say("v2"), session="s")

    assert (reply.text, reply.withheld) == ("", "text not shipped")


async def test_an_empty_response_is_an_empty_reply(application: RecordedApplication) -> None:
    with pytest.raises(EmptyReply, match="the recorded response to `v1`, turn 2, is empty"):
        await application.reply(say("v1", turn=2), session="s")


@pytest.mark.parametrize("request_", [say("v9"), say("v1", turn=3), say("v1", turn=0), say("v1", repeat=3), say("")])
async def test_what_was_not_recorded_is_no_reply(application: RecordedApplication, request_: SayToApplication) -> None:
    with pytest.raises(ServerFault, match="holds no response of `gpt4`"):
        await application.reply(request_, session="s")


async def test_a_knock_says_how_much_is_recorded(application: RecordedApplication) -> None:
    knock = await application.knock()

    assert (knock.alive, knock.answer, knock.host) == (True, "ok, 3 recorded dialogues", "")


async def test_an_empty_recording_is_not_alive() -> None:
    assert not (await RecordedApplication("gpt4", ()).knock()).alive


async def test_a_recorded_reply_brings_its_source_material() -> None:
    turns = (RecordedTurn(prompt="a", response="A", context="Open at nine.\x00"),)
    application = RecordedApplication("gpt4", [RecordedDialogue(key="v1", application="gpt4", turns=turns)])

    reply = await application.reply(say("v1"), session="s")

    assert (reply.context, reply.repaired) == ("Open at nine.\ufffd", 1)


async def test_an_empty_response_that_a_person_labelled_is_an_answer() -> None:
    turns = (RecordedTurn(prompt="a", response=""),)
    recording = RecordedDialogue(key="v1", application="gpt4", turns=turns, labelled=True)

    assert (await RecordedApplication("gpt4", [recording]).reply(say("v1"), session="s")).text == ""
