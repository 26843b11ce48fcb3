"""A tester without a browser: forms and links over HTTP, as a browser without scripts sends them."""

from __future__ import annotations

import http.cookiejar
import re
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Form:
    """One form of a page, with what it would send as it stands."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(given.get("action", "")))
        elif tag in {"a", "link"} and "href" in given:
            self.links.append(given["href"])
        elif tag == "script" and "src" in given:
            self.links.append(given["src"])
        elif tag == "input" and self.forms and given.get("type") == "hidden":
            self.forms[-1].fields[given["name"]] = given.get("value", "")


@dataclass
class Answer:
    """What came back."""

    url: str
    status: int
    headers: str
    text: str

    @property
    def path(self) -> str:
        return urllib.parse.urlsplit(self.url).path

    @property
    def forms(self) -> list[Form]:
        return self._read().forms

    @property
    def links(self) -> list[str]:
        return self._read().links

    def _read(self) -> _Forms:
        reader = _Forms()
        reader.feed(self.text)
        return reader


class HttpTester:
    """Somebody at a browser without scripts."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.jar)
        )
        self.page = Answer("", 0, "", "")

    def get(self, path: str) -> Answer:
        """Open a page."""
        return self._open(urllib.request.Request(urllib.parse.urljoin(self.page.url or self.base, path)))

    def send(self, ending: str, **fields: str) -> Answer:
        """Send the form of the page whose action ends so, or the one without any, with some fields filled in."""
        form = next(
            form for form in self.page.forms if form.action.endswith(ending) and bool(ending) == bool(form.action)
        )
        data = urllib.parse.urlencode({**form.fields, **fields}).encode()
        url = urllib.parse.urljoin(self.page.url, form.action)
        return self._open(urllib.request.Request(url, data=data, headers={"Referer": self.page.url}))

    def enter(self, role: str) -> Answer:
        """Become somebody of the seeded event."""
        self.get(f"{self.base}/demo/")
        return self.send(f"/demo/as/{role.replace(' ', '-')}/")

    def agree(self) -> Answer:
        """Agree to everything, say nothing of oneself, and begin."""
        boxes = dict(re.findall(r'type="checkbox" name="(\w+)" value="(\w+)"', self.page.text))
        self.send("", **boxes)
        self.send("", skip="yes")
        return self.send("")

    def _open(self, request: urllib.request.Request) -> Answer:
        try:
            with self._opener.open(request, timeout=60) as answer:
                self.page = Answer(answer.url, answer.status, str(answer.headers), answer.read().decode())
        except urllib.error.HTTPError as error:
            self.page = Answer(error.url, error.code, str(error.headers), error.read().decode())
        return self.page
