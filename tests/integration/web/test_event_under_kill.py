"""The server is killed during fifty concurrent sessions: acknowledged prompts are neither lost nor duplicated."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from theodolite.config.loading import load_study
from theodolite.domain.dialogue import Level
from theodolite.dry_run import bots
from theodolite.dry_run.bots import HttpVisitor, OrganiserBot
from theodolite.dry_run.folder import copy_study, server_environ

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

PEOPLE = 50
ACKNOWLEDGED = 100
"""Prompts that were answered before the server is killed; count."""

TURN = '<article class="turn"'

STUDY = f"""\
study: full-room
pack: aria/tv-spoilers
applications:
  green: {{kind: python, call: "app.py:reply"}}
levels:
  red_teaming: {{people: {PEOPLE}, sessions: 1, minutes: 60}}
"""


class InChat(Exception):
    """The bot has reached its chat."""


class Talker(bots.TesterBot):
    """A bot that stops at the start of the chat."""

    def _chat(self, step: str) -> None:
        raise InChat


class Server:
    """`theodolite serve` over a study, which a test can kill."""

    def __init__(self, study: Path) -> None:
        words = [sys.executable, "-m", "theodolite", "serve", str(study), "--listen", "127.0.0.1:0"]
        environ = server_environ(os.environ)
        self.process = subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.link = self.process.stdout.readline().split()[-1]
        self.base = "http://" + urlsplit(self.link).netloc

    def kill(self) -> None:
        """End it as a power cut does; once is enough."""
        if self.process.returncode is not None:
            return
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("room")
    (folder / "study.yaml").write_text(STUDY)
    (folder / "app.py").write_text("def reply(prompt):\n    return 'Yes.'\n")
    return copy_study(load_study(folder), tmp_path_factory.mktemp("scratch") / "copy").file


@pytest.fixture
def serve(study):
    """Return a function that starts a server over the study; all end with the test."""
    servers = []

    def start():
        servers.append(Server(study))
        return servers[-1]

    yield start
    for server in servers:
        server.kill()


def come_to_chat(visitor, door, seat):
    """Sign in by a link or a code and continue until the chat is open."""
    visitor.get(door)
    if door.startswith("/code/"):
        visitor.send("/code/", code=door.split("/")[2])
    else:
        visitor.send("", name="Somebody")
    visitor.get("/")
    with pytest.raises(InChat):
        Talker(visitor, Level.RED_TEAMING, seat, 1).walk()


def crowd_of(server):
    """Return fifty people with open chats."""
    organiser = OrganiserBot(HttpVisitor(server.base))
    organiser.come_in(server.link)
    organiser.prepare("2020-01-02")
    link, codes = organiser.invite_level(Level.RED_TEAMING, PEOPLE)
    organiser.open_event()
    visitors = [HttpVisitor(server.base) for _ in range(PEOPLE)]
    doors = [link, *(f"/code/{code}/" for code in codes)]
    with ThreadPoolExecutor(PEOPLE) as room:
        list(room.map(come_to_chat, visitors, doors, range(1, PEOPLE + 1)))
    return visitors


class Talks:
    """The acknowledged prompts of fifty people until the server is killed."""

    def __init__(self, visitors):
        self.visitors = visitors
        self.chats = [visitor.page.path for visitor in visitors]
        self.acknowledged = [[] for _ in visitors]
        self.enough = threading.Event()

    def talk(self, seat):
        """Send one prompt after the other."""
        for number in range(1000):
            prompt = f"prompt-{seat}-{number}-end"
            try:
                page = self.visitors[seat].send("/say/", text=prompt)
            except (OSError, http.client.HTTPException):
                return
            assert page.status == 200, page.text
            self.acknowledged[seat].append(prompt)
            if sum(map(len, self.acknowledged)) >= ACKNOWLEDGED:
                self.enough.set()

    def until_killed(self, server):
        """Start all chats at once and kill the server during them."""
        with ThreadPoolExecutor(PEOPLE) as room:
            talks = [room.submit(self.talk, seat) for seat in range(PEOPLE)]
            self.enough.wait(400)
            server.kill()
        for each in talks:
            each.result()

    def come_back(self, server, seat):
        """Return the chat of a person after a restart of the server."""
        visitor = HttpVisitor(server.base)
        for cookie in self.visitors[seat].jar:
            visitor.jar.set_cookie(cookie)
        return visitor.get(self.chats[seat])


def test_acknowledged_prompts_are_neither_lost_nor_duplicated(serve):
    server = serve()
    talks = Talks(crowd_of(server))
    talks.until_killed(server)
    again = serve()

    with ThreadPoolExecutor(8) as room:
        pages = list(room.map(lambda seat: talks.come_back(again, seat), range(PEOPLE)))

    assert sum(map(len, talks.acknowledged)) >= ACKNOWLEDGED
    assert {page.status for page in pages} == {200}
    for page, said in zip(pages, talks.acknowledged, strict=True):
        assert [prompt for prompt in said if prompt not in page.text] == []
        assert len(said) <= page.text.count(TURN) <= len(said) + 1  # the last one may not have been acknowledged
