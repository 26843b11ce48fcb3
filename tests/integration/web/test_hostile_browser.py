"""Hostile words of testers do nothing on the pages of other people, in a real browser."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest

from tests.fakes.tester import HttpTester
from tests.integration.web.conftest import demo_server
from tests.integration.web.test_hostile_words import EVIL
from theodolite.domain.people.role import Role

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(600)]

MOST_PAGES = 12
"""Pages of one role that are opened; count."""

ROLES = (Role.ORGANISER, Role.SENIOR, Role.ANNOTATOR, Role.ANALYST, Role.RED_TEAMER)

WATCH = """
window.violations = [];
const note = e => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`);
document.addEventListener("securitypolicyviolation", note);
for (const name of ["alert", "confirm", "prompt"]) window[name] = text => window.violations.push(name + " " + text);
"""

LEFT_OUT = ("/account/", "/static/", "/demo/", "/export/", "/reply/", "/file/")


@pytest.fixture
def served(tmp_path):
    """A server on which a red teamer has said hostile things."""
    with demo_server(tmp_path) as address:
        tester = HttpTester(address)
        tester.enter("red teamer")
        tester.agree()
        for number in (1, 2):
            assert "data-number" in tester.send("/say/", text=f"{number} {EVIL}").text
        tester.get("end/")
        yield address


def pages_of(page):
    """Open the pages of a role one after the other, and yield the address of each."""
    start = page.url
    waiting, seen = [start], set()
    while waiting and len(seen) < MOST_PAGES:
        address = waiting.pop(0).partition("#")[0]
        parts = urlsplit(address)
        if address in seen or parts.netloc != urlsplit(start).netloc or any(part in parts.path for part in LEFT_OUT):
            continue
        seen.add(address)
        if page.request.head(address).headers.get("content-type", "").startswith("text/html"):
            page.goto(address)
            yield address
            waiting += [urljoin(address, link) for link in page.evaluate("[...document.links].map(a => a.href)")]


def test_nothing_that_was_said_does_anything_on_the_pages_of_others(page_as):
    broken, shown = {}, 0
    for role in ROLES:
        page = page_as(role)
        page.add_init_script(WATCH)
        for address in pages_of(page):
            if found := page.evaluate("window.violations"):
                broken[address] = found
            if page.locator("[onerror], [onload], a[href^='javascript' i], base, [src*='evil']").count():
                broken[address] = ["an element"]
            shown += "<script>alert(1)</script>" in page.locator("body").inner_text()

    assert broken == {}
    assert shown
