"""A class written for ARIA's dialogue interface is an application like any other."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.aria import Faithful, hanging, made, raising, returning
from tests.fakes.gateway_clock import HastyClock
from tests.fakes.local_worker import local_aria
from theodolite.aria import AriaDialogAPI
from theodolite.domain.application import AriaClass, Markup, Runtime
from theodolite.domain.errors import EmptyReply, InputError, MalformedReply, Rejected, ServerFault, TimedOut
from theodolite.domain.flow import Exchange, Reply, SayToApplication
from theodolite.gateways.applications.aria_application import AriaApplication
from theodolite.gateways.secret_redaction import Credentials

SECRET = "hunter2-and-more"
AUTH = Credentials(f'{{"key": "{SECRET}", "SCENARIO": "tv"}}', variable="TEAM_AUTH")
NO_AUTH = Credentials()
SESSIONS_1 = AriaClass(target="t:A", runtime=Runtime(sessions=1))


def application(
    kind: type, *, credentials: Credentials = NO_AUTH, timeout_s: float = 5.0, prompt: str = "", init: str = "{}"
) -> AriaApplication:
    connection = AriaClass(target="team:Api", timeout_s=timeout_s, prompt=prompt, init=init)
    return local_aria("blue", connection, kind, credentials=credentials, clock=HastyClock())


def say(prompt: str, *earlier: str) -> SayToApplication:
    history = tuple(Exchange(prompt=each, response="...") for each in earlier)
    return SayToApplication(application="blue", prompt=prompt, turn=len(earlier) + 1, history=history)


async def reply_of(kind: type, **more: Any) -> Reply:
    line = application(kind, **more)
    try:
        return await line.reply(say("hi"), session="s")
    finally:
        await line.close()


async def test_a_session_uses_one_instance_on_one_thread() -> None:
    kind = made()
    line = application(kind)

    replies = [await line.reply(say("a"), session="s"), await line.reply(say("b", "a"), session="s")]
    await line.end("s")

    (only,) = kind.instances
    assert [reply.text for reply in replies] == ["1: a", "2: b"]
    assert [name for name, _ in only.calls] == ["made", "OpenConnection", "CloseConnection"]
    assert only.calls[0][1] == only.calls[-1][1]


async def test_concurrent_sessions_have_separate_instances() -> None:
    kind = made()
    line = application(kind)

    replies = await asyncio.gather(*(line.reply(say(name), session=name) for name in "abc"))
    await line.close()

    assert [reply.text for reply in replies] == ["1: a", "1: b", "1: c"]
    assert len(kind.instances) == 3


async def test_a_resumed_session_is_replayed_to_a_fresh_instance_and_counted_separately() -> None:
    kind = made()
    line = application(kind)

    reply = await line.reply(say("c", "a", "b"), session="s")
    await line.close()

    assert (reply.text, reply.attempts) == ("3: c", 3)
    assert kind.instances[0].said == ["a", "b", "c"]


async def test_source_material_reaches_a_class_whose_prompts_have_a_slot() -> None:
    kind = made()
    line = application(kind, prompt="{% if turn == 1 %}{{ context }}\n\n{% endif %}{{ prompt }}")

    for request in (say("a"), say("b", "a")):
        await line.reply(replace(request, context="The ferry leaves at nine."), session="s")
    await line.close()

    assert kind.instances[0].said == ["The ferry leaves at nine.\n\na", "b"]


async def test_a_session_reset_to_an_empty_chat_receives_its_material_again() -> None:
    kind = made()
    line = application(kind, prompt="{% if turn == 1 %}{{ context }}: {% endif %}{{ prompt }}")

    for request in (say("a"), replace(say("b"), turn=2), replace(say("c", "b"), turn=3)):
        await line.reply(replace(request, context="C"), session="s")
    await line.close()

    assert [instance.said for instance in kind.instances] == [["C: a"], ["C: b", "c"]]


async def test_a_resumed_session_receives_its_material_again() -> None:
    kind = made()
    line = application(kind, prompt="{{ turn }} {{ context }}: {{ prompt }}")

    await line.reply(replace(say("b", "a"), context="C"), session="s")
    await line.close()

    assert kind.instances[0].said == ["1 C: a", "2 C: b"]


async def test_retrieved_passages_are_replayed_with_their_prompt() -> None:
    kind = made()
    line = application(kind, prompt="{{ context }}: {{ prompt }}")
    earlier = Exchange(prompt="a", response="...", context="found for a")

    await line.reply(replace(say("b"), turn=2, history=(earlier,), context="found for b"), session="s")
    await line.close()

    assert kind.instances[0].said == ["found for a: a", "found for b: b"]


def test_an_unfilled_slot_is_refused_before_any_call() -> None:
    with pytest.raises(InputError, match="names `history`, which nothing fills"):
        application(made(), prompt="{{ history }}")


async def test_credentials_are_passed_once_and_only_as_a_copy() -> None:
    kind = made()
    await reply_of(kind, credentials=AUTH)

    given = kind.instances[0].calls[1][1]
    given["key"] = "changed"
    assert AUTH.auth == {"key": SECRET, "SCENARIO": "tv"}


async def test_without_credentials_an_empty_object_is_passed_as_in_the_harness_of_nist() -> None:
    kind = made()
    await reply_of(kind)

    assert kind.instances[0].calls[1] == ("OpenConnection", {})


async def test_missing_credentials_are_reported_before_any_call() -> None:
    kind = made()
    line = application(kind, credentials=Credentials(variable="TEAM_AUTH"))

    with pytest.raises(Rejected, match="`TEAM_AUTH` is not set") as caught:
        await line.reply(say("hi"), session="s")

    assert caught.value.tries == 0
    assert kind.instances == []
    assert not (await line.check_endpoint()).alive


@pytest.mark.parametrize(
    ("methods", "remark"),
    [
        ({"OpenConnection": returning((True, "welcome"))}, "`OpenConnection` returned a tuple that begins with True"),
        ({"StartSession": returning([True])}, "`StartSession` returned a list"),
        ({"StartSession": returning("yes")}, "`StartSession` returned a text, taken as True"),
        ({"OpenConnection": returning(f"key {SECRET}")}, "`OpenConnection` returned a text, taken as True"),
        ({"OpenConnection": returning(object())}, "`OpenConnection` returned an object, taken as True"),
        ({"CloseConnection": returning(None)}, "`CloseConnection` returned None"),
        (
            {"CloseConnection": raising(OSError("gone"))},
            "closing the connection failed: `CloseConnection` raised OSError: gone",
        ),
        ({"GetVersion": returning(0.1)}, "`GetVersion` returned a float"),
        ({"GetVersion": raising(RuntimeError())}, "`GetVersion` raised RuntimeError"),
        ({"GetResponse": returning({"success": (True, 200), "response": "x"})}, "`success` of `GetResponse` returned"),
    ],
)
async def test_clear_deviations_are_tolerated_and_noted(methods: dict[str, Any], remark: str) -> None:
    line = application(made(**methods))

    await line.reply(say("hi"), session="s")
    await line.close()

    assert [remark in said for said in line.remarks] == [True]


@pytest.mark.parametrize(
    ("method", "version"),
    [(lambda self: "1.0", "1.0"), (staticmethod(lambda: "1.1"), "1.1"), (lambda: "1.2", "1.2"), (None, "")],
    ids=["instance", "static", "neither", "missing"],
)
async def test_a_version_is_accepted_in_every_common_form(method: Any, version: str) -> None:
    assert (await reply_of(made(GetVersion=method))).answered_as == version


@pytest.mark.parametrize(
    ("methods", "kind", "words"),
    [
        ({"OpenConnection": returning(False)}, ServerFault, "`OpenConnection` returned False"),
        ({"OpenConnection": returning((False, f"bad {SECRET}"))}, ServerFault, r"returned False: bad \*\*\*$"),
        ({"OpenConnection": returning(None)}, MalformedReply, "returned None; expected True or False"),
        (
            {"OpenConnection": raising(ValueError(f"no {SECRET}"))},
            ServerFault,
            r"`OpenConnection` raised ValueError: no \*\*\* \(aria\.py, line \d+\)$",
        ),
        ({"StartSession": returning("")}, MalformedReply, "`StartSession` returned an empty text; expected True"),
        ({"GetResponse": returning("words")}, MalformedReply, "`GetResponse` returned a text; expected"),
        ({"GetResponse": returning({"response": "x"})}, MalformedReply, "returned no `success`; there is response"),
        ({"GetResponse": returning({})}, MalformedReply, "returned no `success`, `response`; there is nothing"),
        ({"GetResponse": returning({"success": 0, "response": "x"})}, MalformedReply, "expected True or False"),
        ({"GetResponse": returning({"success": False, "response": "busy"})}, ServerFault, "it failed: busy"),
        ({"GetResponse": returning({"success": True, "response": 7})}, MalformedReply, "an int; expected text"),
        ({"GetResponse": returning({"success": True, "response": " "})}, EmptyReply, "holds no text"),
        ({"GetResponse": raising(SystemExit(2))}, ServerFault, "SystemExit: 2"),
        ({"GetResponse": hanging()}, TimedOut, "no answer within 0.2 s from `GetResponse`"),
    ],
)
async def test_error_timeout_and_empty_reply_are_distinguished(
    methods: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words) as caught:
        await reply_of(made(**methods), credentials=AUTH, timeout_s=0.2)

    assert SECRET not in str(caught.value)


async def test_credentials_are_masked_in_replies_and_other_text_is_unchanged() -> None:
    kind = made(GetResponse=returning({"success": True, "response": f"On tv my key is {SECRET}."}))

    assert (await reply_of(kind, credentials=AUTH)).text == "On tv my key is ***."


async def test_html_becomes_text_and_the_original_is_stored() -> None:
    html = "<p>Salt &amp; <b>pepper</b></p>"
    kind = made(GetResponse=returning({"success": True, "response": html}))
    connection = AriaClass(target="team:Api", markup=Markup.HTML)
    line = local_aria("blue", connection, kind, credentials=NO_AUTH, clock=HastyClock())

    reply = await line.reply(say("hi"), session="s")
    await line.close()

    assert (reply.text, reply.original) == ("Salt & pepper", html)


async def test_tags_without_text_are_an_empty_reply() -> None:
    kind = made(GetResponse=returning({"success": True, "response": "<p></p><br>"}))
    connection = AriaClass(target="team:Api", markup=Markup.HTML)
    line = local_aria("blue", connection, kind, credentials=NO_AUTH, clock=HastyClock())

    with pytest.raises(EmptyReply, match="tags and no text"):
        await line.reply(say("hi"), session="s")
    await line.close()


async def test_a_coroutine_is_not_a_response() -> None:
    async def later(self: Any, text: str) -> Any:
        return {"success": True, "response": text}

    with pytest.raises(MalformedReply, match="returned a coroutine"):
        await reply_of(made(GetResponse=later))


class Half(AriaDialogAPI):
    """Derives from the base class and forgets two methods."""

    def OpenConnection(self, auth: Any = None) -> bool:
        return True

    def CloseConnection(self) -> bool:
        return True


@pytest.mark.parametrize(
    "kind", [Half, type("Plain", (), {n: Faithful.__dict__[n] for n in ("OpenConnection", "CloseConnection")})]
)
def test_a_class_is_refused_with_all_missing_methods(kind: type) -> None:
    with pytest.raises(InputError, match="does not define `StartSession`, `GetResponse`"):
        application(kind)


@pytest.mark.parametrize("text", ["[1]", "secret-words", '"secret-words"', "{"])
def test_malformed_credentials_are_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(InputError, match="`TEAM_AUTH` must hold a JSON object") as caught:
        Credentials(text, variable="TEAM_AUTH")

    assert "secret" not in str(caught.value)
    assert SECRET not in repr(AUTH)


async def test_a_restart_keeps_the_instance_and_starts_a_new_dialogue() -> None:
    kind = made()
    line = application(kind)
    await line.reply(say("a"), session="s")

    await line.restart("s")
    reply = await line.reply(say("b"), session="s")
    await line.close()

    assert (reply.text, len(kind.instances)) == ("1: b", 1)


def single() -> type:
    """Return a class that gives every session one and the same instance."""
    only: list[Any] = []

    class Single(Faithful):
        def __new__(cls) -> Any:
            only[:] = only or [super().__new__(cls)]
            return only[0]

    return Single


async def test_concurrent_sessions_on_one_instance_all_fail() -> None:
    line = application(single())
    await line.reply(say("a"), session="s-1")

    for request, session in ((say("b"), "s-2"), (say("c", "a"), "s-1")):
        with pytest.raises(ServerFault, match=r"one and the same instance; .*Set `isolation: session`"):
            await line.reply(request, session=session)
    await line.restart("s-2")
    await line.close()


async def test_an_instance_may_be_reused_after_its_session() -> None:
    line = application(single())
    replies = []
    for session in ("s-1", "s-2"):
        replies.append((await line.reply(say("a"), session=session)).text)
        await line.end(session)

    assert replies == ["1: a", "1: a"]


@pytest.mark.parametrize("method", [returning(False), lambda _, auth=None: auth["key"]], ids=["False", "raises"])
async def test_a_failed_connection_names_the_missing_credentials(method: Any) -> None:
    with pytest.raises(ServerFault, match="given no credentials, since the environment variable `ARIA_AUTH_JSON`"):
        await reply_of(made(OpenConnection=method))


def test_a_class_with_required_arguments_is_refused_before_any_call() -> None:
    class Wanting(Faithful):
        def __init__(self, token: str, *more: str, model: str = "m") -> None:
            super().__init__()

    fix = r"cannot be made without `token`; .* in the study: `init: {token: \"{{ auth.token }}\"}`"
    with pytest.raises(InputError, match=fix):
        application(Wanting)
    with pytest.raises(InputError, match=r"takes no `tokn`, which `init` gives. Did you mean `token`\?"):
        application(Wanting, init='{"token": "t", "tokn": "t"}')


async def test_a_constructor_receives_the_credentials_named_by_the_study() -> None:
    class Wanting(Faithful):
        given: tuple[Any, ...] = ()

        def __init__(self, token: str, model: str = "m", **more: Any) -> None:
            super().__init__()
            type(self).given = (token, model, more)

    init = '{"token": "{{ auth.key }}", "model": "for {{ auth.SCENARIO }}", "all": "{{ auth }}", "n": 3}'
    await reply_of(Wanting, credentials=AUTH, init=init)

    assert Wanting.given == (SECRET, "for tv", {"all": {"key": SECRET, "SCENARIO": "tv"}, "n": 3})


def test_a_missing_credential_is_reported_with_the_available_ones() -> None:
    with pytest.raises(InputError, match=r"names the credential `auth.token`, .* are: `key`, `SCENARIO`"):
        application(made(), credentials=AUTH, init='{"token": "{{ auth.token }}"}')


def one_instance() -> type:
    """Return a class that gives all its callers one and the same instance, as singletons do."""
    kind = made()
    shared: list[Any] = []

    def make(cls: type) -> Any:
        shared[:] = shared or [object.__new__(cls)]
        return shared[0]

    kind.__new__ = make  # type: ignore[method-assign, assignment]
    return kind


@pytest.mark.parametrize("connection", [AriaClass(target="t:A", parallel=1), SESSIONS_1], ids=["parallel", "sessions"])
async def test_testers_of_a_singleton_take_turns_and_dialogues_do_not_mix(connection: AriaClass) -> None:
    line = local_aria("blue", connection, one_instance(), clock=HastyClock())

    replies = [
        await line.reply(say("a1"), session="a"),
        await line.reply(say("b1"), session="b"),
        await line.reply(say("a2", "a1"), session="a"),
        await line.reply(say("b2", "b1"), session="b"),
    ]
    await line.close()

    assert [reply.text for reply in replies] == ["1: a1", "1: b1", "2: a2", "2: b2"]
    assert [reply.attempts for reply in replies] == [1, 1, 2, 2]


async def test_sessions_of_a_run_on_a_singleton_are_sequential() -> None:
    line = local_aria("blue", SESSIONS_1, one_instance(), clock=HastyClock())

    async def hold(name: str) -> list[Reply]:
        await line.begin(name)
        replies = [await line.reply(say("x"), session=name), await line.reply(say("y", "x"), session=name)]
        await line.end(name)
        return replies

    held = await asyncio.gather(*(hold(name) for name in "abc"))
    await line.close()

    assert [[reply.attempts for reply in replies] for replies in held] == [[1, 1]] * 3
