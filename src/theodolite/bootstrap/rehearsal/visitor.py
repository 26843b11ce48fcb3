"""A visitor without a browser: forms and links over HTTP, as a browser without scripts sends them."""

from __future__ import annotations

import http.cookiejar
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser

from theodolite.domain.errors import NotFound

PATIENCE_S = 180.0
"""How long a visitor waits for a page; seconds. A reply of an application may be slow."""


@dataclass
class Form:
    """One form of a page.

    Attributes:
        action: Where it is sent to; empty for the page itself.
        fields: What it would send as it stands: its hidden fields.
        choices: Values that one may choose from, by field; empty ones left out.
        texts: Fields that one writes into.
    """

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.links: list[str] = []
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(given.get("action", "")))
        elif tag in {"a", "link"} and "href" in given:
            self.links.append(given["href"])
        elif tag == "script" and "src" in given:
            self.links.append(given["src"])
        elif self.forms:
            self._read_field(tag, given)

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""

    def _read_field(self, tag: str, given: dict[str, str]) -> None:
        if "disabled" in given:
            return
        form, name, kind = self.forms[-1], given.get("name", ""), given.get("type", "text")
        if tag == "select":
            self._select = name
        elif tag == "option" and self._select and given.get("value"):
            form.choices.setdefault(self._select, []).append(given["value"])
        elif tag == "textarea" or (tag == "input" and name and kind in {"text", "number", "email"}):
            form.texts.append(name)
        elif tag == "input" and kind == "hidden":
            form.fields[name] = given.get("value", "")
        elif tag == "input" and kind in {"radio", "checkbox"} and given.get("value"):
            form.choices.setdefault(name, []).append(given["value"])


@dataclass
class PageAnswer:
    """What came back."""

    url: str
    status: int
    headers: str
    text: str

    @property
    def path(self) -> str:
        """Path of the page."""
        return urllib.parse.urlsplit(self.url).path

    @property
    def forms(self) -> list[Form]:
        """Forms of the page, in order."""
        return self._read.forms

    @property
    def links(self) -> list[str]:
        """Addresses that the page names, in order."""
        return self._read.links

    def form(self, ending: str) -> Form | None:
        """Return the first form whose action ends so, or with an empty ending the one without any; None for none."""
        fits = (one for one in self.forms if one.action.endswith(ending) and bool(ending) == bool(one.action))
        return next(fits, None)

    @cached_property
    def _read(self) -> _Reader:
        reader = _Reader()
        reader.feed(self.text)
        return reader


class HttpVisitor:
    """Somebody at a browser without scripts.

    Attributes:
        base: Address of the server.
        jar: Cookies.
        page: What is open.
    """

    def __init__(self, base: str, seen: Callable[[PageAnswer], None] | None = None) -> None:
        """Sit down.

        Args:
            base: Address of the server.
            seen: Told of every page that comes back; nobody where None.
        """
        self.base = base
        self.jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.jar)
        )
        self._seen = seen
        self.page = PageAnswer("", 0, "", "")

    def get(self, path: str) -> PageAnswer:
        """Open a page.

        Raises:
            OSError: If the server cannot be reached.
        """
        return self._open(urllib.request.Request(urllib.parse.urljoin(self.page.url or self.base, path)))  # noqa: S310

    def send(self, ending: str, **fields: str) -> PageAnswer:
        """Send the form of the page whose action ends so, or the one without any, with some fields filled in.

        Raises:
            NotFound: If the page has no such form.
            OSError: If the server cannot be reached.
        """
        form = self.page.form(ending)
        if form is None:
            message = f"the page {self.page.path} has no form `{ending}`"
            raise NotFound(message)
        data = urllib.parse.urlencode({**form.fields, **fields}).encode()
        url = urllib.parse.urljoin(self.page.url, form.action)
        return self._open(urllib.request.Request(url, data=data, headers={"Referer": self.page.url}))  # noqa: S310

    def _open(self, request: urllib.request.Request) -> PageAnswer:
        try:
            with self._opener.open(request, timeout=PATIENCE_S) as answer:
                self.page = PageAnswer(answer.url, answer.status, str(answer.headers), answer.read().decode())
        except urllib.error.HTTPError as error:
            self.page = PageAnswer(error.url, error.code, str(error.headers), error.read().decode())
        if self._seen is not None:
            self._seen(self.page)
        return self.page
