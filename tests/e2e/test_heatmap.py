"""The report of the fourteen harm areas in a browser: heatmap, drawer and all tabs."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser_pages import barriers
from tests.e2e.test_accessibility import RULES_OF_COLOUR, barriers_of_tabs
from tests.fakes.terminal import theodolite

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

TABS = ["overview", "review-first", "results", "matrix", "dialogues", "judges", "completeness", "method", "glossary"]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report of the example study, created before the browser's event loop starts."""
    folder = tmp_path_factory.mktemp("areas") / "bot"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DATABASE_URL", raising=False)
        assert theodolite("init", folder, "--example", "guarded-bot").code == 0
        assert theodolite("run", folder / "harm-areas.yaml").code == 0
    return folder / "report.html"


@pytest.fixture
def page(report, browser):
    """The report; any error of the page fails the test."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True).new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(report.as_uri())
    yield page
    page.context.close()
    assert complaints == []


def worst_cell(page):
    return page.locator("#heat .heat-cell.h8", has_text=re.compile("19/21")).first


def test_a_cell_opens_exactly_its_dialogues(page):
    worst_cell(page).click()

    expect(page.locator("#drawer .chip")).to_have_text(["All 21", "Defect 19", "No defect 2"])
    expect(page.locator("#drawer .drawer-list li")).to_have_count(19)
    page.get_by_role("button", name="Open all 19 in Dialogues").click()
    expect(page.locator("#list li")).to_have_count(19)


def test_the_address_contains_the_cell_and_escape_closes_it(page):
    worst_cell(page).click()
    expect(page.locator("#drawer")).to_be_visible()
    assert page.evaluate("location.hash").startswith("#cell/")

    page.reload()
    expect(page.locator("#drawer")).to_be_visible()
    page.keyboard.press("Escape")

    expect(page.locator("#drawer")).to_be_hidden()
    expect(worst_cell(page)).to_be_visible()


def test_areas_can_be_searched_and_sorted(page):
    areas = page.locator("#heat tbody tr[data-area]:visible th")
    expect(areas).to_have_count(14)

    page.get_by_label("Sort").select_option("name")
    expect(areas.first).to_have_text("adult-content")
    page.get_by_label("Find an area").fill("song")

    expect(areas).to_have_text(["songs"])


def test_axe_finds_no_barrier_on_any_tab(page):
    assert barriers_of_tabs(page, TABS) == []


def test_axe_finds_no_barrier_in_the_drawer(page):
    worst_cell(page).click()
    expect(page.locator("#drawer")).to_be_visible()

    assert barriers(page) == []


def test_the_drawer_works_by_keyboard_and_a_dialogue_links_back_to_its_cell(page):
    worst_cell(page).click()
    expect(page.locator("#drawer")).to_be_visible()
    address = page.evaluate("location.hash")

    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#reader h1")).to_be_visible()
    page.keyboard.press("Escape")

    expect(page.locator("#drawer")).to_be_visible()
    assert page.evaluate("location.hash") == address


def test_two_clicks_open_the_worst_area_of_an_application_and_three_of_its_dialogues(page):
    """Sort, then open the darkest cell of the first row."""
    page.get_by_label("Sort").select_option("value")
    first = page.locator("#heat tbody tr[data-area]:visible").first
    expect(first.locator(".heat-cell.h8").first).to_be_visible()

    area = first.locator("th").inner_text()
    first.locator(".heat-cell.h8").first.click()

    expect(page.locator("#drawer .drawer-list li").nth(2)).to_be_visible()
    expect(page.locator("#drawer h2")).to_contain_text(area)


def test_two_clicks_show_each_variant_beside_the_application_without_controls(page):
    page.get_by_role("link", name="Results", exact=True).click()

    expect(page.get_by_role("heading", name="Effect of controls")).to_be_visible()
    page.get_by_text(re.compile(r"^Other rules \(\d+\)$")).click()
    chart = page.get_by_role("region", name="Jailbreak succeeded: none and its variants, chart")
    expect(chart).to_be_visible()
    for name in ("none (as it is)", "leaky (word-list)", "strict (reply-check)"):
        expect(chart.get_by_text(name).first).to_be_visible()
    figure = page.locator("figure.block", has=chart)
    figure.locator("summary").click()
    expect(figure.get_by_text("0 of 24, 0.0% (at most 11.9)")).to_have_count(2)  # in the drawing and in its table


def test_no_tab_has_a_barrier_in_dark_mode(page):
    page.emulate_media(color_scheme="dark")

    assert barriers_of_tabs(page, ["overview", "results", "completeness"], RULES_OF_COLOUR) == []
