"""Classes of teams at a live event, in real processes: idle sessions end, and HTML replies keep their original."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.http import HttpResponse
from django.test import Client

from tests.integration.web.editing import change, published
from theodolite.domain.dialogue import Level
from theodolite.domain.event import Role
from theodolite.domain.live import LiveTurn
from theodolite.domain.session import Session
from theodolite.events.chat import ReplyManager, send_prompt
from theodolite.events.sessions import prepare_session, start_session
from theodolite.gateways.applications.connections import IDLE_S
from theodolite.web.events import event_of, open_event_of
from theodolite.web.models import HostedStudy, Membership
from theodolite.web.session_end import reply_manager

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

CLASS = """import os


class Team:
    only = None

    def __new__(cls):
        cls.only = cls.only or super().__new__(cls)
        return cls.only

    def OpenConnection(self, auth=None):
        return True

    def CloseConnection(self):
        with open("closed.log", "a") as log:
            print(os.getpid(), file=log)
        return True

    def StartSession(self):
        self.prompts = []
        return True

    def GetResponse(self, text):
        self.prompts.append(text)
        return {"success": True, "response": REPLY}
"""
BY_PROCESS = CLASS.replace("REPLY", 'f"{os.getpid()} {self.prompts}"')
IN_HTML = CLASS.replace("REPLY", '"<p>It ends <b>well</b>.</p><script>alert(1)</script>"')


class SteppedLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock the test advances."""

    ahead_s = 0.0

    def time(self) -> float:
        return super().time() + self.ahead_s


@pytest.fixture
def fresh_manager() -> Iterator[ReplyManager]:
    reply_manager.cache_clear()
    yield reply_manager()
    reply_manager.cache_clear()


class RedTeamer:
    """A red teamer in one session of an event, whose prompts go to the reply manager as those of the page do."""

    def __init__(self, hosted: HostedStudy, manager: ReplyManager) -> None:
        self._hosted, self._manager = hosted, manager
        context = event_of(hosted)
        person = Membership.objects.get(hosted=hosted, role=Role.RED_TEAMER.value).participant
        self.session: Session = start_session(context, prepare_session(context, person, Level.RED_TEAMING, 0).key)

    async def say(self, prompt: str) -> LiveTurn:
        """Return the turn with the reply."""
        context = await sync_to_async(event_of)(self._hosted, self.session.study_version)
        turn, request = await sync_to_async(send_prompt)(context, self.session.key, prompt)
        opened = await sync_to_async(open_event_of)(self._hosted, self.session.study_version)
        (dialogue,) = await sync_to_async(context.dialogues.of_session)(self.session.key)
        await self._manager.ask(opened, context, self.session, dialogue, turn, request)
        await self._manager.over(turn.key)
        return (await sync_to_async(context.dialogues.of_session)(self.session.key))[0].turns[-1]


def hosting(own: HostedStudy, code: str, keys: str) -> Path:
    folder = Path(own.folder)
    (folder / "team").mkdir()
    (folder / "team" / "dialog.py").write_text(code)
    for name in ("careful", "leaky"):
        change(own, f'kind: python, call: "tellers.py:{name}"', f'kind: aria, class: "team/dialog.py:Team", {keys}')
    published(own)
    return folder / "team"


def run(work: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=SteppedLoop) as runner:
        return runner.run(work)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def consented(tester: Client, address: str) -> HttpResponse:
    """Return the page of the first session, after all that a tester reads and accepts before it."""
    for _ in range(4):
        page = tester.get(address, follow=True)
        fields = re.findall(r'type="(?:checkbox|hidden)" name="(?!csrf)(\w+)" value="(\w+)"', page.content.decode())
        tester.post(page.request["PATH_INFO"], {**dict(fields), "skip": "yes"})
    return tester.get(f"{address}1/")


async def pass_time(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SteppedLoop)
    loop.ahead_s += seconds
    await asyncio.sleep(0)


def test_an_absent_tester_occupies_no_process_and_resumes_with_a_new_one(own, fresh_manager) -> None:
    folder = hosting(own, BY_PROCESS, "isolation: session")
    tester = RedTeamer(own, fresh_manager)

    async def talk() -> list[str]:
        async with fresh_manager.open():
            replies = [(await tester.say("one")).response]
            await pass_time(IDLE_S - 60)
            replies.append((await tester.say("two")).response)
            await pass_time(IDLE_S - 60)
            was_alive = is_alive(int(replies[0].split()[0]))
            await pass_time(61)
            while is_alive(int(replies[0].split()[0])):  # noqa: ASYNC110 - another process ends, which raises no event
                await asyncio.sleep(0.01)
            assert was_alive
            assert (folder / "closed.log").read_text().split() == [replies[0].split()[0]]
            replies.append((await tester.say("three")).response)
            return replies

    first, second, third = (reply.partition(" ") for reply in run(talk()))

    assert first[0] == second[0] != third[0]
    assert [first[2], second[2], third[2]] == ["['one']", "['one', 'two']", "['one', 'two', 'three']"]


def test_the_original_of_an_html_reply_is_stored_and_shown_on_no_page(own, fresh_manager, client_as) -> None:
    hosting(own, IN_HTML, "markup: html, isolation: session")
    tester = RedTeamer(own, fresh_manager)

    async def talk() -> LiveTurn:
        async with fresh_manager.open():
            return await tester.say("How does it end?")

    turn = run(talk())

    assert turn.response == "It ends well."
    assert turn.original == "<p>It ends <b>well</b>.</p><script>alert(1)</script>"
    tester_pages = f"/s/{own.token}/test/"
    seen = client_as(Role.RED_TEAMER)
    pages = [consented(seen, tester_pages), *(seen.get(tester_pages + path) for path in ("my-data/", "my-data/file/"))]
    shown = [page.content.decode() for page in pages]
    assert ["It ends well." in page for page in shown] == [True, True, True]
    assert all("alert(1)" not in page for page in shown)
