"""A preview beside its form follows edits before they are saved."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser_pages import Visitor, assert_accessible, load_by_click
from tests.e2e.test_view_pages import Viewer, open_editor
from tests.fakes.support_study import SupportStudy

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]

FORMS = """
questionnaires:
  after:
    title: After the session
    questions:
      again: {ask: Would you use it again?, scale: [yes, no]}
      reason: {ask: What stopped you?, when: again == no, scale: text}
guidelines:
  plain: {ask: "Is the reply plain?", scale: ["yes", "no"], defect: "== no"}
"""


@pytest.fixture
def page_of(tmp_path, browser):
    """Return a function that opens the editor at a part of a study with a questionnaire and a guideline."""
    study = SupportStudy(folder=tmp_path / "support", url="http://127.0.0.1:9", n=3)
    study.write()
    file = tmp_path / "support" / "study.yaml"
    file.write_text(file.read_text(encoding="utf-8") + FORMS, encoding="utf-8")
    viewer = Viewer(tmp_path)
    visitors = []

    def opened(part, **options):
        visitors.append(Visitor(browser, viewer.address, bypass_csp=False, **options))
        visitors[-1].page.goto(viewer.link)
        open_editor(visitors[-1].page, f"?at={part}")
        return visitors[-1].page

    yield opened
    for visitor in visitors:
        assert (visitor.complaints, visitor.strangers) == ([], []), visitor.standing
        visitor.context.close()
    viewer.process.kill()
    viewer.process.communicate()


def shown(page):
    return page.frame_locator(".preview-frame iframe:not([hidden])")


def test_a_questionnaire_follows_fields_and_text_and_keeps_the_answers_that_one_tries(page_of):
    page = page_of("questionnaires/after")
    preview = shown(page)
    expect(preview.get_by_role("heading", name="After the session")).to_be_visible()
    expect(preview.get_by_text("What stopped you? (optional)")).to_be_hidden()
    preview.get_by_label("no", exact=True).check()
    expect(preview.get_by_text("What stopped you? (optional)")).to_be_visible()

    page.get_by_label("Title").fill("At the end")
    expect(preview.get_by_role("heading", name="At the end")).to_be_visible()
    text = page.locator("#text")
    text.fill(text.input_value().replace("What stopped you?", "What kept you away?"))
    expect(preview.get_by_text("What kept you away? (optional)")).to_be_visible()
    expect(preview.get_by_label("no", exact=True)).to_be_checked()
    expect(text).to_be_focused()

    valid = text.input_value()
    text.fill(f"{valid}\nx: [")
    expect(page.locator("[data-state]")).to_contain_text("The text contains an error")
    expect(preview.get_by_text("What kept you away? (optional)")).to_be_visible()
    text.fill(valid)
    expect(page.locator("[data-state]")).to_contain_text("The preview follows your edits")
    page.keyboard.press("Control+s")
    expect(page.locator("#saved")).to_contain_text("Saved")
    load_by_click(page.get_by_role("link", name="Questions", exact=True))
    expect(shown(page).get_by_text("Would you use it again?")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_preview_is_beside_the_form_or_below_it(page_of, width, scheme):
    page = page_of("questionnaires/after", viewport={"width": width, "height": 844}, color_scheme=scheme)
    expect(shown(page).get_by_role("heading", name="After the session")).to_be_visible()
    form, frame, text = (page.locator(one).bounding_box() for one in (".form-part", ".preview-frame", "#text"))

    assert frame["y"] < text["y"]
    assert frame["x"] > form["x"] + form["width"] if width == 1280 else frame["y"] > form["y"] + form["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="1280 px").click()
    page.wait_for_function("document.querySelector('.preview-frame iframe').contentWindow.innerWidth === 1280")
    assert_accessible(page)


def test_a_guideline_is_previewed_on_the_page_of_annotators(page_of):
    page = page_of("guidelines/plain")
    expect(shown(page).get_by_text("Is the reply plain?").first).to_be_visible()
    text = page.locator("#text")
    text.fill(text.input_value().replace("Is the reply plain?", "Is the reply short?"))
    expect(shown(page).get_by_text("Is the reply short?").first).to_be_visible()
    expect(text).to_be_focused()


def test_without_scripts_a_button_opens_the_preview(page_of):
    page = page_of("questionnaires/after", java_script_enabled=False)
    expect(page.locator("[data-preview]")).to_be_hidden()
    with page.expect_popup() as opening:
        page.locator(".form-part").get_by_role("button", name="Preview").click()
    expect(opening.value.get_by_role("heading", name="After the session")).to_be_visible()
