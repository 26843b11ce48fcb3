"""Events become one answer, or say why they do not."""

import json

import pytest

from theodolite.gateways.attempt_error import AttemptError
from theodolite.gateways.http.client import HttpResponse
from theodolite.gateways.models.anthropic_stream import STREAMED_MESSAGES
from theodolite.gateways.models.chat_stream import STREAMED_CHAT
from theodolite.gateways.models.stream_form import StreamForm, in_one_piece

CHAT = {"choices": [{"index": 0, "delta": {"content": "Yes"}, "finish_reason": None}]}
MESSAGE = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yes"}}


def streamed(*events: object) -> HttpResponse:
    texts = (event if isinstance(event, str) else json.dumps(event) for event in events)
    return HttpResponse(body="".join(f"data: {text}\n\n" for text in texts).encode())


def test_a_server_that_says_only_that_nothing_follows_has_ended_its_reply() -> None:
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
def test_a_reply_that_nobody_has_ended_is_none(form: StreamForm, events: tuple[object, ...]) -> None:
    attempt_error = in_one_piece(streamed(*events), form)

    assert isinstance(attempt_error, AttemptError)
    assert attempt_error.words == "the events end before the reply does"
