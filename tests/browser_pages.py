"""Looking at pages of a server in a browser: what they ask for, complain about, and bar people from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Error, Locator, Page

_PROGRAMS = (Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium"))

CHROMIUM = next((program for program in _PROGRAMS if program.exists()), _PROGRAMS[0])
"""The browser of the tests. A new context takes 0.2 s of CPU time in the headless shell and 1 s in the full browser."""

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",
]
"""What keeps Chromium from calling home, and lets the headless shell lay text out like the full browser."""

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
"""What axe is to look for."""


_LOOK = """async rules => {
  const found = await axe.run(document, {runOnly: rules, resultTypes: ["violations"]});
  return found.violations.flatMap(v => v.nodes.map(n => `${v.id}: ${n.failureSummary} ${n.html.slice(0, 120)}`));
}"""


PATIENCE_MS = 90_000
"""How long a page may take before a test calls it stuck; milliseconds. Machines may be busy."""


def load_by_click(target: Locator) -> None:
    """Click a link or a button that leads to another page, and wait until that page has loaded.

    A click alone returns before the browser has sent anything: reads that do not wait, such as `count`, `inner_text`
    or `is_checked`, then read the page before.
    """
    with target.page.expect_navigation():
        target.click()


def load_by_key(page: Page, key: str) -> None:
    """Press a key that leads to another page, and wait until that page has loaded."""
    with page.expect_navigation():
        page.keyboard.press(key)


ACTIONS_PAGE = Path(__file__).parents[1] / "docs/reference/clicks-and-keys.md"
"""The page that states the clicks and keys of each main job."""

_ROW = re.compile(r"^\| (?P<job>[^|]+) \| [^|]+ \| (?P<count>\d+) (?P<unit>\w+) \| (?P<target>\d+) \|$", re.MULTILINE)


class Job(StrEnum):
    """A main job whose clicks or keys are counted; its text is its name in the documentation."""

    FIVE_CATEGORIES = "annotate 3 turns in 5 categories, nothing found"
    ROUTED = "annotate a routed dialogue, nothing found"
    DISPUTE = "settle one dispute"
    INVITE = "invite 20 people without e-mail"
    OPEN_EVENT = "scenario pack to open event"
    REGRESSED = "report to regressed dialogues"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedActions:
    """The clicks or keys of a job as the documentation states them.

    Attributes:
        count: Actions that the job takes; count.
        unit: Kind of action: clicks, keys, or actions for both.
        target: Maximum number of actions; count.
    """

    count: int
    unit: str
    target: int


def documented_actions() -> dict[str, DocumentedActions]:
    """Return the documented actions of each job, by the name of the job."""
    rows = _ROW.finditer(ACTIONS_PAGE.read_text(encoding="utf-8"))
    return {
        row["job"]: DocumentedActions(count=int(row["count"]), unit=row["unit"], target=int(row["target"]))
        for row in rows
    }


class ActionCounter:
    """A page on which each click and each key of a job is counted, as the documentation defines them.

    Attributes:
        page: The page.
        n: Clicks and keys; count.
    """

    def __init__(self, page: Page) -> None:
        self.page, self.n = page, 0

    def click(self, target: Locator) -> None:
        """Click something that stays on the page."""
        self.n += 1
        target.click()

    def follow(self, target: Locator) -> None:
        """Click something that loads another page."""
        self.n += 1
        load_by_click(target)

    def select(self, target: Locator, value: str) -> None:
        """Select an entry of a list: one click opens the list, one selects the entry."""
        self.n += 2
        target.select_option(value)

    def write(self, target: Locator, text: str) -> None:
        """Click a field and write a text into it; the text is not counted."""
        self.n += 1
        target.fill(text)

    def press(self, key: str) -> None:
        """Press a key."""
        self.n += 1
        self.page.keyboard.press(key)


class Visitor:
    """A person at a browser, whose pages remember what went wrong on them.

    The browser asks for little motion: a page that still glides when it is pressed may take the press elsewhere.

    Attributes:
        page: Where the person is.
        complaints: What the console and the script engine complained about.
        requests: Addresses that were asked for.
    """

    def __init__(self, browser: Browser, address: str, **options: object) -> None:
        self.browser, self.address = browser, address
        self.context: BrowserContext = browser.new_context(base_url=address, **{"reduced_motion": "reduce", **options})
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.context.on("console", lambda message: self._note(f"{message.type}: {message.text}"))
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _note(self, complaint: str) -> None:
        """Keep a complaint; a form that comes back with questions open (422) is none."""
        if "status of 422" not in complaint:
            self.complaints.append(complaint)

    @property
    def standing(self) -> str:
        """Where the person is and what the page says there, for the report of a test that failed."""
        try:
            words = self.page.inner_text("body", timeout=2000)
        except Error as error:
            words = f"(the page cannot be read: {error.message})"
        return "\n".join([self.page.url, *self.complaints, "asked for last:", *self.requests[-5:], "", words[:2000]])

    @property
    def strangers(self) -> list[str]:
        """Addresses of other hosts that were asked for."""
        own = urlsplit(self.address).netloc
        return [url for url in self.requests if urlsplit(url).netloc != own and not url.startswith("data:")]


def barriers(page: Page, rules: list[str] | None = None) -> list[str]:
    """Return what axe finds on a page as it stands, one line a finding: by all rules, or by those that are named."""
    page.wait_for_load_state("load")
    if not page.evaluate("'axe' in window"):
        page.evaluate(resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(_LOOK, rules or RULES)
    return found


def assert_accessible(page: Page) -> None:
    """Fail where axe finds a barrier on the page, or where 320 columns of pixels make it scroll sideways."""
    found = barriers(page)
    assert not found, f"{page.url} bars people:\n" + "\n".join(found)
    size = page.viewport_size
    page.set_viewport_size({"width": 320, "height": 640})
    too_wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    if size:
        page.set_viewport_size(size)
    assert not too_wide, f"{page.url} scrolls sideways at 320 px"


def assert_free_at_every_height(page: Page) -> None:
    """Fail where something that stays in sight while one scrolls covers what is to be pressed or read."""
    height, step = page.evaluate("[document.documentElement.scrollHeight, window.innerHeight]")
    for top in range(0, height, step):
        page.evaluate("top => window.scrollTo({top, behavior: 'instant'})", top)
        found = barriers(page, ["target-size", "color-contrast"])
        assert not found, f"{page.url} scrolled by {top} px bars people:\n" + "\n".join(found)
