"""Chat Completions as llama-cpp-python's server speaks them, with a model of random weights."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.gateway_clock import HastyClock
from tests.wire.servers import free_port, serving
from tests.wire.tiny_llama import CONTEXT, write_model
from theodolite.domain.application import ModelEndpoint, Price
from theodolite.domain.errors import Rejected, TimedOut
from theodolite.domain.flow import AskModel, Message, SchemaUse, Speaker
from theodolite.domain.run import FailureSource
from theodolite.gateways.models.chat_model import ChatModel

KEY = "sk-wire-0042"
SCHEMA = {
    "type": "object",
    "properties": {"label": {"enum": ["yes", "no"]}},
    "required": ["label"],
    "additionalProperties": False,
}
OWN_FORM = {"type": "json_object", "schema": SCHEMA}
"""What this server takes in place of `json_schema`."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("llama")
    write_model(folder / "tiny.gguf")
    port = free_port()
    command = ["-m", "llama_cpp.server", "--model", "tiny.gguf", "--model_alias", "tiny", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--n_ctx", str(CONTEXT), "--n_threads", "1", "--api_key", KEY, "--seed", "1"]
    with serving(command, f"http://127.0.0.1:{port}/v1/models", folder):
        yield f"http://127.0.0.1:{port}/v1"


@asynccontextmanager
async def opened(url: str, *, key: str = KEY, max_tokens: int = 24, **settings: Any) -> AsyncIterator[ChatModel]:
    """Open the model as a study would; greedy, so that equal requests have equal replies."""
    params = {"temperature": 0, "max_tokens": max_tokens} | settings.pop("params", {})
    known = {"name": "tiny", "url": url, "model": "tiny", "key": "KEY", "params": params}
    model = ChatModel(ModelEndpoint(**(known | settings)), key=key, clock=HastyClock())
    try:
        yield model
    finally:
        await model.close()


def ask(words: str = "Hello.", schema: Any = None) -> AskModel:
    messages = (Message(speaker=Speaker.SYSTEM, text="Be kind."), Message(speaker=Speaker.USER, text=words))
    return AskModel(model="tiny", messages=messages, party=FailureSource.JUDGE, answer_schema=schema)


async def test_a_reply_brings_words_tokens_cost_and_why_it_ended(url: str) -> None:
    async with opened(url, price=Price(input_usd=1.0, output_usd=1.0)) as model:
        reply = await model.reply(ask())

    assert (len(reply.text), reply.tokens_out, reply.finish) == (24, 24, "length")
    assert (reply.answered_as, reply.attempts, reply.repaired) == ("tiny", 1, 0)
    assert reply.tokens_in > len("Be kind.Hello.")
    assert reply.cost_microusd == reply.tokens_in + 24


async def test_a_streamed_reply_is_the_same_and_comes_in_pieces(url: str) -> None:
    heard: list[str] = []
    async with opened(url) as model:
        whole, streamed = await model.reply(ask()), await model.reply(ask(), on_chunk=heard.append)

    assert ("".join(heard), streamed.text, streamed.finish) == (whole.text, whole.text, "length")
    assert len(heard) > 10


async def test_a_stream_without_usage_has_no_cost_and_is_not_free(url: str) -> None:
    async with opened(url, stream=True, price=Price(input_usd=1.0, output_usd=1.0)) as model:
        reply = await model.reply(ask())

    assert (reply.tokens_in, reply.tokens_out, reply.cost_microusd) == (0, 0, None), "this server sends no usage"


async def test_a_stop_word_ends_a_reply_by_stop(url: str) -> None:
    async with opened(url) as model:
        whole = await model.reply(ask())
    async with opened(url, params={"stop": [whole.text[5:8]]}) as model:
        cut = await model.reply(ask())

    assert (whole.text.startswith(cut.text), len(cut.text) <= 5, cut.finish) == (True, True, "stop")


async def test_a_schema_that_the_server_does_not_take_is_left_out_and_that_is_recorded(url: str) -> None:
    async with opened(url) as model:
        first, second = await model.reply(ask(schema=SCHEMA)), await model.reply(ask(schema=SCHEMA))

    assert (first.schema_use, first.attempts) == (SchemaUse.REFUSED, 2)
    assert (second.schema_use, second.attempts) == (SchemaUse.REFUSED, 1)


async def test_the_servers_own_form_of_a_schema_binds_even_random_weights(url: str) -> None:
    async with opened(url, params={"response_format": OWN_FORM}, max_tokens=200) as model:
        reply = await model.reply(ask(schema=SCHEMA))

    assert json.loads(reply.text)["label"] in {"yes", "no"}
    assert (reply.schema_use, reply.finish) == (SchemaUse.OFF, "stop")


async def test_a_wrong_key_is_rejected_and_not_repeated(url: str) -> None:
    async with opened(url, key="sk-wrong-4711") as model:
        with pytest.raises(Rejected, match="401") as caught:
            await model.reply(ask())
        check = await model.check_endpoint()

    assert "4711" not in str(caught.value) + check.answer
    assert (check.alive, "KEY" in check.hint) == (False, True)


async def test_a_chat_that_is_too_long_is_rejected_at_once(url: str) -> None:
    async with opened(url) as model:
        with pytest.raises(Rejected, match="maximum context length") as caught:
            await model.reply(ask("x" * (CONTEXT + 1)))

    assert (caught.value.status, caught.value.tries) == (400, 1)


async def test_a_knock_names_the_model(url: str) -> None:
    async with opened(url) as model:
        check, names = await model.check_endpoint(), await model.model_names()

    assert (check.alive, check.answer.endswith("answers as tiny"), names) == (True, True, ("tiny",))


STUDY = """
study: noise
models:
  tiny: {{url: {url}, name: tiny, key: WIRE_KEY, params: {{max_tokens: 30, temperature: 0}}}}
  bound: {{url: {url}, name: tiny, key: WIRE_KEY, params: {{max_tokens: 200, temperature: 0, response_format: {form}}}}}
applications:
  bot: {{kind: model, model: tiny, system: Be kind.}}
scenarios:
  inbox: {{goal: "Find out {{{{ wish }}}}", turns: 2}}
personas:
  people:
    template: "You are {{{{ name }}}}. {{{{ goal }}}}"
    rows: [{{name: Ana, wish: when}}, {{name: Ben, wish: how}}]
    model: tiny
judges:
  polite: {{ask: Is every reply polite?, defect: "== no", model: bound}}
"""


def test_a_whole_study_runs_on_it(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIRE_KEY", KEY)
    (tmp_path / "study.yaml").write_text(STUDY.format(url=url, form=json.dumps(OWN_FORM)))

    command = [sys.executable, "-m", "theodolite", "run", str(tmp_path)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)

    assert ended.returncode == 0, ended.stdout + ended.stderr

    results = json.loads((tmp_path / "results.json").read_text())
    [account] = results["dispositions"]
    assert (account["planned"], account["labelled"], account["unparseable"]) == (2, 2, 0)
    assert results["spending"]["calls"] == 2 * (2 + 2 + 1)
    assert results["stubbed"] == []


async def test_last_a_slow_reply_is_given_up_in_time(url: str) -> None:
    # Last, since this server goes on writing although nobody waits any more.
    async with opened(url, max_tokens=8000, timeout_s=0.3, attempts=1) as model:
        with pytest.raises(TimedOut):
            await model.reply(ask())
