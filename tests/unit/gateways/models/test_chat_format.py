"""Chat Completions are written and read strictly."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.misbehaviour import chat_answer
from theodolite.domain.application import ModelEndpoint, Price
from theodolite.domain.errors import ContentRefused, EmptyReply, GatewayError, MalformedReply, ServerFault
from theodolite.domain.flow import AskModel, Message, Reply, Speaker
from theodolite.domain.run import FailureSource, Spending
from theodolite.gateways.errors import AttemptError
from theodolite.gateways.http_client import HttpResponse
from theodolite.gateways.models.chat_format import read_model_names, read_reply, request_body
from theodolite.gateways.secret_redaction import Secret


def read(body: Any, *, price: Price | None = None) -> Reply | AttemptError:
    """Read an answer with the given JSON body."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_reply(HttpResponse(body=raw, latency_s=0.25, attempts=2), price=price, secret=Secret("sk-1234567"))


def altered(*, message: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Return a well-formed answer with some changes."""
    answer = chat_answer("hello", "gpt-x-2026")
    answer["choices"][0]["message"].update(message or {})
    answer["choices"][0].update(changes)
    return answer


def test_a_request_contains_model_messages_and_parameters() -> None:
    endpoint = ModelEndpoint(name="m", url="http://h/v1", model="gpt-x", params={"temperature": 0, "seed": 7})
    messages = (Message(speaker=Speaker.SYSTEM, text="Be kind."), Message(speaker=Speaker.USER, text='"Hi" é'))

    body = json.loads(request_body(endpoint, AskModel(model="m", messages=messages, party=FailureSource.JUDGE)))

    assert body == {
        "model": "gpt-x",
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": '"Hi" é'}],
        "temperature": 0,
        "seed": 7,
    }


def test_a_reply_has_text_tokens_cost_and_finish_reason() -> None:
    reply = read(altered(), price=Price(input_usd=2.0, output_usd=8.0))

    assert reply == Reply(
        text="hello",
        answered_as="gpt-x-2026",
        finish="stop",
        tokens_in=120,
        tokens_out=30,
        cost_microusd=480,
        latency_s=0.25,
        attempts=2,
    )


@pytest.mark.parametrize(
    "usage",
    [None, {}, [], {"prompt_tokens": -1}, {"prompt_tokens": "9"}, {"prompt_tokens": True}, {"prompt_tokens": 1e99}],
)
def test_without_plausible_usage_the_cost_is_unknown_and_not_zero(usage: Any) -> None:
    reply = read(altered() | {"usage": usage}, price=Price(input_usd=2.0, output_usd=8.0))

    assert isinstance(reply, Reply)
    assert (reply.tokens_in, reply.tokens_out, reply.cost_microusd) == (0, 0, None)


OLLAMA = {
    "id": "chatcmpl-247",
    "object": "chat.completion",
    "created": 1764000000,
    "model": "llama3.2",
    "system_fingerprint": "fp_ollama",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "hello", "reasoning": "They greet me."},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 26, "completion_tokens": 9, "total_tokens": 35},
}

VLLM = {
    "id": "chatcmpl-1f",
    "object": "chat.completion",
    "created": 1764000000,
    "model": "small-1",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "hello",
                "refusal": None,
                "tool_calls": [],
                "reasoning_content": "They greet me.",
            },
            "logprobs": None,
            "finish_reason": "stop",
            "stop_reason": None,
        }
    ],
    "usage": {"prompt_tokens": 26, "total_tokens": 35, "completion_tokens": 9, "prompt_tokens_details": None},
    "prompt_logprobs": None,
    "kv_transfer_params": None,
}


@pytest.mark.parametrize("body", [OLLAMA, VLLM], ids=["Ollama", "vLLM"])
def test_replies_of_local_servers_are_stripped_of_their_reasoning(body: dict[str, Any]) -> None:
    reply = read(body)

    assert isinstance(reply, Reply)
    assert (reply.text, reply.answered_as, reply.tokens_in, reply.tokens_out) == ("hello", body["model"], 26, 9)


def test_text_in_parts_is_joined() -> None:
    reply = read(altered(message={"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}))

    assert isinstance(reply, Reply)
    assert reply.text == "ab"


def test_characters_that_cannot_be_stored_are_replaced() -> None:
    reply = read(altered(message={"content": "a\x00b\ud800c"}))

    assert isinstance(reply, Reply)
    assert (reply.text, reply.repaired) == ("a\ufffdb\ufffdc", 2)


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (b"<html>Sign in</html>", MalformedReply, "not JSON but an HTML page"),
        (b'{"choices": [', MalformedReply, "not JSON"),
        (b"\xff\xfe{", MalformedReply, "not JSON"),
        (b"[" * 100_000, MalformedReply, "not JSON"),
        ([], MalformedReply, "JSON list"),
        ({"choices": []}, MalformedReply, "no `choices`"),
        ({"choices": ["text"]}, MalformedReply, "no `choices`"),
        ({"choices": [{"text": "old form"}]}, MalformedReply, "no `choices`"),
        ({"error": {"message": "down, key sk-1234567"}}, ServerFault, "200 with an error: down, key ***"),
        ({"error": {"message": "no", "code": "content_filter"}}, ContentRefused, "200 with an error"),
        (altered(message={"content": 7}), MalformedReply, "neither text"),
        (altered(message={"content": [{"image": 1}]}), MalformedReply, "neither text"),
        (altered(message={"content": None}), EmptyReply, "no text"),
        (altered(message={"content": " \n"}), EmptyReply, "no text"),
        (altered(message={"content": ""}, finish_reason="length"), EmptyReply, "token limit"),
        (altered(message={"content": None, "tool_calls": [{}]}), EmptyReply, "tool"),
        (altered(finish_reason="content_filter"), ContentRefused, "content filter"),
        (altered(message={"refusal": "I will not."}), ContentRefused, "I will not."),
    ],
)
def test_invalid_replies_are_distinguished(body: Any, kind: type[GatewayError], words: str) -> None:
    attempt_error = read(body)

    assert isinstance(attempt_error, AttemptError)
    assert attempt_error.kind is kind
    assert words in attempt_error.words


@pytest.mark.parametrize(
    "body",
    [altered(message={"content": ""}, finish_reason="length"), altered(finish_reason="content_filter")],
    ids=["no words", "filtered"],
)
def test_an_unusable_reply_states_its_cost(body: Any) -> None:
    body["usage"] = {"prompt_tokens": 10, "completion_tokens": 400}
    attempt_error = read(body, price=Price(input_usd=1.0, output_usd=2.0))

    assert isinstance(attempt_error, AttemptError)
    assert attempt_error.spent == Spending(tokens_in=10, tokens_out=400, cost_microusd=810)
    assert attempt_error.error(endpoint="m").spent == attempt_error.spent


def test_an_unusable_reply_without_a_known_price_has_an_unknown_cost() -> None:
    body = altered(message={"content": ""}) | {"usage": {"prompt_tokens": 10, "completion_tokens": 0}}
    attempt_error = read(body)

    assert isinstance(attempt_error, AttemptError)
    assert attempt_error.spent == Spending(tokens_in=10, unpriced_calls=1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["choices", "message", "content", "error"]), inner),
)


@given(body=st.binary() | JSON.map(lambda found: json.dumps(found).encode()))
def test_every_response_is_a_reply_or_an_error(body: bytes) -> None:
    assert isinstance(read(body), Reply | AttemptError)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b'{"data": [{"id": "a"}, {"id": 7}, "b", {"id": "c"}]}', ("a", "c")),
        (b'{"data": null}', ()),
        (b"[]", ()),
        (b"<html>", ()),
    ],
)
def test_the_model_names_of_an_endpoint_are_read(body: bytes, names: tuple[str, ...]) -> None:
    assert read_model_names(HttpResponse(body=body)) == names
