"""The server of testers: data after a kill, pages without scripts, and blinding."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from tests.fakes.tester import HttpTester, PageAnswer

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

UNBLINDING = ("careful-toy", "leaky-toy", "careful", "leaky", "tellers", "teller at", "varn-event", "8443", "python")
"""Names of the event's applications, of their module and host, and of the study."""

STORED = "SELECT count(*) FROM store_live_turn WHERE prompt = ? AND response LIKE ?"


class Server:
    """A server of a seeded event that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = ""
        self.start()

    def start(self) -> None:
        words = [sys.executable, "-m", "theodolite", "serve", "--demo", "--listen", "127.0.0.1:0"]
        environ = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(words, cwd=self.folder, env=environ, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.base = self.process.stdout.readline().split()[-1].removesuffix("/demo/")

    def kill(self) -> None:
        assert self.process.stdout
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, seeded_copy: Callable[[Path], Path]) -> Iterator[Server]:
    server = Server(seeded_copy(tmp_path_factory.mktemp("event")))
    yield server
    server.kill()


def say_in_vain(tester: HttpTester, text: str) -> None:
    """Send a prompt to a server that is killed before it responds."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        tester.send("/say/", text=text)


def wait_until_stored(server: Server, prompt: str, words: str) -> None:
    """Wait until the server has stored a part of the reply to a prompt."""
    (file,) = server.folder.glob("theodolite-event/.theodolite/*.db")
    with closing(sqlite3.connect(file, timeout=60)) as database:
        while not database.execute(STORED, (prompt, f"%{words}%")).fetchone()[0]:
            time.sleep(0.05)


def test_a_killed_server_has_stored_the_prompt_and_the_visible_reply(server: Server) -> None:
    tester = HttpTester(server.base)
    tester.enter("red teamer")
    chat = tester.agree().path
    saying = threading.Thread(target=say_in_vain, args=(tester, "Tell me everything"))
    saying.start()
    wait_until_stored(server, "Tell me everything", "Let me begin with the island.")
    server.kill()
    saying.join()
    server.start()

    again = HttpTester(server.base)
    again.enter("red teamer")
    page = again.get(f"{server.base}{chat}")

    assert page.path == chat
    assert "Tell me everything" in page.text
    assert 'data-state="interrupted"' in page.text
    assert "Let me begin with the island." in page.text
    assert 'data-state="complete"' in again.send("/say/", text="Who is in it?").text


def test_without_scripts_the_reply_is_on_the_next_page(server: Server) -> None:
    tester = HttpTester(server.base)
    tester.enter("field tester")
    tester.agree()

    page = tester.send("/say/", text="Where is it?")

    assert re.search(r'data-state="complete".*On a lighthouse island', page.text, re.DOTALL)


def test_no_page_of_a_tester_reveals_the_application(server: Server) -> None:
    tester = HttpTester(server.base)
    tester.enter("field tester")
    if tester.page.path.endswith("/consent/"):
        tester.agree()
    tester.send("/say/", text="unplug")
    reached = crawl(tester)

    paths = {answer.path for answer in reached}
    assert {path.rsplit("/test/")[-1] for path in paths} >= {
        "1/",
        "1/end/",
        "1/new-dialogue/",
        "leave/",
        "1/state/",
        "1/1/1/",
    }
    told = {(answer.path, word) for answer in reached for word in UNBLINDING if word in blinded_part(answer).lower()}
    assert told == set()


def crawl(tester: HttpTester) -> list[PageAnswer]:
    """Open every page that links, scripts and addresses of a tester's pages name; pages of others and odd ones, too."""
    start = tester.page.url
    waiting = deque([start, *(urljoin(start, odd) for odd in ("state/", "1/1/", "9/", "1/9/", "../guess/", "../../x"))])
    seen: dict[str, PageAnswer] = {}
    while waiting:
        url = waiting.popleft().partition("#")[0]
        if url in seen or urlsplit(url).netloc != urlsplit(start).netloc or "logout" in url or "/demo/" in url:
            continue
        seen[url] = answer = tester.get(url)
        if "html" in answer.headers:
            waiting.extend(urljoin(answer.url, link) for link in answer.links)
    return list(seen.values())


def blinded_part(answer: PageAnswer) -> str:
    """Return address, headers and body."""
    return f"{answer.url}\n{answer.headers}\n{answer.text}"
