"""A Python function is an application like any other."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.fakes.gateway_clock import HastyClock
from tests.fakes.local_worker import local_callable, local_workers
from theodolite.domain.annotator import PythonLabeller
from theodolite.domain.application import Markup, PythonCallable
from theodolite.domain.errors import ContentRefused, EmptyReply, GatewayError, MalformedReply, ServerFault, TimedOut
from theodolite.domain.flow import AskFunction, Exchange, SayToApplication
from theodolite.gateways.applications.callable_application import OFFERED, CallableApplication, CallableLabeller

SAY = SayToApplication(
    application="app", prompt="hi", turn=2, history=(Exchange(prompt="a", response="b"),), context="facts"
)


def application(function: Any, *, timeout_s: float = 5.0) -> CallableApplication:
    return local_callable("app", PythonCallable(target="m:f", timeout_s=timeout_s), function, clock=HastyClock())


async def said(function: Any) -> str:
    return (await application(function).reply(SAY, session="s-1")).text


class Bot:
    """A callable object."""

    async def __call__(self, prompt: str, *, turn: int) -> str:
        return f"{prompt} {turn}"


async def later(prompt: str) -> str:
    await asyncio.sleep(0)
    return prompt


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda prompt: prompt, "hi"),
        (lambda message, history: f"{message} {history[0].response}", "hi b"),
        (lambda prompt, *, session, context, turn: f"{session} {context} {turn}", "s-1 facts 2"),
        (lambda prompt, **more: ",".join(sorted(more)), "context,history,session,turn"),
        (lambda prompt, mood="fine": mood, "fine"),
        (lambda history: history, "hi"),
        (lambda prompt: {"response": "from a record", "success": True}, "from a record"),
        (lambda prompt: "a\x00b", "a\ufffdb"),
        (functools.partial(later), "hi"),
        (Bot(), "hi 2"),
        (later, "hi"),
    ],
)
async def test_a_function_receives_the_parameters_it_declares(function: Any, text: str) -> None:
    assert await said(function) == text


def raising(error: BaseException) -> Any:
    """Return a function that raises."""

    def function(prompt: str) -> str:
        raise error

    return function


async def raising_late(prompt: str) -> str:
    raise TimeoutError("its own")  # noqa: EM101, TRY003 - what a user's function might do


@pytest.mark.parametrize(
    ("function", "kind", "words"),
    [
        (raising(ValueError("no index\nfor you")), ServerFault, "ValueError: no index for you"),
        (raising(KeyError()), ServerFault, "KeyError"),
        (raising(StopIteration()), ServerFault, "StopIteration"),
        (raising(SystemExit(2)), ServerFault, "SystemExit: 2"),
        (raising(RuntimeError("key sk-abcdefghij")), ServerFault, r"key \*\*\*"),
        (raising(ContentRefused("held back, key sk-abcdefghij")), ContentRefused, r"^held back, key \*\*\*"),
        (raising_late, ServerFault, "TimeoutError: its own"),
        (lambda: "takes no prompt", ServerFault, "TypeError"),
        (lambda prompt: None, EmptyReply, "no text"),
        (lambda prompt: " ", EmptyReply, "no text"),
        (lambda prompt: {"response": ""}, EmptyReply, "no text"),
        (lambda prompt: {"response": "down", "success": False}, ServerFault, "it says that it failed: down"),
        (lambda prompt: 7, MalformedReply, "returned a int"),
    ],
)
async def test_invalid_replies_are_distinguished(function: Any, kind: type[GatewayError], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        await said(function)

    assert caught.value.endpoint == "app"


async def test_a_slow_coroutine_times_out() -> None:
    async def slow(prompt: str) -> str:
        await asyncio.sleep(3600)
        return prompt

    with pytest.raises(TimedOut, match=r"no answer within 0\.05 s"):
        await application(slow, timeout_s=0.05).reply(SAY, session="s-1")


async def test_a_function_that_never_returns_times_out_and_blocks_nothing() -> None:
    release = threading.Event()

    def stuck(prompt: str) -> str:
        if prompt == "hi":
            release.wait()
        return prompt

    slow = application(stuck, timeout_s=0.2)
    waiting = asyncio.create_task(slow.reply(SAY, session="s-1"))
    other = await slow.reply(SayToApplication(application="app", prompt="ho", turn=1), session="s-2")

    with pytest.raises(TimedOut):
        await waiting
    release.set()
    assert other.text == "ho"


def test_a_function_may_be_called_from_several_event_loops() -> None:
    echo = application(lambda prompt: prompt)

    assert [asyncio.run(echo.reply(SAY, session="s")).text for _ in range(2)] == ["hi", "hi"]


async def test_a_function_without_a_readable_signature_receives_the_prompt() -> None:
    assert await said(str) == "hi"


def in_pieces(prompt: str) -> Iterator[str]:
    yield "one "
    yield prompt


async def in_pieces_later(prompt: str) -> AsyncIterator[str]:
    yield "one "
    await asyncio.sleep(0)
    yield prompt


def iterator_of(prompt: str) -> Any:
    return iter(["one ", prompt])


async def later_iterator_of(prompt: str) -> Any:
    return in_pieces_later(prompt)


@pytest.mark.parametrize("function", [in_pieces, in_pieces_later, iterator_of, later_iterator_of])
async def test_a_function_may_yield_its_reply_in_chunks(function: Any) -> None:
    heard: list[str] = []

    reply = await application(function).reply(SAY, session="s", on_chunk=heard.append)

    assert (reply.text, heard) == ("one hi", ["one ", "hi"])


async def test_a_reply_in_html_is_shown_as_text_and_tags_are_never_split() -> None:
    heard: list[str] = []
    connection = PythonCallable(target="m:f", markup=Markup.HTML)
    app = local_callable("app", connection, lambda _: iter(["<p>o", "ne</p>"]), clock=HastyClock())

    reply = await app.reply(SAY, session="s", on_chunk=heard.append)

    assert (reply.text, reply.original, heard) == ("one", "<p>one</p>", [])


def odd_pieces(prompt: str) -> Iterator[Any]:
    yield 7


async def odd_pieces_later(prompt: str) -> AsyncIterator[Any]:
    yield None


def breaking(prompt: str) -> Iterator[str]:
    yield "one "
    message = "wire cut"
    raise OSError(message)


@pytest.mark.parametrize(
    ("function", "kind", "words"),
    [
        (odd_pieces, MalformedReply, "yielded a int; expected text"),
        (odd_pieces_later, MalformedReply, "yielded a NoneType"),
        (breaking, ServerFault, "OSError: wire cut"),
        (lambda prompt: iter([]), EmptyReply, "no text"),
    ],
)
async def test_chunks_of_a_wrong_type_or_a_broken_stream_are_not_a_reply(
    function: Any, kind: type[GatewayError], words: str
) -> None:
    with pytest.raises(kind, match=words):
        await said(function)


ASK = AskFunction(
    annotator="clf", turns=(Exchange(prompt="a", response="b"),), guideline="g", questions=("label",), context="facts"
)


def labeller(function: Any, *, timeout_s: float = 5.0) -> CallableLabeller:
    labelling = PythonLabeller(target="m:f", version="1", timeout_s=timeout_s)
    workers = local_workers(function, is_class=False, owner="clf", offered=OFFERED)
    return CallableLabeller("clf", labelling, workers, clock=HastyClock())


async def later_labels(turns: list[dict[str, Any]], *, questions: list[str]) -> dict[str, bool]:
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
        (later_labels, '{"label": true}'),
        (lambda turns: later_labels(turns, questions=["x"]), '{"x": true}'),
    ],
)
async def test_a_labelling_function_receives_the_parameters_it_declares(function: Any, text: str) -> None:
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
async def test_an_exception_is_a_failure_of_the_judge(function: Any, error: type[GatewayError], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        await labeller(function).reply(ASK)

    assert caught.value.endpoint == "clf"


async def test_a_function_that_never_returns_is_cancelled() -> None:
    never = threading.Event()

    with pytest.raises(TimedOut, match="no answer within"):
        await labeller(lambda _: never.wait(), timeout_s=0.05).reply(ASK)


async def test_the_health_check_does_not_call_the_function() -> None:
    check = await labeller(broken).check_endpoint()

    assert (check.alive, check.answer) == (True, "ok, loaded m:f")
