"""Every shipped questionnaire in every state, for every barrier: empty, followed up, refused, complete."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser_pages import assert_accessible, assert_free_at_every_height, barriers, load_by_click
from tests.integration.web.conftest import demo_server
from theodolite.config.study import pack_names
from theodolite.demo.studies import lay_out_event
from theodolite.domain.event import Role

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]

PACKS = [name for name in pack_names() if name.startswith("aria/")]
LEVELS = ("red-teaming", "field-testing")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server whose event has all questions of the three scenario packs."""
    temporary = tmp_path_factory.mktemp("packs")
    folder = temporary / "theodolite-event"
    lay_out_event(folder)
    study = (folder / "study.yaml").read_text(encoding="utf-8")
    (folder / "study.yaml").write_text(study.replace("pack: aria/tv-spoilers", f"pack: [{', '.join(PACKS)}]"))
    with demo_server(temporary) as address:
        yield address


def test_no_state_of_any_questionnaire_has_a_barrier(page_as):
    page = page_as(Role.ORGANISER, bypass_csp=True, viewport={"width": 1280, "height": 720})
    questions = page.locator("a[href*='/organise/']").first.get_attribute("href") + "questions/"
    for pack, level in [(pack, level) for pack in PACKS for level in LEVELS]:
        page.goto(f"{questions}{pack.removeprefix('aria/')}-{level}/")
        assert barriers(page) == []
        follow_up(page)
        load_by_click(page.get_by_role("button", name="Try to submit"))
        expect(page.get_by_role("alert")).to_contain_text("still open")
        assert_accessible(page)
    assert_free_at_every_height(page)
    assert_matrix_works(page)
    answer_all(page)
    assert barriers(page) == []


def assert_matrix_works(page):
    """Answer a matrix by keyboard, and check that its columns align in both writing directions."""
    matrix = page.locator(".matrix:visible").last
    first, second = (matrix.locator("fieldset").nth(place) for place in range(2))
    first.get_by_role("radio").first.focus()
    for key in ("Space", "ArrowRight", "Tab"):
        page.keyboard.press(key)
    expect(first.get_by_role("radio").nth(1)).to_be_checked()
    expect(second.get_by_role("radio").first).to_be_focused()
    expect(second.locator(":checked")).to_have_count(0)
    for direction, order in (("ltr", 1), ("rtl", -1)):
        page.evaluate("way => document.documentElement.dir = way", direction)
        heads, rows = (middles(matrix, of) for of in (".heads > span", "fieldset:first-of-type .cell > input"))
        assert heads == pytest.approx(rows, abs=1)
        assert heads[::order] == sorted(heads)
    page.evaluate("document.documentElement.dir = 'ltr'")
    page.set_viewport_size({"width": 320, "height": 720})
    expect(matrix.locator(".heads")).to_be_hidden()
    assert len({round(middle) for middle in middles(matrix, ".cell > input")}) == 1
    assert_accessible(page)
    page.set_viewport_size({"width": 1280, "height": 720})


def middles(matrix, of):
    """Return the horizontal centres of some elements; pixels."""
    return matrix.locator(of).evaluate_all(
        "found => found.map(one => one.getBoundingClientRect()).map(box => box.left + box.width / 2)"
    )


def follow_up(page):
    """Give the first question the answer that opens its follow-ups."""
    n_asked = page.locator("fieldset.question:visible").count()
    page.locator("fieldset.question").first.get_by_role("radio", name="yes", exact=True).check(timeout=5000)
    expect(page.locator("fieldset.question:visible")).not_to_have_count(n_asked)


def answer_all(page):
    for _ in range(40):
        box = page.locator("fieldset.question:visible:not(:has(:checked)):not(:has(textarea))").first
        if not box.count():
            break
        box.get_by_role("radio").or_(box.get_by_role("checkbox")).last.check()
    for text in page.locator("fieldset.question:visible textarea").all():
        text.fill("Nothing to add.")
    expect(page.get_by_text("All questions answered")).to_be_visible()
