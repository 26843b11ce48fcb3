"""Outputs of Inspect's model API become replies or failed attempts; the real API is tried in tests/client."""

from types import SimpleNamespace
from typing import Any

import pytest

from theodolite.domain.application import Price
from theodolite.domain.errors import ContentRefused, EmptyReply, GatewayError
from theodolite.domain.flow import Reply
from theodolite.gateways.errors import AttemptError
from theodolite.gateways.models.inspect_model import read_output
from theodolite.gateways.secret_redaction import Secret

USAGE = SimpleNamespace(
    input_tokens=100, input_tokens_cache_read=15, input_tokens_cache_write=None, output_tokens=30, total_cost=0.0000123
)


def output(text: str = "hello", stop: str = "stop", **more: Any) -> SimpleNamespace:
    """Return what `generate` gives."""
    known = {
        "choices": [object()],
        "completion": text,
        "stop_reason": stop,
        "model": "m-1",
        "usage": USAGE,
        "error": None,
    }
    return SimpleNamespace(**(known | more))


def read(found: SimpleNamespace, price: Price | None = None) -> Reply | AttemptError:
    return read_output(found, latency_s=0.25, price=price, secret=Secret("sk-1234567"))


def test_cached_tokens_count_as_read_and_the_price_of_inspect_is_used() -> None:
    assert read(output()) == Reply(
        text="hello", answered_as="m-1", finish="stop", tokens_in=115, tokens_out=30, cost_microusd=13, latency_s=0.25
    )


def test_a_price_in_the_study_takes_precedence() -> None:
    reply = read(output(), Price(input_usd=2.0, output_usd=8.0))

    assert isinstance(reply, Reply)
    assert reply.cost_microusd == 470


def test_without_usage_there_is_no_cost() -> None:
    reply = read(output(usage=None))

    assert isinstance(reply, Reply)
    assert (reply.tokens_in, reply.tokens_out, reply.cost_microusd) == (0, 0, None)


@pytest.mark.parametrize(
    ("found", "kind", "words"),
    [
        (output(stop="content_filter", error="held back for sk-1234567"), ContentRefused, r"held back for \*\*\*"),
        (output("", "content_filter"), ContentRefused, "withheld"),
        (output(" "), EmptyReply, "no text"),
        (output("", "max_tokens"), EmptyReply, "token limit"),
        (output("", "tool_calls"), EmptyReply, "tool"),
        (output("", choices=[]), EmptyReply, "no text"),
    ],
)
def test_an_invalid_reply_states_its_kind(found: SimpleNamespace, kind: type[GatewayError], words: str) -> None:
    attempt_error = read(found)

    assert isinstance(attempt_error, AttemptError)
    assert attempt_error.kind is kind
    with pytest.raises(kind, match=words):
        raise attempt_error.error(endpoint="m")
