"""Results, matrix, judges and dialogues of `theodolite view`: each number opens exactly its dialogues."""

from __future__ import annotations

import csv
import http.client
import json
import re
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser_pages import Visitor, assert_accessible, load_by_click
from tests.e2e.test_view_pages import Viewer
from tests.fakes.terminal import in_a_process

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]

N = 24
"""Prompts of the study, each answered by two applications; count."""

STUDY = """\
study: answers
applications:
  recorded: {kind: recorded, file: answers.csv, id: id, prompt: prompt, response: reply, application: system}
guidelines:
  helpful:
    definition: Whether the reply helps.
    ask: Does the reply help?
    scale: {helps: It helps., fails: It does not help.}
    defects:
      useless: {defect: "== fails", title: Useless replies}
annotators:
  ann: {who: person, guideline: helpful, column: ann}
  ben: {who: person, guideline: helpful, column: ben}
  judge: {who: model, guideline: helpful, column: judge, title: Judge M}
reference: {column: final}
"""


def rows():
    """Yield recorded answers: v1 fails on every third prompt, v2 on every sixth; the judge misses half of them."""
    for system, step in (("v1", 3), ("v2", 6)):
        for number in range(N):
            final = "fails" if number % step == 0 else "helps"
            yield {
                "id": f"q{number}",
                "system": system,
                "prompt": f"Question {number} with <b>markup</b>?",
                "reply": f"{system} says that answer {number} is {final}.",
                "ann": final,
                "ben": "helps" if number == 0 else final,
                "judge": "??" if number == 3 else "helps" if number % 12 == 0 else final,
                "final": final,
            }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The study after its run."""
    folder = tmp_path_factory.mktemp("answers")
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    with (folder / "answers.csv").open("w", encoding="utf-8", newline="") as file:
        recorded = list(rows())
        writer = csv.DictWriter(file, fieldnames=recorded[0])
        writer.writeheader()
        writer.writerows(recorded)
    done = in_a_process("run", folder)
    assert done.code == 0, done.err
    return folder


@pytest.fixture(scope="module")
def viewer(folder):
    opened = Viewer(folder)
    yield opened
    opened.stop()


@pytest.fixture(scope="module")
def state(viewer):
    """The cookie of the browser that used the one-time link, for contexts of the browser."""
    with closing(http.client.HTTPConnection(urlsplit(viewer.address).netloc, timeout=60)) as connection:
        connection.request("GET", urlsplit(viewer.link).path)
        with connection.getresponse() as response:
            name, _, value = response.headers["Set-Cookie"].partition(";")[0].partition("=")
    return {"cookies": [{"name": name, "value": value, "domain": "127.0.0.1", "path": "/"}], "origins": []}


@pytest.fixture
def open_page(browser, viewer, state):
    """Return a function that opens a page of the run."""
    visitors = []

    def opened(path, **options):
        visitors.append(Visitor(browser, viewer.address, bypass_csp=True, storage_state=state, **options))
        page = visitors[-1].page
        page.goto(viewer.address)
        page.goto(f"{page.url}{path}")
        return page

    yield opened
    for visitor in visitors:
        assert (visitor.complaints, visitor.strangers) == ([], [])
        visitor.context.close()


def listed(page):
    """Return the labels of the dialogues that the page lists."""
    return page.locator("tbody th a").all_inner_texts()


def test_a_number_of_the_results_opens_exactly_the_dialogues_of_results_json(folder, open_page):
    stated = json.loads((folder / "results.json").read_text(encoding="utf-8"))["estimates"]
    rates = [rate for rate in stated if rate["measure"] == "defect_rate"]
    page = open_page("runs/0/")
    assert_accessible(page)
    row = page.get_by_role("row").filter(has_text="v1")
    assert "8 of 24" in row.inner_text()
    assert "33.3%" in row.inner_text()

    load_by_click(row.get_by_role("link", name="8"))

    assert listed(page) == [f"v1/q{number}" for number in range(0, N, 3)]
    assert [rate["value"] for rate in rates[:1]] == [pytest.approx(8 / 24)]
    expect(page.get_by_text("Useless replies, labels by final labels")).to_be_visible()
    load_by_click(page.get_by_role("link", name="Remove"))
    assert len(listed(page)) == 2 * N


@pytest.mark.parametrize("view", ["Defects", "Disagreements", "Changed", "Failed", "Unparseable", "Unlabelled"])
def test_a_filter_lists_as_many_dialogues_as_it_counts(open_page, view):
    page = open_page("runs/1/dialogues/")
    link = page.get_by_role("link", name=re.compile(f"^{view} "))
    n = int(link.inner_text().split()[-1])

    load_by_click(link)

    assert len(listed(page)) == n


def test_a_cell_of_the_confusion_matrix_opens_its_dialogues(open_page):
    page = open_page("runs/1/judges/")
    assert_accessible(page)
    expect(page.get_by_text("not validated", exact=True)).to_be_visible()
    missed = page.get_by_role("row", name=re.compile("^fails")).get_by_role("link").first
    n = int(missed.inner_text())

    load_by_click(missed)

    assert n == len(listed(page)) == 4
    assert set(listed(page)) == {"v1/q0", "v1/q12", "v2/q0", "v2/q12"}
    expect(page.get_by_text("Judge M: helps", exact=True)).to_be_visible()


def test_the_matrix_is_filtered_sorted_pinned_and_hidden_by_links(open_page):
    page = open_page("runs/1/matrix/", java_script_enabled=False)
    assert page.locator("tbody tr").count() == 20, "the first page"
    load_by_click(page.get_by_role("link", name="Changed 4"))
    assert page.locator("tbody th code").all_inner_texts() == ["q3", "q9", "q15", "q21"]
    load_by_click(page.get_by_role("link", name="Pin v2 as first column"))
    assert page.locator("thead .app-name").all_inner_texts() == ["v2", "v1"]
    load_by_click(page.get_by_role("link", name="Hide v1"))
    assert page.locator("thead .app-name").all_inner_texts() == ["v2"]
    load_by_click(page.get_by_role("link", name="Show all columns"))
    load_by_click(page.get_by_role("link", name="All 24"))
    load_by_click(page.get_by_role("link", name="Defects of v2 first"))
    assert page.locator("tbody th code").all_inner_texts()[:5] == ["q0", "q6", "q12", "q18", "q1"]


def test_the_drawer_of_the_matrix_opens_and_closes_by_keys_and_has_a_permanent_address(open_page):
    page = open_page("runs/1/matrix/")
    assert_accessible(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("heading", name="v1/q0")).to_be_visible()
    assert_accessible(page)
    drawer.get_by_role("link", name="v2", exact=True).click()
    expect(drawer.get_by_role("heading", name="v2/q0")).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()

    with page.expect_navigation():
        page.keyboard.press("d")

    assert page.locator("tbody ins").first.inner_text().strip() == "v2"
    page.locator("tbody a.reply-text").first.click()
    load_by_click(page.get_by_role("dialog").get_by_role("link", name="Open page"))
    expect(page).to_have_url(re.compile("/runs/1/dialogues/v1/q0/$"))
    assert_accessible(page)


PAGES = {
    "results": "runs/1/",
    "matrix": "runs/1/matrix/",
    "dialogues": "runs/1/dialogues/",
    "dialogue": "runs/1/dialogues/v1/q0/",
    "judges": "runs/1/judges/",
    "trees": "runs/1/trees/",
}

CLIPPED = """() => [...document.querySelectorAll("main .chip, main .button, main button, main dd, main h1, main h2")]
  .filter((part) => part.checkVisibility())
  .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 1)
  .map((part) => part.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_wider_than_the_screen_and_no_text_is_clipped(open_page, name, width, scheme):
    page = open_page(PAGES[name], viewport={"width": width, "height": 844}, color_scheme=scheme)

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CLIPPED) == []
