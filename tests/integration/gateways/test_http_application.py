"""An application behind HTTP with all kinds of errors."""

import json

import pytest

from tests.fakes.gateway_clock import HastyClock
from tests.fakes.loopback import Loopback
from tests.fakes.misbehaviour import RAW_FAULTS
from theodolite.domain.application import BodyFormat, HttpEndpoint
from theodolite.domain.errors import GatewayError, MalformedReply, Rejected, ServerFault, TimedOut, Unreachable
from theodolite.domain.flow import SayToApplication
from theodolite.gateways.applications.http_application import HttpApplication

pytestmark = pytest.mark.integration

BODY = '{"q": "{{ prompt }}", "sid": "{{ session }}"}'
SAY = SayToApplication(application="app", prompt='a "quoted"\nword', turn=1)


async def said(url: str, *, key: str = "", say: SayToApplication = SAY, **more: object) -> str:
    """Send a prompt to an application and return its reply."""
    connection = HttpEndpoint(url=url, **({"body": BODY} | more))  # type: ignore[arg-type]
    application = HttpApplication("app", connection, key=key, clock=HastyClock())
    try:
        return (await application.reply(say, session="s-1")).text
    finally:
        await application.close()


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("$.text", 'You said: a "quoted"\nword'),
        ("$.data[0].reply", 'You said: a "quoted"\nword'),
    ],
)
async def test_the_reply_is_read_at_the_path_of_the_study(reply: str, text: str) -> None:
    with Loopback() as server:
        assert await said(f"{server.root}/app", reply=reply) == text


async def test_the_whole_body_can_be_the_reply() -> None:
    with Loopback() as server:
        text = await said(f"{server.root}/app", reply="text")

    assert json.loads(text)["text"] == 'You said: a "quoted"\nword'


async def test_characters_that_cannot_be_stored_are_replaced_and_counted() -> None:
    with Loopback() as server:
        connection = HttpEndpoint(url=f"{server.root}/app", body=BODY)
        application = HttpApplication("app", connection, clock=HastyClock())
        reply = await application.reply(SayToApplication(application="app", prompt="a\x00b", turn=1), session="s")
        await application.close()

    assert (reply.text, reply.repaired) == ("You said: a\ufffdb", 1)


async def test_prompt_session_token_and_headers_are_sent() -> None:
    with Loopback(key="tok-1") as server:
        await said(f"{server.root}/app", key="tok-1", headers={"X-Turn": "{{ turn }}\n{{ session }}"})

    call = server.calls[0]
    assert call.body == {"q": 'a "quoted"\nword', "sid": "s-1"}
    assert (call.headers["X-Turn"], call.headers["Content-Type"]) == ("1 s-1", "application/json")


async def test_a_site_with_forms_receives_the_same_prompt() -> None:
    with Loopback() as server:
        text = await said(f"{server.root}/app", body_as=BodyFormat.FORM)

    call = server.calls[0]
    assert (text, call.body) == (f"You said: {SAY.prompt}", {"q": SAY.prompt, "sid": "s-1"})
    assert call.headers["Content-Type"] == "application/x-www-form-urlencoded"


async def test_a_token_can_be_the_whole_value_of_a_header() -> None:
    with Loopback() as server:
        await said(f"{server.root}/app", key="tok-1", key_header="X-Api-Key")

    headers = server.calls[0].headers
    assert (headers["X-Api-Key"], headers.get("Authorization")) == ("tok-1", None)


async def test_a_token_in_a_reply_is_redacted() -> None:
    say = SayToApplication(application="app", prompt="It is tok-12345, is it not?", turn=1)
    with Loopback(key="tok-12345") as server:
        assert await said(f"{server.root}/app", key="tok-12345", say=say) == "You said: It is ***, is it not?"


async def test_a_request_without_body_has_the_prompt_in_its_address() -> None:
    with Loopback() as server:
        text = await said(f"{server.root}/app?q={{{{ prompt }}}}", method="get", reply="$.data[0].reply")

    assert text == "You said: "
    assert server.calls[0].headers.get("Content-Type") is None


@pytest.mark.parametrize("fault", ["429", "500", "503", "reset"])
async def test_temporary_errors_are_retried(fault: str) -> None:
    with Loopback(faults=(fault,)) as server:
        assert await said(f"{server.root}/app")


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("500", ServerFault),
        ("401", Rejected),
        ("404", Rejected),
        ("redirect", Rejected),
        ("no-choices", MalformedReply),
        ("html", MalformedReply),
        ("huge", MalformedReply),
    ],
)
async def test_failures_have_distinct_kinds(fault: str, kind: type[GatewayError]) -> None:
    with Loopback(every=1, fault=fault) as server, pytest.raises(kind) as caught:
        await said(f"{server.root}/app")

    assert caught.value.endpoint == "app"


@pytest.mark.parametrize("fault", [*RAW_FAULTS, "not-object", "empty"])
async def test_every_server_error_becomes_an_error_of_the_gateway(fault: str) -> None:
    with Loopback(every=1, fault=fault) as server, pytest.raises(GatewayError):
        await said(f"{server.root}/app")


async def test_a_prompt_that_timed_out_is_not_sent_again() -> None:
    with Loopback(every=1, fault="hang") as server, pytest.raises(TimedOut, match=r"no answer within 0\.1 s"):
        await said(f"{server.root}/app", timeout_s=0.1)

    assert len(server.calls) == 1


async def test_a_closed_port_is_unreachable() -> None:
    with Loopback() as server:
        url = f"{server.root}/app"
    with pytest.raises(Unreachable):
        await said(url)


async def test_cookies_are_separate_between_sessions() -> None:
    with Loopback() as server:
        application = HttpApplication("app", HttpEndpoint(url=f"{server.root}/app", body=BODY), clock=HastyClock())
        for session in ("s-1", "s-2"):
            await application.reply(SAY, session=session)
        await application.close()

    assert ["Cookie" in call.headers for call in server.calls] == [False, False]


async def test_an_application_that_must_be_public_is_refused_on_loopback() -> None:
    with Loopback() as server:
        port = server.root.rpartition(":")[2]
        with pytest.raises(Unreachable, match="no public address"):
            await said(f"http://localhost:{port}/app", public_only=True)

    assert server.calls == []
