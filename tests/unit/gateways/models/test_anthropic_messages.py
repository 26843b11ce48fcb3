"""Anthropic's Messages are written and read strictly."""

import json
from typing import Any

import pytest

from tests.fakes.misbehaviour import messages_answer
from theodolite.domain.application import ModelEndpoint, Price
from theodolite.domain.errors import ContentRefused, EmptyReply, GatewayError, MalformedReply, ServerFault
from theodolite.domain.flow import AskModel, Message, Reply, Speaker
from theodolite.domain.run import FailureSource
from theodolite.gateways.errors import AttemptError
from theodolite.gateways.http_client import HttpResponse
from theodolite.gateways.models.anthropic_messages import TOKENS_AT_MOST, read_reply, request_body
from theodolite.gateways.secret_redaction import Secret

CHAT = (
    Message(speaker=Speaker.SYSTEM, text="Be kind."),
    Message(speaker=Speaker.USER, text="Hi"),
    Message(speaker=Speaker.ASSISTANT, text="Hello"),
    Message(speaker=Speaker.USER, text="How are you?"),
)


def written(*messages: Message, **params: Any) -> dict[str, Any]:
    """Return the body of a request."""
    endpoint = ModelEndpoint(name="m", url="http://h/v1", model="claude-x", params=params)
    body: dict[str, Any] = json.loads(
        request_body(endpoint, AskModel(model="m", messages=messages, party=FailureSource.JUDGE))
    )
    return body


def read(body: Any, *, price: Price | None = None) -> Reply | AttemptError:
    """Read an answer with the given JSON body."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_reply(HttpResponse(body=raw, latency_s=0.25, attempts=2), price=price, secret=Secret("sk-1234567"))


def test_system_messages_are_separate_from_the_chat() -> None:
    assert written(*CHAT) == {
        "model": "claude-x",
        "max_tokens": TOKENS_AT_MOST,
        "system": "Be kind.",
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello"},
            {"role": "user", "content": "How are you?"},
        ],
    }


def test_a_chat_without_system_message_sends_none() -> None:
    assert "system" not in written(CHAT[1])


def test_fields_of_the_study_take_precedence_and_null_removes_a_field() -> None:
    thinking = {"type": "enabled", "budget_tokens": 1024}

    body = written(CHAT[1], max_tokens=9, thinking=thinking, temperature=None)

    assert (body["max_tokens"], body["thinking"], "temperature" in body) == (9, thinking, False)


def test_a_reply_has_text_tokens_cost_and_finish_reason() -> None:
    answer = messages_answer("hello", "claude-x-2026") | {
        "usage": {
            "input_tokens": 100,
            "cache_read_input_tokens": 15,
            "cache_creation_input_tokens": 5,
            "output_tokens": 30,
        }
    }

    reply = read(answer, price=Price(input_usd=2.0, output_usd=8.0))

    assert reply == Reply(
        text="hello",
        answered_as="claude-x-2026",
        finish="end_turn",
        tokens_in=120,
        tokens_out=30,
        cost_microusd=480,
        latency_s=0.25,
        attempts=2,
    )


def test_thinking_is_not_part_of_the_text() -> None:
    thought, said = {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "said"}

    reply = read(messages_answer("", "m") | {"content": [thought, said, said]})

    assert isinstance(reply, Reply)
    assert reply.text == "saidsaid"


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"stop_reason": "refusal"}, ContentRefused),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, ServerFault),
        ({"type": "error"}, ServerFault),
        ({"content": []}, EmptyReply),
        ({"content": [], "stop_reason": "max_tokens"}, EmptyReply),
        ({"content": [{"type": "tool_use", "name": "t", "input": {}}]}, EmptyReply),
        ({"content": "text"}, MalformedReply),
        ({"content": ["text"]}, MalformedReply),
        ({"content": [{"type": "text", "text": 7}]}, MalformedReply),
    ],
)
def test_an_invalid_reply_states_its_kind(changes: dict[str, Any], kind: type[GatewayError]) -> None:
    attempt_error = read(messages_answer("hello", "m") | changes)

    assert isinstance(attempt_error, AttemptError)
    assert attempt_error.kind is kind


@pytest.mark.parametrize("body", [b"<html>", b"[1]", b"\xff"])
def test_an_unknown_format_is_malformed(body: bytes) -> None:
    attempt_error = read(body)

    assert isinstance(attempt_error, AttemptError)
    assert attempt_error.kind is MalformedReply


def test_a_reply_without_a_known_price_has_no_cost() -> None:
    reply = read(messages_answer("hello", "m"))

    assert isinstance(reply, Reply)
    assert reply.cost_microusd is None
