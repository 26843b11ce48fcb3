"""Hostile texts of testers never run on pages of other people, in a real browser."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest

from tests.fakes.tester import HttpTester
from tests.integration.web.conftest import demo_server
from tests.integration.web.test_hostile_words import EVIL, TOKEN, Doing
from theodolite.domain.event import Role

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(600)]

MOST_ASKED = 40
"""Pages of one role that are asked for; count."""

ROLES = (Role.ORGANISER, Role.SENIOR, Role.ANNOTATOR, Role.ANALYST, Role.RED_TEAMER)

WATCH = """
window.violations = [];
const note = e => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`);
document.addEventListener("securitypolicyviolation", note);
for (const name of ["alert", "confirm", "prompt"]) window[name] = text => window.violations.push(name + " " + text);
"""

SHOWN = "<script>alert(1)</script>"
"""What of the hostile words can be seen where they are shown."""

LEFT_OUT = ("/account/", "/static/", "/demo/", "/export/", "/reply/", "/file/")


@pytest.fixture
def served(tmp_path, seeded_copy):
    """A server with hostile prompts of a red teamer."""
    with demo_server(seeded_copy(tmp_path)) as address:
        tester = HttpTester(address)
        tester.enter("red teamer")
        tester.agree()
        for number in (1, 2):
            assert "data-number" in tester.send("/say/", text=f"{number} {EVIL}").text
        tester.get("end/")
        yield address


def pages_of(page):
    """Yield one page of each template that shows what was said; which ones do is asked without the browser."""
    start = page.url
    waiting, shapes, asked = [start], set(), set()
    while waiting and len(asked) < MOST_ASKED:
        address = waiting.pop(0).partition("#")[0]
        parts = urlsplit(address)
        shape = TOKEN.sub("/*", parts.path)
        is_ours = parts.netloc == urlsplit(start).netloc and not any(part in parts.path for part in LEFT_OUT)
        if address in asked or shape in shapes or not is_ours:
            continue
        asked.add(address)
        answer = page.request.get(address)
        if not answer.headers.get("content-type", "").startswith("text/html"):
            continue
        html = Doing()
        html.feed(answer.text())
        waiting += [urljoin(answer.url, link) for link in html.links]
        if SHOWN in html.text:
            shapes.add(shape)
            yield address


def test_hostile_texts_never_run_on_pages_of_others(page_as):
    broken, shown = {}, 0
    for role in ROLES:
        page = page_as(role)
        page.add_init_script(WATCH)
        for address in pages_of(page):
            page.goto(address)
            if found := page.evaluate("window.violations"):
                broken[address] = found
            if page.locator("[onerror], [onload], a[href^='javascript' i], base, [src*='evil']").count():
                broken[address] = ["an element"]
            shown += SHOWN in page.locator("body").inner_text()

    assert broken == {}
    assert shown
