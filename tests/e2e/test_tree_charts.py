"""Charts of measurement trees in a real browser: zoom by mouse and keyboard, and links to dialogues."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture
def trees(visit):
    page = visit("trees", address="#trees")
    page.messages = []
    page.on("console", lambda message: page.messages.append(message.text))
    page.on("pageerror", lambda error: page.messages.append(str(error)))
    return page


def test_a_click_on_a_cell_zooms_in_and_breadcrumbs_zoom_out(trees):
    chart = trees.locator(".tree-chart:visible")
    chart.get_by_role("button", name="over-refusing: 0.38").click()

    expect(chart.locator(".crumbs")).to_contain_text("Over-refusing")
    expect(chart.locator(".node-card .big")).to_have_text("0.38")
    expect(chart.locator(".node-card")).to_contain_text("95% interval 0.32 to 0.44")
    expect(chart.locator(".node-card")).to_contain_text("gap 0.84")

    chart.get_by_role("button", name="Zoom out").click()
    expect(chart.locator("[data-zoom-out]")).to_be_disabled()


def test_the_keyboard_reaches_every_row(trees):
    chart = trees.locator(".tree-chart:visible")
    chart.locator("g.cell").first.focus()
    for _ in range(2):
        trees.keyboard.press("ArrowDown")
    trees.keyboard.press("Enter")

    expect(chart.locator(".node-card h5")).to_have_text("over-refusing: model testing")


def test_the_chosen_node_opens_exactly_its_dialogues(trees):
    chart = trees.locator(".tree-chart:visible")
    chart.get_by_role("button", name="over-refusing: 0.38").click()
    chart.get_by_role("button", name="95 dialogues raise it").click()

    expect(trees.locator("#found")).to_have_text(re.compile("95 of 2,250 dialogues"))


def test_the_sunburst_shows_the_same_values_without_an_error(trees):
    chart = trees.locator(".tree-chart:visible")
    chart.get_by_role("button", name="Sunburst").click()

    expect(chart.locator(".sunburst svg")).to_contain_text("Over-refusing")
    expect(chart.locator(".sunburst svg")).to_contain_text("0.38")
    assert trees.messages == []


def test_one_application_is_shown_at_a_time(trees):
    trees.get_by_role("button", name="mistralinstruct", exact=True).click()

    expect(trees.locator(".tree-chart:visible")).to_have_count(1)
    expect(trees.locator(".tree-chart:visible h4")).to_have_text("mistralinstruct")
