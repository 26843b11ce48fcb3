"""One round of coding and one combined review in a real browser, on every page of analysts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser_pages import assert_accessible, load_by_click, load_by_key
from theodolite.domain.event import Role

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]


def opened(page: Page, path: str) -> Page:
    """Open a page of analysts and check it for barriers."""
    study = page.url.split("/s/")[1].split("/")[0]
    page.goto(f"/s/{study}/analyse/{path}")
    assert_accessible(page)
    return page


def test_a_coder_codes_resolves_a_disagreement_and_permits_quotes_by_keyboard(page_as):
    page = page_as(Role.ANALYST, bypass_csp=True)
    opened(page, "?questionnaire=tv-spoilers-field-testing&by=age")
    assert_bars_have_their_heights(page)
    opened(page, "coding/codebook/")
    opened(page, "coding/next/")
    page.keyboard.press("1")
    page.keyboard.press("3")
    expect(page.locator("input[data-key='1']")).to_be_checked()
    page.keyboard.press("m")
    page.keyboard.type("13 s")
    expect(page.locator("#memo")).to_have_value("13 s")
    page.locator("h1").click()
    load_by_key(page, "s")
    expect(page.get_by_role("status")).to_contain_text("Saved.")

    load_by_click(opened(page, "coding/disagreements/").get_by_role("row").nth(1).get_by_role("link"))
    assert_accessible(page)
    page.get_by_label("We agree on the codes selected below").check()
    page.get_by_label("Reason").fill("One word was overlooked.")
    load_by_click(page.get_by_role("button", name="Record"))
    expect(page.get_by_role("status")).to_contain_text("Recorded.")

    load_by_click(opened(page, "coding/quotes/").get_by_role("row").nth(1).get_by_role("link"))
    assert_accessible(page)
    load_by_click(page.get_by_role("button", name="Release", exact=True))
    expect(page.get_by_role("status")).to_contain_text("The quote is released.")
    look_at_what_is_left(page)


def assert_bars_have_their_heights(page: Page) -> None:
    """Fail where the style of the page changes the height of a bar."""
    expect(page.locator("svg.histogram").first).to_be_visible()
    heights = page.locator(".histogram .bar").evaluate_all(
        "bars => bars.map(bar => [bar.getBoundingClientRect().height, Number(bar.getAttribute('height'))])"
    )
    assert [drawn for drawn, _ in heights] == pytest.approx([height for _, height in heights], abs=0.6)


def look_at_what_is_left(page: Page) -> None:
    """Check the pages of coding without decisions, and both views of a session."""
    for path in ("coding/", "coding/coders/", "coding/codebook/new/"):
        opened(page, path)
    load_by_click(opened(page, "sessions/").locator("main th a").first)
    assert_accessible(page)
    expect(page.get_by_role("region", name="Annotations")).to_be_visible()


def test_a_session_is_read_beside_its_answers(page_as):
    page = page_as(Role.SENIOR, bypass_csp=True)
    load_by_click(opened(page, "reviews/").get_by_role("link", name="unwanted-plot: session 1 of").first)
    assert_accessible(page)
    expect(page.get_by_role("region", name="Dialogue")).to_be_visible()
    page.get_by_role("group", name="Materialised in this session?").get_by_label("Yes").check()
    page.get_by_role("group", name="If so: severity").get_by_label("7").check()
    page.get_by_label("negative").check()
    page.get_by_label("Reason").fill("They had asked not to be told.")
    load_by_click(page.get_by_role("button", name="Record"))

    expect(page.get_by_role("status")).to_contain_text("Recorded.")
    expect(page.get_by_text("materialised").first).to_be_visible()
