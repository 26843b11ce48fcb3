"""Thoughts before a reply are no part of it, whichever mark they stand between and however they come."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.misbehaviour import chat_answer, chat_events, messages_answer, messages_events
from theodolite.domain.application import ModelEndpoint
from theodolite.domain.errors import EmptyReply, RateLimited, ServerFault
from theodolite.gateways.errors import AttemptError
from theodolite.gateways.http_client import HttpResponse
from theodolite.gateways.models.anthropic_messages import STREAMED_MESSAGES
from theodolite.gateways.models.chat_format import STREAMED_CHAT, read_reply
from theodolite.gateways.models.model_answer import (
    Speech,
    StreamForm,
    StreamListener,
    expected_tokens,
    in_one_piece,
    passing_error,
    spoken,
    tokens_taken,
)
from theodolite.gateways.secret_redaction import Secret

THOUGHTFUL = "\n<think>\nThey ask </b> for {1}.\n</think>\n\nYes, we do."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (THOUGHTFUL, "Yes, we do."),
        ("They ask.\n</think>\nYes, we do.", "Yes, we do."),
        ("[THINK]They ask.[/THINK]Yes, we do.", "Yes, we do."),
        ("<think>They ask, and", ""),
        ("<think></think>", ""),
        (" Yes </think> we <think> do.\n", " Yes </think> we <think> do.\n"),
        ("An example:\n<think>\nmine\n</think>\nends here.", "An example:\n<think>\nmine\n</think>\nends here."),
    ],
)
def test_a_reply_is_the_text_after_the_reasoning(text, said):
    assert spoken(text) == said


@given(
    st.sampled_from(
        [THOUGHTFUL, "<think>They ask", "Yes, <b>we</b> do.", "<thin air>", " \n Hello", "[THINK]a[/THINK] Yes"]
    ),
    st.lists(st.integers(1, 9)),
)
def test_chunks_together_equal_the_whole_reply(text, sizes):
    speech, said, rest = Speech(), "", text
    for size in [*sizes, len(text)]:
        piece, rest = rest[:size], rest[size:]
        said += speech.feed(piece)

    assert said == spoken(text)


def test_a_stream_excludes_the_reasoning():
    heard = []
    listener = StreamListener(STREAMED_CHAT, heard.append)
    for word in ("<th", "ink>Hm", "m</think>", "\n", "Yes", "!"):
        listener.feed(b"data: " + json.dumps({"choices": [{"delta": {"content": word}}]}).encode() + b"\n\n")
    listener.end("Yes!")

    assert heard == ["Yes", "!"]


@pytest.mark.parametrize(("finish", "words"), [("length", "the token limit was reached first"), ("stop", "thoughts")])
def test_reasoning_alone_is_not_a_reply_and_is_charged(finish, words):
    message = {"message": {"content": "<think>Let me see"}, "finish_reason": finish}
    body = json.dumps({"choices": [message], "usage": {"prompt_tokens": 5, "completion_tokens": 9}}).encode()

    attempt_error = read_reply(HttpResponse(body=body), price=None, secret=Secret())

    assert attempt_error.kind is EmptyReply
    assert words in attempt_error.words
    assert attempt_error.spent.tokens_out == 9


CHAT = {"choices": [{"index": 0, "delta": {"content": "Yes"}, "finish_reason": None}]}

MESSAGE = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yes"}}


def streamed(*events: object) -> HttpResponse:
    texts = (event if isinstance(event, str) else json.dumps(event) for event in events)
    return HttpResponse(body="".join(f"data: {text}\n\n" for text in texts).encode())


def test_a_server_that_reports_the_end_of_the_stream_has_completed_its_reply() -> None:
    whole = in_one_piece(streamed(CHAT, "[DONE]"), STREAMED_CHAT)

    assert isinstance(whole, HttpResponse)
    assert json.loads(whole.body)["choices"][0] == {
        "message": {"content": "Yes", "refusal": None, "tool_calls": False},
        "finish_reason": "",
    }


@pytest.mark.parametrize(
    ("form", "events"),
    [(STREAMED_CHAT, (CHAT,)), (STREAMED_MESSAGES, (MESSAGE,)), (STREAMED_MESSAGES, (MESSAGE, "[DONE]"))],
)
def test_a_reply_without_an_end_is_invalid(form: StreamForm, events: tuple[object, ...]) -> None:
    attempt_error = in_one_piece(streamed(*events), form)

    assert isinstance(attempt_error, AttemptError)
    assert attempt_error.words == "the events end before the reply does"


@pytest.mark.parametrize(
    ("params", "expected"),
    [({}, 600), ({"max_tokens": 50}, 150), ({"max_completion_tokens": 7, "max_tokens": 50}, 107)],
)
def test_the_study_may_limit_the_length_of_replies(params: dict[str, int], expected: int) -> None:
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
def test_usage_is_read_in_every_dialect(usage: object, taken: int | None) -> None:
    assert tokens_taken(json.dumps({"usage": usage}).encode()) == taken


def test_usage_is_read_from_the_events_of_a_stream() -> None:
    chat = chat_events(chat_answer("hello", "m"))
    message = messages_events(messages_answer("hello", "m"))

    assert [tokens_taken("".join(events).encode()) for events in (chat, message)] == [150, 150]


@pytest.mark.parametrize("body", [b"", b"[]", b"<html>", b"7"])
def test_a_response_that_is_not_an_object_has_no_usage(body: bytes) -> None:
    assert tokens_taken(body) is None


SECRET = Secret("swordfish-9")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 429, "message": "slower, swordfish-9"}, RateLimited),
        ({"type": "overloaded_error", "message": "slower, swordfish-9"}, RateLimited),
        ({"code": "502", "message": "slower, swordfish-9"}, ServerFault),
    ],
)
@pytest.mark.parametrize("form", ["{}", 'data: {{"choices": []}}\n\ndata: {}\n\n'])
def test_an_error_in_the_body_counts_as_its_status(error: Any, kind: type, form: str) -> None:
    attempt_error = passing_error(form.format(json.dumps({"error": error})).encode(), SECRET)

    assert attempt_error is not None
    assert (attempt_error.kind, attempt_error.words) == (kind, "200 with an error: slower, ***")


@pytest.mark.parametrize(
    "error",
    [
        {"code": "content_filter", "type": "server_error", "message": "withheld"},
        {"code": "500", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
        {"code": "insufficient_quota", "type": "rate_limit_error", "message": "no money left"},
        {"code": 400, "message": "no such field"},
        "something",
        None,
    ],
)
def test_permanent_errors_are_not_retried(error: Any) -> None:
    assert passing_error(json.dumps({"error": error}).encode(), SECRET) is None
