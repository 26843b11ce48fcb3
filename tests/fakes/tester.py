"""Visitors of tests: over HTTP, through Django's client, and in a real browser; bots walk with each of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from django.test import Client
from playwright.sync_api import Page

from theodolite.bootstrap.page_checks import Form, PageAnswer
from theodolite.domain.dialogue import Level
from theodolite.dry_run.bots import BotProfile, HttpVisitor, TesterBot, Visitor

__all__ = ["BrowserVisitor", "ClientVisitor", "Form", "HttpTester", "PageAnswer", "bot_with"]


class HttpTester(HttpVisitor):
    """A tester without a browser, who comes in by the one-click accounts of the seeded event."""

    def enter(self, role: str) -> PageAnswer:
        """Become somebody of the seeded event."""
        self.get(f"{self.base}/demo/")
        return self.send(f"/demo/as/{role.replace(' ', '-')}/")

    def agree(self) -> PageAnswer:
        """Agree to everything, say nothing of oneself, and begin."""
        boxes = dict(re.findall(r'type="checkbox" name="(\w+)" value="(\w+)"', self.page.text))
        self.send("", **boxes)
        self.send("", skip="yes")
        return self.send("")


class ClientVisitor(Visitor):
    """Opens pages through Django's client, in the process of the test."""

    def __init__(self, client: Client) -> None:
        super().__init__("http://localhost")
        self._client = client

    def request(self, url: str, fields: Mapping[str, str] | None) -> PageAnswer:
        where = urlsplit(url)
        path = f"{where.path}?{where.query}" if where.query else where.path
        sent = self._client.get if fields is None else self._client.post
        answer = sent(path, dict(fields or {}), follow=True)
        at = answer.request["PATH_INFO"]
        return PageAnswer(f"{self.base}{at}", answer.status_code, str(dict(answer.headers)), answer.content.decode())


_SEND = """([url, fields]) => {
  const form = document.createElement("form");
  form.method = "post";
  form.action = url;
  for (const [name, value] of Object.entries(fields)) {
    const field = document.createElement("input");
    [field.type, field.name, field.value] = ["hidden", name, value];
    form.append(field);
  }
  document.body.append(form);
  form.submit();
}"""


class BrowserVisitor(Visitor):
    """Opens pages in a real browser and sends their forms as they are; scripts run, but press no button."""

    def __init__(self, base: str, page: Page) -> None:
        super().__init__(base)
        self._page = page

    def request(self, url: str, fields: Mapping[str, str] | None) -> PageAnswer:
        if fields is None:
            answer = self._page.goto(url)
        else:
            with self._page.expect_navigation() as navigation:
                self._page.evaluate(_SEND, [url, dict(fields)])
            answer = navigation.value
        assert answer is not None
        return PageAnswer(self._page.url, answer.status, str(answer.headers), answer.text())


def bot_with(
    visitor: Visitor, event: str, level: Level, profile: BotProfile | None = None, *, sessions: int = 1
) -> TesterBot:
    """Return the bot of dry runs at the first page of a signed-in tester.

    Args:
        visitor: Signed in as a tester.
        event: Token of the event.
        level: Of testing.
        profile: Its answers about itself.
        sessions: That it holds; count.
    """
    visitor.get(f"{visitor.base}/s/{event}/test/")
    return TesterBot(visitor, level, slot=1, sessions=sessions, profile=profile)
