"""What a few calls show of an application, one misbehaviour at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.application import FakeApplication
from tests.fakes.aria import Faithful, hanging, made, raising, returning
from tests.fakes.gateway_clock import HastyClock
from tests.fakes.local_worker import local_aria
from theodolite.domain.application import AriaClass
from theodolite.domain.errors import (
    ContentRefused,
    EmptyReply,
    GatewayError,
    RateLimited,
    Rejected,
    ServerFault,
    Severity,
)
from theodolite.domain.flow import SayToApplication
from theodolite.gateways.secret_redaction import Credentials
from theodolite.usecases.conformance import KEEP, Examination, examine, exit_code_of


def word_in(prompt: str) -> str:
    head, tail = KEEP.split("{word}")
    return prompt.removeprefix(head).removesuffix(tail) if prompt.startswith(head) else ""


class Attentive(Faithful):
    """Keeps the code word of its session, and forgets it when a new one starts."""

    def StartSession(self) -> Any:
        self.word = "none"
        return True

    def GetResponse(self, text: str) -> Any:
        self.word = word_in(text) or self.word
        return {"success": True, "response": f"It is {self.word}; you wrote {len(text)} letters."}


class Sticky(Attentive):
    """Forgets nothing when a session starts."""

    word = "none"

    def StartSession(self) -> Any:
        return True


class Shared(Attentive):
    """Keeps the word on the class, where all sessions meet."""

    kept = "none"

    def GetResponse(self, text: str) -> Any:
        type(self).kept = word_in(text) or self.kept
        return {"success": True, "response": f"It is {self.kept}; you wrote {len(text)} letters."}


class Alone(Attentive):
    """Gives every session one and the same instance."""

    only: Any = None

    def __new__(cls) -> Any:
        cls.only = cls.only or super().__new__(cls)
        return cls.only


async def examined(kind: type, *, timeout_s: float = 5.0) -> Examination:
    connection = AriaClass(target="team:Api", timeout_s=timeout_s)
    return await examine("blue", local_aria("blue", connection, kind, credentials=Credentials(), clock=HastyClock()))


def faults(found: Examination) -> list[str]:
    return [remark.message for remark in found.remarks if remark.severity is Severity.ERROR]


def notes(found: Examination) -> list[str]:
    return [remark.message for remark in found.remarks if remark.severity is Severity.NOTE]


async def test_a_conforming_application_has_no_remarks() -> None:
    found = await examined(Attentive)

    assert (found.remarks, found.unexamined, found.calls, found.version) == ([], "", 9, "2.1")
    assert exit_code_of([found]) == 0


def answering(text: str) -> type:
    return made(GetResponse=returning({"success": True, "response": text}))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            made(OpenConnection=returning((False, "no key"))),
            "answered with an error: `OpenConnection` returned False: no",
        ),
        (
            made(GetResponse=returning({"response": "x"})),
            "answered in an unknown form: `GetResponse` returned no `succ",
        ),
        (made(GetResponse=returning({"success": True, "response": 7})), "`response` is an int; expected text"),
        (made(GetResponse=returning({"success": False, "response": "busy"})), "it says that it failed: busy"),
        (
            made(GetResponse=raising(KeyError("session"))),
            "a greeting and 1 more call: answered with an error: `GetResponse` raised KeyError",
        ),
        (answering(""), "a greeting and 1 more call: gave an empty reply"),
        (answering("<p>Hello <b>you</b></p>"), "replies with HTML such as `<p>`; expected text or Markdown"),
        (answering("1 <p 2\n" * 9 + "<br>"), "replies with HTML such as `<br>`"),
        (answering("Salt &amp; pepper"), "replies with HTML such as `&amp;`"),
        (Alone, "answered with an error: `Alone()` gave two open sessions one and the same"),
        (Sticky, "state survives `StartSession`"),
        (Shared, "knows in one session what was said in another one"),
    ],
)
async def test_deviations_of_real_classes_are_errors(kind: type, words: str) -> None:
    found = await examined(kind)

    assert [fault for fault in faults(found) if words in fault]
    assert exit_code_of([found]) == 2


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (made(OpenConnection=returning((True, "welcome"))), "`OpenConnection` returned a tuple"),
        (made(OpenConnection=returning("key")), "`OpenConnection` returned a text, taken as True"),
        (made(CloseConnection=returning(None)), "`CloseConnection` returned None"),
        (made(GetVersion=lambda: "1"), "`GetVersion` takes no `self`"),
    ],
)
async def test_clear_deviations_are_notes(kind: type, words: str) -> None:
    found = await examined(kind)

    assert [note for note in notes(found) if words in note]
    assert (faults(found), exit_code_of([found])) == ([], 0)


async def test_a_hanging_class_delays_the_check_once() -> None:
    found = await examined(made(GetResponse=hanging()), timeout_s=0.1)

    assert faults(found) == ["hangs: no answer within 0.1 s from `GetResponse`; nothing further was tried"]
    assert found.calls == 1


async def test_code_blocks_may_contain_tags() -> None:
    assert faults(await examined(answering("Write `<p>` or\n```html\n<b>x</b>\n```\nand 1 < 2 > 0."))) == []


async def test_text_leaking_between_sessions_is_an_error() -> None:
    heard: list[str] = []

    def answer(request: SayToApplication) -> str:
        heard.append(word_in(request.prompt))
        return f"It is {heard[0] if len(heard) < 5 else heard[4]}; {request.prompt[:9]}"

    found = await examine("app", FakeApplication(answer))

    assert [fault for fault in faults(found) if "two sessions at once" in fault]


@pytest.mark.parametrize(
    ("error", "words"),
    [(EmptyReply("no text"), "gave an empty reply: no text"), (ServerFault("500"), "answered with an error: 500")],
)
async def test_each_kind_of_failure_is_named(error: GatewayError, words: str) -> None:
    found = await examine("app", FakeApplication(lambda _: error))

    assert faults(found) == [f"a greeting and 1 more call: {words}; nothing further was tried"]
    assert found.calls == 2


async def test_failures_with_different_messages_are_reported_once_if_nothing_succeeds() -> None:
    found = await examine("app", FakeApplication(lambda request: ServerFault(f"no {request.prompt[:5]}")))

    assert faults(found) == ["a greeting and 1 more call: answered with an error: no Hello; nothing further was tried"]


async def test_failures_at_some_prompts_are_reported_separately() -> None:
    def answer(request: SayToApplication) -> Any:
        return ServerFault("too long") if len(request.prompt) > 999 else request.prompt

    assert faults(await examine("app", FakeApplication(answer)))[0].endswith(
        " letters: answered with an error: too long"
    )


async def test_a_reply_withheld_by_a_filter_is_not_an_error() -> None:
    found = await examine("app", FakeApplication(lambda _: ContentRefused("filtered")))

    assert faults(found) == []
    assert notes(found)[0] == "a greeting and 7 more calls: withheld the reply by its own filter: filtered"


@pytest.mark.parametrize("error", [RateLimited("429"), Rejected("no key", status=401), Rejected("unset", tries=0)])
async def test_an_unavailable_application_is_not_examined(error: GatewayError) -> None:
    found = await examine("app", FakeApplication(lambda _: error))

    assert (found.unexamined, faults(found)) == (str(error), [])
    assert exit_code_of([found]) == 3


async def test_an_unreachable_address_is_not_called() -> None:
    application = FakeApplication(alive=False)

    found = await examine("app", application)

    assert (found.calls, application.asked, application.closed) == (0, [], 1)
    assert found.unexamined.startswith("nobody answers")


async def test_identical_replies_to_every_prompt_give_a_note() -> None:
    assert "said the same words to every prompt" in notes(await examine("app", FakeApplication(lambda _: "Hm.")))[-1]


async def test_a_slow_application_gives_a_note() -> None:
    found = await examine("app", Slow())

    assert notes(found)[-1].startswith("took 12 s for its slowest reply")


class Slow(FakeApplication):
    """Takes its time, as far as it says."""

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: Any = None) -> Any:
        return replace(await super().reply(request, session=session), latency_s=12.0)
