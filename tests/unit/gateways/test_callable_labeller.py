"""A Python function labels dialogues like any annotator."""

import asyncio
import threading
from typing import Any

import pytest

from tests.fakes.gateway_clock import HastyClock
from tests.fakes.local_worker import local_workers
from theodolite.domain.annotator import PythonLabeller
from theodolite.domain.errors import GatewayError, MalformedReply, ServerFault, TimedOut
from theodolite.domain.flow import AskFunction, Exchange
from theodolite.gateways.callable_labeller import OFFERED, CallableLabeller

ASK = AskFunction(
    annotator="clf", turns=(Exchange(prompt="a", response="b"),), guideline="g", questions=("label",), context="facts"
)


def labeller(function: Any, *, timeout_s: float = 5.0) -> CallableLabeller:
    labelling = PythonLabeller(target="m:f", edition="1", timeout_s=timeout_s)
    workers = local_workers(function, is_class=False, owner="clf", offered=OFFERED)
    return CallableLabeller("clf", labelling, workers, clock=HastyClock())


async def later(turns: list[dict[str, Any]], *, questions: list[str]) -> dict[str, bool]:
    await asyncio.sleep(0)
    return dict.fromkeys(questions, True)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda turns: turns[0]["response"] == "b", "true"),
        (lambda turns, context: context, '"facts"'),
        (lambda turns, **more: sorted(more), '["context", "guideline", "questions"]'),
        (lambda turns: turns, '[{"turn": 1, "prompt": "a", "response": "b"}]'),
        (lambda turns: None, "null"),
        (later, '{"label": true}'),
        (lambda turns: later(turns, questions=["x"]), '{"x": true}'),
    ],
)
async def test_a_function_gets_what_it_takes(function: Any, text: str) -> None:
    assert (await labeller(function).reply(ASK)).text == text


def broken(_: Any) -> None:
    message = "no weights"
    raise ValueError(message)


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (broken, ServerFault, "ValueError: no weights"),
        (lambda _: {1, 2}, MalformedReply, "returned a set"),
        (lambda _: float("nan"), MalformedReply, "returned a float"),
    ],
)
async def test_what_goes_wrong_is_a_failure_of_the_judge(function: Any, error: type[GatewayError], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        await labeller(function).reply(ASK)

    assert caught.value.endpoint == "clf"


async def test_a_function_that_never_returns_is_given_up() -> None:
    never = threading.Event()

    with pytest.raises(TimedOut, match="no answer within"):
        await labeller(lambda _: never.wait(), timeout_s=0.05).reply(ASK)


async def test_it_is_there_without_being_called() -> None:
    knock = await labeller(broken).knock()

    assert (knock.alive, knock.answer) == (True, "ok, loaded m:f")
