"""Pages of every type keep their layout: on a wide and on a narrow screen, light and dark."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Error, Page, expect

from tests.browser_pages import barriers, load_by_click
from tests.integration.web.conftest import DEMO_FOLDER, demo_server
from theodolite.bootstrap.audience_reports import audience_files
from theodolite.bootstrap.events import PUBLIC
from theodolite.bootstrap.releases import REVIEW, review_text
from theodolite.config.permissions import WORKSPACE_NAME
from theodolite.domain.event import Role
from theodolite.domain.release import IdentifierFinding
from theodolite.web.models import HostedStudy, Measurement

pytestmark = [pytest.mark.integration, pytest.mark.browser, pytest.mark.timeout(300)]

SIZES = ({"width": 1280, "height": 800}, {"width": 390, "height": 844})
SCHEMES = ("light", "dark")

FAULTS = Path(__file__).with_name("layout.js").read_text(encoding="utf-8")
"""A function of the page that returns its layout faults, one line each."""

_LINKS = "[...document.querySelectorAll('a[href]')].map(link => link.href.split('#')[0])"
_TOKEN = re.compile(r"(?<=/)(?:(?=[^/]*[A-Z0-9_])[A-Za-z0-9_-]{12}|[0-9a-f]{16})(?=/|$)")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, seeded_copy: Callable[[Path], Path]) -> Iterator[str]:
    """Address of a server for this file: input of other tests would change the pages."""
    folder = seeded_copy(tmp_path_factory.mktemp("layout"))
    add_release(folder)
    with demo_server(folder) as address:
        yield address


RELEASE_TOKEN = "release-0001"

LONG = "Rindfleischetikettierung" * 4

IDENTIFIERS = tuple(
    IdentifierFinding(key=key * 12, kind=kind, dialogue="d1", words=words, context=f"It is {words}, as I wrote.", n=n)
    for key, kind, words, n in (
        ("a", "person's name", "Ana Silva", 1),
        ("b", "e-mail address", f"{LONG}@example.org", 12),
    )
)


def add_release(folder: Path) -> None:
    """Add a prepared release with undecided identifiers to the seeded event: its preparation takes minutes."""
    (database,) = folder.glob(f"{DEMO_FOLDER}/{WORKSPACE_NAME}/*.db")
    files = database.parent / "measured" / RELEASE_TOKEN
    files.mkdir(parents=True)
    (files / REVIEW).write_text(review_text(IDENTIFIERS), encoding="utf-8")
    (files / audience_files(PUBLIC)[0]).write_text("<!doctype html>", encoding="utf-8")
    table, studies = Measurement._meta.db_table, HostedStudy._meta.db_table
    statement = (
        f"INSERT INTO {table} (hosted_id, token, asked_at, edition, done_at, problem) "  # noqa: S608 - our tables
        f"SELECT id, ?, ?, ?, ?, '' FROM {studies} ORDER BY id LIMIT 1"
    )
    day = "2026-01-01 00:00:00"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(statement, (RELEASE_TOKEN, day, "0" * 64, day))


_UNFOLD = """async () => {
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  document.querySelectorAll("details").forEach(each => { each.open = true; });
}"""


def faults_of(page: Page) -> list[str]:
    """Return the layout faults of the page as it stands, at each size and in each colour scheme."""
    found = []
    for size in SIZES:
        page.set_viewport_size(size)
        page.evaluate(_UNFOLD)  # at each size, since a page may fold parts of itself when it becomes narrow
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            found += [f"{size['width']} px, {scheme}: {fault}" for fault in page.evaluate(FAULTS)]
    return found


def page_type(address: str) -> str:
    """Return the path of a page without tokens and numbers."""
    return re.sub(r"\d+", "N", _TOKEN.sub("TOKEN", urlsplit(address).path))


def opened(page: Page, address: str) -> bool:
    """Go to an address, and return whether it leads to a page of the web app; others lead to files or JSON."""
    if urlsplit(address).path.startswith("/api/"):
        return False  # the browser asks for an icon, which pages name and JSON cannot
    try:
        answer = page.goto(address)
    except Error as error:
        if "Download is starting" not in error.message:
            raise
        return False
    assert answer, address
    return answer.headers["content-type"].startswith("text/html")


def look(page: Page, found: dict[str, list[str]]) -> None:
    """Add the layout faults of the page as it stands, unless a page of its type was looked at."""
    if (kind := page_type(page.url)) not in found:
        found[kind] = faults_of(page)


def crawl(page: Page, found: dict[str, list[str]]) -> None:
    """Look at the page and follow its links to one page of each type; opening a page changes nothing in the event."""
    host, seen, waiting = urlsplit(page.url).netloc, set(found), [page.url]
    while waiting:
        address = waiting.pop(0)
        kind = page_type(address)
        if kind in seen or urlsplit(address).netloc != host:
            continue
        seen.add(kind)
        if opened(page, address):
            look(page, found)
            waiting += page.evaluate(_LINKS)


def enter(page: Page, who: str) -> None:
    """Sign in with a button on the first page of the seeded event."""
    page.goto("/demo/")
    load_by_click(page.get_by_role("button", name=who))


def assert_in_place(found: dict[str, list[str]]) -> None:
    """Fail with the page type, the width, the scheme and the element of every fault."""
    assert not any(found.values()), "\n".join(
        f"{kind} at {fault}" for kind, faults in found.items() for fault in faults
    )


@pytest.mark.parametrize("role", [Role.ORGANISER, Role.SENIOR, Role.ANALYST, Role.TEAM, Role.FIELD_TESTER], ids=str)
def test_the_pages_of_a_role_keep_their_layout(page_as, role):
    found = {}
    crawl(page_as(role), found)

    assert len(found) > 5, sorted(found)
    assert_in_place(found)


SCHEMES_OF_AXE = (("light", "no-preference"), ("dark", "no-preference"), ("light", "more"), ("dark", "more"))
"""Colour scheme and contrast, as browsers state the wishes of people."""

RULES_OF_COLOUR = ["color-contrast", "link-in-text-block"]
"""The rules whose result depends on the colour scheme."""


def barriers_of_schemes(page: Page) -> list[str]:
    """Return what axe finds on the page as it stands, in each colour scheme and contrast."""
    found = []
    for scheme, contrast in SCHEMES_OF_AXE:
        page.emulate_media(color_scheme=scheme, contrast=contrast)
        rules = None if (scheme, contrast) == SCHEMES_OF_AXE[0] else RULES_OF_COLOUR
        found += [f"{scheme}, contrast {contrast}: {one}" for one in barriers(page, rules)]
    return found


ACCESSIBLE_PAGES = {
    Role.ORGANISER: (
        *("organise/", "organise/study/", "organise/operations/", "organise/people/", "organise/audit/"),
        *("organise/webhooks/", "organise/runs/", "organise/runs/start/", "organise/keys/", "organise/results/"),
        *("organise/messages/", "organise/editions/", "organise/exchange/"),
        f"organise/results/{RELEASE_TOKEN}/identifiers/",
    ),
    Role.SENIOR: ("review/", "review/dialogues/", "review/agreement/", "review/gold/", "review/judges/"),
    Role.ANALYST: ("analyse/", "analyse/coding/", "analyse/reviews/", "analyse/sessions/"),
    Role.ANNOTATOR: ("annotate/", "annotate/about/"),
    Role.TEAM: ("team/", "team/new/", "team/criteria/"),
    Role.FIELD_TESTER: ("test/", "test/leave/", "test/my-data/", "test/help/"),
}
"""Addresses below the event of one page of each type."""


def address_of_event(page: Page) -> str:
    """Return the address below which the pages of a person's event are."""
    page.goto("/")
    address = page.evaluate("document.querySelector('main a[href^=\"/s/\"]')?.href ?? location.href")
    return f"/s/{address.split('/s/')[1].partition('/')[0]}/"


@pytest.mark.parametrize("role", ACCESSIBLE_PAGES, ids=str)
def test_the_pages_of_a_role_have_no_barrier_in_any_colour_scheme(page_as, role):
    page = page_as(role, bypass_csp=True)
    event = address_of_event(page)
    shared = ("/components/", "/tokens/", "/display-settings/") if role is Role.ORGANISER else ()
    found = []
    for address in (*(f"{event}{name}" for name in ACCESSIBLE_PAGES[role]), *shared):
        assert opened(page, address), address
        found += [f"{page_type(address)}, {one}" for one in barriers_of_schemes(page)]

    assert found == []


TRIED = (
    "\nmodels:\n"
    '  reader: {script: ["{\\"reasoning\\": \\"clear\\", \\"label\\": \\"yes\\"}"]}\n'
    "  inner: {url: http://127.0.0.1:9/v1, name: m}\n"
    "guidelines:\n"
    f'  plain: {{ask: Is {LONG} plain?, scale: ["yes", "no"], defect: "== no"}}\n'
)
"""Lines of a study file with a scripted model, a model that does not answer, and a guideline."""


def save_with_judge(page: Page) -> str:
    """Save a draft with a scripted judge in the study editor, and return its text."""
    box = page.locator("#text")
    text = box.input_value().replace("judges:\n", "judges:\n  careful: {model: reader, guideline: plain}\n") + TRIED
    box.fill(text)
    page.locator(".text-part").get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#saved")).to_contain_text("Saved")
    return text


def tried(page: Page, heading: str, name: str) -> Page:
    """Press a button that tries a part of the text in the editor, and return the page that it opens."""
    page.locator("[data-side] details").filter(has_text=heading).evaluate("each => { each.open = true; }")
    with page.expect_popup() as opening:
        page.get_by_role("button", name=f"{heading}: {name}", exact=True).first.click()
    opening.value.wait_for_load_state()
    return opening.value


def posted_pages(page: Page) -> Iterator[tuple[str, Page]]:
    """Yield the pages that only a form of an organiser opens, each with a name."""
    event = address_of_event(page)
    page.goto(f"{event}organise/results/{RELEASE_TOKEN}/identifiers/")
    for radio in page.get_by_label("Keep", exact=True).all():
        radio.check()
    load_by_click(page.get_by_role("button", name="Save and prepare again"))
    yield "kept identifiers without reasons", page
    page.goto(f"{event}organise/study/")
    text = save_with_judge(page)
    for heading, name in (("Test connection", "reader"), ("Test connection", "inner")):
        yield f"{heading}, {name}", tried(page, heading, name)
    trial = tried(page, "Try a judge", "careful")
    yield "cost of a trial", trial
    load_by_click(trial.get_by_role("button", name="Let the judge read"))
    yield "result of a trial", trial
    guideline = tried(page, "Preview", "Plain")
    yield "preview of a guideline", guideline
    guideline.get_by_role("button", name="Submit").press("Control+Enter")  # opened help may cover the button
    expect(guideline.get_by_text("Not submitted")).to_be_visible()
    yield "preview of a guideline without answers", guideline
    questionnaire = tried(page, "Preview", "Your session")
    yield "preview of a questionnaire", questionnaire
    load_by_click(questionnaire.get_by_role("button", name="Try to submit"))
    yield "preview of a questionnaire without answers", questionnaire
    page.locator("#text").fill(text.replace("ask:", "aks:"))
    yield "trial of a text with errors", tried(page, "Try a judge", "careful")


def test_pages_that_only_a_form_opens_keep_their_layout_and_have_no_barrier(page_as):
    page, found, barred = page_as(Role.ORGANISER, bypass_csp=True), {}, []
    for name, shown in posted_pages(page):
        found[name] = faults_of(shown)
        barred += [f"{name}, {one}" for one in barriers_of_schemes(shown)]

    assert_in_place(found)
    assert barred == []


def test_the_pages_of_an_annotator_keep_their_layout(page_as):
    page, found = page_as(Role.ANNOTATOR), {}
    home = page.url
    crawl(page, found)
    page.goto(home)
    load_by_click(page.get_by_role("button", name="dialogue").first)
    crawl(page, found)

    assert any("/annotate/d/" in kind for kind in found), sorted(found)
    assert_in_place(found)


def test_the_pages_of_a_red_teamer_keep_their_layout_from_consent_to_the_questions(page_as):
    page, found = page_as(Role.RED_TEAMER), {}
    consent = page.url
    crawl(page, found)
    page.goto(consent)
    for box in page.get_by_role("checkbox").all():
        box.check()
    load_by_click(page.get_by_role("button", name="I agree"))
    look(page, found)
    load_by_click(page.get_by_role("button", name="Skip"))
    look(page, found)
    load_by_click(page.get_by_role("button", name="I have read it; start"))
    expect(page.locator("html.scripted")).to_be_attached()
    talk(page)
    look(page, found)
    load_by_click(page.get_by_role("link", name="End session"))
    look(page, found)
    if (completed := page.get_by_label("Yes", exact=True)).count():
        completed.check()
    load_by_click(page.get_by_role("button", name="End session"))
    crawl(page, found)

    assert [
        word for word in ("/profile/", "/instructions/", "/N/", "/end/", "/questions/N/") if word not in " ".join(found)
    ] == []
    assert_in_place(found)


def talk(page: Page) -> None:
    """Send a message with a long word and wait for the answer."""
    box = page.get_by_label("Your message")
    box.fill(f"Who is in it? {'Rindfleischetikettierung' * 4}")
    box.press("Enter")
    expect(page.locator("#turn-1[data-state='complete']")).to_be_visible()


@pytest.mark.parametrize("who", ["Hugo", "Greta", "Nils", "Mona"])
def test_the_pages_before_the_event_keep_their_layout(visitor, who):
    page, found = visitor().page, {}
    enter(page, who)
    crawl(page, found)

    assert_in_place(found)


def test_the_pages_of_a_visitor_keep_their_layout(visitor):
    page, found = visitor().page, {}
    page.goto("/demo/")
    crawl(page, found)
    page.goto("/")
    crawl(page, found)

    assert_in_place(found)


FAULTY = {
    "the page scrolls sideways": '<div style="width: 2000px">Wide</div>',
    "off the screen": '<div style="position: absolute; left: 5000px; width: 40px">Far</div>',
    "leaves its container": '<div style="width: 90px"><div style="width: 120px">Wide</div></div>',
    "text leaves its container": '<div style="width: 40px">Rindfleischetikettierung</div>',
    "text is clipped": '<div style="width: 40px; overflow: hidden">Rindfleischetikettierung</div>',
    "one letter per line": '<div style="width: 9px; overflow-wrap: anywhere">Etikettierung</div>',
    "a control overlaps its label": '<label>Yes <input type="checkbox" style="margin-left: -20px"></label>',
    "tabs are in several rows": '<nav class="section-tabs" style="width: 90px"><a>Responses</a> <a>Reviews</a></nav>',
    "the current tab is out of view": (
        '<nav class="section-tabs" style="width: 90px; overflow: auto; white-space: nowrap">'
        '<a>Responses</a> <a aria-current="page">Reviews</a></nav>'
    ),
    "controls overlap": "<form><button>One</button><button style='margin-left: -20px'>Two</button></form>",
}


@pytest.mark.parametrize("fault", FAULTY)
def test_each_layout_error_is_detected(visitor, fault):
    page = visitor().page
    page.set_content(f"<main>{FAULTY[fault]}</main>")

    assert any(f", light: {fault}" in line for line in faults_of(page)), faults_of(page)


def test_a_correct_page_has_no_layout_error(visitor):
    page = visitor().page
    page.set_content('<main><form><label>Yes <input type="checkbox"></label> <button>Send</button></form></main>')

    assert faults_of(page) == []
