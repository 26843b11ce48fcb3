"""HTTP applications that stream their replies, and sites that assign session ids."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.fakes.gateway_clock import HastyClock
from theodolite.domain.application import HttpEndpoint
from theodolite.domain.errors import ContentRefused, GatewayError, MalformedReply
from theodolite.domain.flow import Exchange, SayToApplication
from theodolite.gateways.applications.http_application import HttpApplication

pytestmark = pytest.mark.integration

BODY = '{"q": "{{ prompt }}", "sid": "{{ session }}"}'


class Site:
    """Streams the prompt back word by word, counts the prompts of each session, and gives sessions their ids."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.heard: dict[str, list[str]] = {}

    def take(self, body: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(body)
        own_id = body.get("sid") or f"site-{len(self.heard) + 1}"
        heard = self.heard.setdefault(own_id, [])
        heard.append(body["q"])
        if "forbidden" in body["q"]:
            return {"id": own_id, "text": "", "error": {"code": "content_filter", "message": "withheld"}}
        return {"id": own_id, "text": f"{len(heard)}: {body['q']}"}

    async def whole(self, request: web.Request) -> web.Response:
        taken = self.take(await request.json())
        return web.json_response({"text": taken["text"]} if taken["text"].endswith("no id") else taken)

    async def stream(self, request: web.Request) -> web.StreamResponse:
        taken = self.take(await request.json())
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        while taken["text"].endswith("for ever"):
            await response.write(b":\n" * 2**15)
        await response.write(f"data: {json.dumps({'id': taken['id']})}\n\n".encode())
        for word in taken["text"].split(" "):
            await response.write(f"data: {json.dumps({'delta': word + ' '})}\n\n".encode())
            if word == "break" and request.transport is not None:
                request.transport.abort()
        await response.write(b"data: [DONE]\n\n")
        return response


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
async def root(site: Site) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/whole", site.whole)
    app.router.add_post("/stream", site.stream)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


def application(url: str, **more: Any) -> HttpApplication:
    return HttpApplication("app", HttpEndpoint(url=url, body=BODY, **more), clock=HastyClock())


def say(prompt: str, *earlier: str) -> SayToApplication:
    history = tuple(Exchange(prompt=each, response="...") for each in earlier)
    return SayToApplication(application="app", prompt=prompt, turn=len(earlier) + 1, history=history)


async def test_a_streamed_reply_is_complete_and_arrives_in_pieces(root: str) -> None:
    line = application(f"{root}/stream", reply="$.delta", stream=True)
    heard: list[str] = []

    reply = await line.reply(say("good morning"), session="s", on_chunk=heard.append)
    await line.close()

    assert (reply.text, heard) == ("1: good morning ", ["1: ", "good ", "morning "])


async def test_listeners_never_receive_a_key_that_the_application_sends(root: str) -> None:
    endpoint = HttpEndpoint(url=f"{root}/stream", body=BODY, reply="$.delta", stream=True, key="KEY")
    line = HttpApplication("app", endpoint, key="swordfish-9", clock=HastyClock())
    heard: list[str] = []

    reply = await line.reply(say("it is swordfish-9 for swords"), session="s", on_chunk=heard.append)
    await line.close()

    assert "".join(heard) == reply.text == "1: it is *** for swords "


async def test_an_interrupted_stream_is_no_reply_and_is_not_retried(root: str, site: Site) -> None:
    line = application(f"{root}/stream", reply="$.delta", stream=True)

    with pytest.raises(GatewayError, match="broke off"):
        await line.reply(say("now break here"), session="s")
    await line.close()

    assert len(site.asked) == 1


async def test_an_oversized_stream_is_no_reply_and_is_not_retried(root: str, site: Site) -> None:
    line = application(f"{root}/stream", reply="$.delta", stream=True)

    with pytest.raises(MalformedReply, match="more events than any reply has"):
        await line.reply(say("comments for ever"), session="s")
    await line.close()

    assert len(site.asked) == 1


@pytest.mark.parametrize("more", [{"path": "/whole"}, {"path": "/stream", "reply": "$.delta", "stream": True}])
async def test_the_site_s_own_session_id_is_used_from_the_second_turn_on(
    root: str, site: Site, more: dict[str, Any]
) -> None:
    line = application(root + more.pop("path"), session="$.id", **more)

    await line.reply(say("a"), session="s")
    reply = await line.reply(say("b", "a"), session="s")
    await line.close()

    assert reply.text.strip() == "2: b"
    assert [asked["sid"] for asked in site.asked] == ["", "site-1"]


async def test_a_resumed_session_starts_a_new_session_of_the_site_and_repeats_its_prompts(
    root: str, site: Site
) -> None:
    line = application(f"{root}/whole", session="$.id")

    reply = await line.reply(say("c", "a", "b"), session="s")
    await line.end("s")
    await line.close()

    assert (reply.text, reply.attempts) == ("3: c", 3)
    assert site.heard == {"site-1": ["a", "b", "c"]}


async def test_a_session_that_goes_back_starts_a_new_session_of_the_site(root: str, site: Site) -> None:
    line = application(f"{root}/whole", session="$.id")

    for request in (say("a"), say("b", "a"), say("c", "a"), say("d", "a", "c")):
        await line.reply(request, session="s")
    await line.close()

    assert site.heard == {"site-1": ["a", "b"], "site-2": ["a", "c", "d"]}


async def test_a_response_without_session_id_is_malformed(root: str) -> None:
    line = application(f"{root}/whole", session="$.id")

    with pytest.raises(MalformedReply, match="holds no session id where `session` says"):
        await line.reply(say("no id"), session="s")
    await line.close()


async def test_a_reply_is_extracted_by_a_regular_expression(root: str) -> None:
    line = application(f"{root}/whole", reply_pattern=r'"text": "\d+: (.*?)"')

    reply = await line.reply(say("hello"), session="s")
    await line.close()

    assert reply.text == "hello"


async def test_a_withheld_reply_is_not_requested_again(root: str, site: Site) -> None:
    line = application(f"{root}/whole", session="$.id")

    await line.reply(say("hello"), session="s")
    with pytest.raises(ContentRefused):
        await line.reply(say("something forbidden", "hello"), session="s")
    reply = await line.reply(say("and now", "hello", "something forbidden"), session="s")
    await line.close()

    assert (reply.text, reply.attempts, len(site.heard)) == ("3: and now", 1, 1)


async def test_a_reply_withheld_during_a_repetition_does_not_end_the_session(root: str) -> None:
    line = application(f"{root}/whole", session="$.id")

    reply = await line.reply(say("and now", "hello", "something forbidden"), session="s")
    await line.close()

    assert reply.text == "3: and now"
