"""Looking at pages of a server in a browser: what they ask for, complain about, and bar people from."""

from __future__ import annotations

from importlib import resources
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
"""What axe is to look for."""


class Visitor:
    """A person at a browser, whose pages remember what went wrong on them.

    Attributes:
        page: Where the person is.
        complaints: What the console and the script engine complained about.
        requests: Addresses that were asked for.
    """

    def __init__(self, browser: Browser, address: str, **options: object) -> None:
        self.browser, self.address = browser, address
        self.context: BrowserContext = browser.new_context(base_url=address, **options)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.context.on("console", lambda message: self._note(f"{message.type}: {message.text}"))
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _note(self, complaint: str) -> None:
        """Keep a complaint; a form that comes back with questions open (422) is none."""
        if "status of 422" not in complaint:
            self.complaints.append(complaint)

    @property
    def strangers(self) -> list[str]:
        """Addresses of other hosts that were asked for."""
        own = urlsplit(self.address).netloc
        return [url for url in self.requests if urlsplit(url).netloc != own and not url.startswith("data:")]


def barriers(page: Page) -> list[str]:
    """Return what axe finds on a page as it stands, one line a finding."""
    page.evaluate(resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)["violations"]
    return [f"{v['id']}: {node['html'][:120]}" for v in found for node in v["nodes"]]


def assert_accessible(page: Page) -> None:
    """Fail where axe finds a barrier on the page, or where 320 columns of pixels make it scroll sideways."""
    assert barriers(page) == []
    size = page.viewport_size
    page.set_viewport_size({"width": 320, "height": 640})
    too_wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    if size:
        page.set_viewport_size(size)
    assert not too_wide, f"{page.url} scrolls sideways at 320 px"
