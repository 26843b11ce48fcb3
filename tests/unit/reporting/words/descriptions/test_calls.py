from dataclasses import replace

import pytest

from theodolite.domain.flow import Message, Reply, Speaker
from theodolite.domain.status import Call
from theodolite.reporting.words.descriptions import PROMPT_CHANGED, call_texts, spent_text

PAID = Call(reply=Reply(text="Yes.", finish="stop", tokens_in=1200, tokens_out=20, cost_microusd=410))


def told(**changes):
    return spent_text([Call(reply=replace(PAID.reply, **changes))])


def test_a_cost_states_what_was_paid_for():
    assert spent_text([PAID, PAID]) == "2 calls, 2,400 tokens in, 40 out, $0.00082"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"attempts": 3}, "1 call, 3 attempts, 1,200 tokens in, 20 out, $0.00041"),
        ({"cost_microusd": None}, "1 call, 1,200 tokens in, 20 out, 1 call without a known price"),
        ({"cost_microusd": 1_230_000}, "1 call, 1,200 tokens in, 20 out, $1.23"),
        ({"attempts": 0, "tokens_in": 0, "tokens_out": 0, "cost_microusd": 0}, "0 calls, 1 reply from the cache"),
    ],
)
def test_unusual_call_settings_are_stated(changes, words):
    assert told(**changes) == words


def test_a_recorded_reply_is_not_a_call():
    assert spent_text([Call(reply=Reply(text="Yes.", attempts=0))]) == ""


def test_a_prompt_is_listed_by_message_followed_by_its_reply():
    prompt = (Message(speaker=Speaker.SYSTEM, text="Judge."), Message(speaker=Speaker.USER, text="This."))

    assert call_texts([replace(PAID, prompt=prompt)]) == [
        ("prompt 1", "[system]\nJudge.\n\n[user]\nThis."),
        ("reply 1", "Yes."),
    ]


def test_a_prompt_that_changed_since_is_not_shown():
    assert call_texts([replace(PAID, prompt=None)])[0] == ("prompt 1", PROMPT_CHANGED)


def test_a_missing_reply_states_why():
    withheld, empty = Call(reply=Reply(text="", withheld="licence")), Call(reply=Reply(text=""))

    assert call_texts([withheld, empty]) == [("reply 1", "(withheld: licence)"), ("reply 2", "(empty)")]
