"""A script says its lines and says that it is a script."""

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.failure import Party
from theodolite.domain.flow import AskModel, Message, Speaker
from theodolite.domain.model import ModelEndpoint
from theodolite.gateways.scripted import ScriptedModel


def ask(*, replicate: int) -> AskModel:
    hello = Message(speaker=Speaker.USER, text="hello")
    return AskModel(model="m", messages=(hello,), party=Party.JUDGE, replicate=replicate)


@pytest.mark.parametrize(("replicate", "text"), [(1, "a"), (2, "b"), (3, "a")])
async def test_repetitions_begin_one_line_further(replicate: int, text: str) -> None:
    reply = await ScriptedModel(ModelEndpoint(name="m", script=("a", "b"))).reply(ask(replicate=replicate))

    assert (reply.text, reply.scripted, reply.answered_as, reply.cost_microusd) == (text, True, "script", 0)


@pytest.mark.parametrize(("script", "words"), [(("a",), "1 reply in turn"), (("a", "b"), "2 replies in turn")])
async def test_a_knock_says_that_it_is_scripted(script: tuple[str, ...], words: str) -> None:
    knock = await ScriptedModel(ModelEndpoint(name="m", script=script)).knock()

    assert "SCRIPTED" in knock.answer
    assert words in knock.answer


def test_without_lines_there_is_no_script() -> None:
    with pytest.raises(InputError, match="needs a `url` or a `script`"):
        ScriptedModel(ModelEndpoint(name="m"))
