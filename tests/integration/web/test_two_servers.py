"""Two server processes on one workspace share sign-ins, one-time links and the counts against guessing."""

from __future__ import annotations

import re
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar

import pytest

from tests.integration.web.server import Server
from theodolite.bootstrap.serving import SECOND_SERVER
from theodolite.demo.studies import lay_out_event

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


class Browser:
    """Shares cookies between both servers, like a browser behind a load balancer."""

    def __init__(self) -> None:
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def get(self, server: Server, path: str) -> tuple[int, str, str]:
        """Return status, body and address of a page."""
        return self._opened(urllib.request.Request(f"http://127.0.0.1:{server.port}{path}"))

    def post(self, server: Server, path: str, **fields: str) -> tuple[int, str, str]:
        """Send the form of a page."""
        _, body, _ = self.get(server, path)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', body)
        assert token, body
        content = urllib.parse.urlencode({**fields, "csrfmiddlewaretoken": token[1]}).encode()
        return self._opened(urllib.request.Request(f"http://127.0.0.1:{server.port}{path}", data=content))

    def _opened(self, request: urllib.request.Request) -> tuple[int, str, str]:
        try:
            with self._opener.open(request, timeout=120) as answer:
                return answer.status, answer.read().decode(), answer.geturl()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode(), error.geturl()


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    lay_out_event(folder)
    with Server(folder, ".") as first, Server(folder, ".") as second:
        yield first, second


def test_two_processes_share_sign_ins_and_one_time_links(servers):
    first, second = servers
    link = first.said[first.said.index("/start/") :]
    owner, stranger = Browser(), Browser()

    password = "a long enough pass phrase"
    status, body, _ = owner.post(first, link, name="Olga", email="olga@example.org", password=password)
    assert status == 200, body
    status, _, address = owner.get(second, "/")
    assert (status, "login" in address) == (200, False)
    assert "login" in stranger.get(second, "/")[2]
    assert stranger.get(second, link)[0] == 410


def test_the_second_process_prints_a_warning(servers):
    assert servers[1].next_line() == SECOND_SERVER


def test_guesses_of_codes_at_two_processes_are_counted_together(servers):
    browser = Browser()
    answers = [browser.post(servers[n % 2], "/code/", code=f"palm-river-otter-{n:04}")[0] for n in range(23)]

    assert answers == [422] * 20 + [429] * 3
