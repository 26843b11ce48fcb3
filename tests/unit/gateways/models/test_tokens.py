"""What a call is expected to take, and what its answer says."""

import json

import pytest

from tests.fakes.misbehaviour import chat_answer, messages_answer
from tests.fakes.streams import chat_events, messages_events
from theodolite.domain.model import ModelEndpoint
from theodolite.gateways.models.tokens import expected_tokens, tokens_taken


@pytest.mark.parametrize(
    ("params", "expected"),
    [({}, 600), ({"max_tokens": 50}, 150), ({"max_completion_tokens": 7, "max_tokens": 50}, 107)],
)
def test_the_study_may_say_how_long_replies_become(params: dict[str, int], expected: int) -> None:
    assert expected_tokens(ModelEndpoint(name="m", params=params), b"x" * 300) == expected


@pytest.mark.parametrize(
    ("usage", "taken"),
    [
        ({"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}, 150),
        ({"input_tokens": 5, "cache_creation_input_tokens": 100, "output_tokens": 7}, 112),
        ({}, None),
        ("much", None),
    ],
)
def test_an_answer_says_what_it_took_in_any_dialect(usage: object, taken: int | None) -> None:
    assert tokens_taken(json.dumps({"usage": usage}).encode()) == taken


def test_a_streamed_answer_says_what_it_took_in_its_events() -> None:
    chat = chat_events(chat_answer("hello", "m"))
    message = messages_events(messages_answer("hello", "m"))

    assert [tokens_taken("".join(events).encode()) for events in (chat, message)] == [150, 150]


@pytest.mark.parametrize("body", [b"", b"[]", b"<html>", b"7"])
def test_an_answer_that_is_no_object_says_nothing(body: bytes) -> None:
    assert tokens_taken(body) is None
