"""Visitors of pages: forms and links, as a browser without scripts sends them, over HTTP or any other way."""

from __future__ import annotations

import http.cookiejar
import urllib.error
import urllib.parse
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from theodolite.bootstrap.page_checks import PageAnswer
from theodolite.domain.errors import NotFound

PATIENCE_S = 180.0
"""How long a visitor waits for a page; seconds. A reply of an application may be slow."""


class Visitor(ABC):
    """Opens pages and sends forms; how a request travels is up to the kind of visitor.

    Attributes:
        base: Address of the server.
        page: The open page.
    """

    def __init__(self, base: str, seen: Callable[[PageAnswer], None] | None = None) -> None:
        """Begin without a page.

        Args:
            base: Address of the server.
            seen: Called with every page that comes back; nothing where None.
        """
        self.base = base
        self._seen = seen
        self.page = PageAnswer("", 0, "", "")

    @abstractmethod
    def request(self, url: str, fields: Mapping[str, str] | None) -> PageAnswer:
        """Return the page at an address, redirections followed.

        Args:
            url: The whole address.
            fields: Of a form that is sent there; None to read the page.

        Raises:
            OSError: If the server cannot be reached.
        """

    def get(self, path: str) -> PageAnswer:
        """Open a page.

        Raises:
            OSError: If the server cannot be reached.
        """
        return self._open(urllib.parse.urljoin(self.page.url or self.base, path), None)

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
        return self._open(urllib.parse.urljoin(self.page.url, form.action), {**form.fields, **fields})

    def _open(self, url: str, fields: Mapping[str, str] | None) -> PageAnswer:
        self.page = self.request(url, fields)
        if self._seen is not None:
            self._seen(self.page)
        return self.page


class HttpVisitor(Visitor):
    """A visitor without a browser.

    Attributes:
        jar: Cookies.
    """

    def __init__(self, base: str, seen: Callable[[PageAnswer], None] | None = None) -> None:
        """Begin without a page and without cookies; see `Visitor`."""
        super().__init__(base, seen)
        self.jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.jar)
        )

    def request(self, url: str, fields: Mapping[str, str] | None) -> PageAnswer:
        """Return the page at an address, asked for over HTTP."""
        data = None if fields is None else urllib.parse.urlencode(fields).encode()
        headers = {"Referer": self.page.url} if data is not None else {}
        request = urllib.request.Request(url, data=data, headers=headers)  # noqa: S310 - our own server
        try:
            with self._opener.open(request, timeout=PATIENCE_S) as answer:
                return PageAnswer(answer.url, answer.status, str(answer.headers), answer.read().decode())
        except urllib.error.HTTPError as error:
            return PageAnswer(error.url, error.code, str(error.headers), error.read().decode())
