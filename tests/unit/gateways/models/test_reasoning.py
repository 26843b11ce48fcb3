"""Thoughts before a reply are no part of it, whichever mark they stand between and however they come."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.domain.errors import EmptyReply
from theodolite.gateways.http.client import HttpResponse
from theodolite.gateways.models.chat_format import read_reply
from theodolite.gateways.models.chat_stream import STREAMED_CHAT
from theodolite.gateways.models.reasoning import Speech, spoken
from theodolite.gateways.models.stream_form import StreamListener
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
def test_a_reply_is_what_follows_its_thoughts(text, said):
    assert spoken(text) == said


@given(
    st.sampled_from(
        [THOUGHTFUL, "<think>They ask", "Yes, <b>we</b> do.", "<thin air>", " \n Hello", "[THINK]a[/THINK] Yes"]
    ),
    st.lists(st.integers(1, 9)),
)
def test_pieces_say_together_what_the_whole_says(text, sizes):
    speech, said, rest = Speech(), "", text
    for size in [*sizes, len(text)]:
        piece, rest = rest[:size], rest[size:]
        said += speech.feed(piece)

    assert said == spoken(text)


def test_who_listens_hears_no_thoughts():
    heard = []
    listener = StreamListener(STREAMED_CHAT, heard.append)
    for word in ("<th", "ink>Hm", "m</think>", "\n", "Yes", "!"):
        listener.feed(b"data: " + json.dumps({"choices": [{"delta": {"content": word}}]}).encode() + b"\n\n")
    listener.end("Yes!")

    assert heard == ["Yes", "!"]


@pytest.mark.parametrize(("finish", "words"), [("length", "the token limit was reached first"), ("stop", "thoughts")])
def test_thoughts_alone_are_no_reply_and_are_paid_for(finish, words):
    message = {"message": {"content": "<think>Let me see"}, "finish_reason": finish}
    body = json.dumps({"choices": [message], "usage": {"prompt_tokens": 5, "completion_tokens": 9}}).encode()

    attempt_error = read_reply(HttpResponse(body=body), price=None, secret=Secret())

    assert attempt_error.kind is EmptyReply
    assert words in attempt_error.words
    assert attempt_error.spent.tokens_out == 9
